"""Facts about a network that one image tells: learnt once per network and size of image."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Generic, TypeVar
from weakref import WeakKeyDictionary

from torch import Tensor, nn

from salgen.errors import SalgenError

if TYPE_CHECKING:
    from salgen.evaluation.models.inspection.model_view import ModelView

T = TypeVar("T")

_WHO = "<who asks>"  # stands for the name of whoever asks, which an error begins with


class NetworkCache(Generic[T]):
    """What ``learn(name, view, image)`` finds for a network, kept for as long as the network lives.

    A refusal is kept like an answer, and raised again in the name of whoever asks.

    Parameters
    ----------
    learn
        Runs one image (1, C, h, w); what it gives must not hold on to the network. `name` is for its
        errors alone.
    """

    def __init__(self, learn: Callable[[str, ModelView, Tensor], T]) -> None:
        self._learn = learn
        self._known: WeakKeyDictionary[nn.Module, dict[Hashable, T | _Refusal]] = WeakKeyDictionary()

    def of(self, name: str, view: ModelView, image: Tensor) -> T:
        """The fact for images like this one.

        Raises
        ------
        SalgenError
            If `learn` does.
        """
        known = self._known.setdefault(view.network, {})
        key = (tuple(image.shape[1:]), image.dtype, image.device)
        if key not in known:
            known[key] = self._found(view, image[:1])
        found = known[key]
        if isinstance(found, _Refusal):
            raise SalgenError(found.text.replace(_WHO, name))
        return found

    def _found(self, view: ModelView, image: Tensor) -> T | _Refusal:
        try:
            return self._learn(_WHO, view, image)
        except SalgenError as error:
            return _Refusal(str(error))


class _Refusal:
    def __init__(self, text: str) -> None:
        self.text = text
