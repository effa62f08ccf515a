"""Facts about a network, found by running one image: once per network and size of image."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Generic, TypeVar
from weakref import WeakKeyDictionary

from torch import Tensor, nn

from salgen.errors import SalgenError

if TYPE_CHECKING:
    from salgen.evaluation.models.inspection.model_view import ModelView

T = TypeVar("T")

_CALLER = "<caller>"  # stands for the name of the method that asks, with which its errors begin


class NetworkCache(Generic[T]):
    """Results of ``learn(name, view, image)`` per network, kept for as long as the network lives.

    A SalgenError is kept like a result, and raised again under the name of the method that asks.

    Parameters
    ----------
    learn
        Runs one image (1, C, h, w); its result must not reference the network. `name` is used in
        its errors only.
    """

    def __init__(self, learn: Callable[[str, ModelView, Tensor], T]) -> None:
        self._learn = learn
        self._results: WeakKeyDictionary[nn.Module, dict[Hashable, T | _Refusal]] = WeakKeyDictionary()

    def of(self, name: str, view: ModelView, image: Tensor) -> T:
        """The fact for images like this one.

        Raises
        ------
        SalgenError
            If `learn` does.
        """
        results = self._results.setdefault(view.network, {})
        key = (tuple(image.shape[1:]), image.dtype, image.device)
        if key not in results:
            try:
                results[key] = self._learn(_CALLER, view, image[:1])
            except SalgenError as error:
                results[key] = _Refusal(error)  # its text alone: the exception would hold on to the network
        result = results[key]
        if isinstance(result, _Refusal):
            raise SalgenError(result.replace(_CALLER, name))
        return result


class _Refusal(str):
    """The message of an error."""
