"""Pairs of patches: red and blue ones count for and against, and a green one beside them cancels them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
import numpy as np
from numpy.typing import NDArray
from salgen.generators.designed.designed_images import DesignedImages, enlarged
from salgen.generators.interfaces import Context, Edit, Rendered
from salgen.generators.painted_base import check_edit
from salgen.parameters import param
from salgen.seeding import Stream
from salgen.types import Float32, Float64, Mask

EVIDENCE = "evidence"
CLASSES = ("blue", "red")
SIGNS = (-1, 1)  # each class's sign


@dataclass(frozen=True)
class CancellingPatches(DesignedImages):
    """Red patches count for red and blue ones for blue, unless the patch to their right is green.

    The class is the colour with the larger sum. Made for the network `cancellation`. The logit of `red` is the sum of x
    (1 - c) over all pairs, that of `blue` its negative. x is the excess of red over blue in the left patch, and c the
    right patch's green, 0 or 1. The exact attribution gives a left patch x and a green one -x, so a cancelled pair has
    a sum of 0. It is the Shapley value in which a canceller joins after what it cancels (asymmetric Shapley value, Frye
    et al. 2020, doi:10.48550/arXiv.1910.06358). Green of left patches, and red and blue of right ones, are noise that
    the network does not read.

    The mask is the left patches that count for the class. The twin shows them in the other colour.
    """

    name: ClassVar[str] = "cancelling-patches"
    # the evidence for the class, that against it, and the pairs that are cancelled
    regions: ClassVar[tuple[str, ...]] = (EVIDENCE, "against", "cancelled")
    version: ClassVar[str] = "2"
    tasks: ClassVar[Mapping[str, tuple[str, ...]]] = {"label": CLASSES}
    quick: ClassVar[Mapping[str, Any]] = {"image_size": (16, 16), "patch": 4}
    attribution_kind: ClassVar[str] = (
        "asymmetric Shapley value against black, in which a canceller joins after the patch that it cancels"
    )

    image_size: tuple[int, int] = param((48, 48), "height and width in pixels", low=16)
    patch: int = param(6, "pixels of each side of a patch; a pair is two of them", low=1)

    def __post_init__(self) -> None:
        self._check_divides("two patches", 2 * self.patch)

    def draw(self, context: Context) -> dict[str, Any]:
        """The class, each pair's signed level (0 for none), which pairs are cancelled, and the key of the noise."""
        label, pairs = context.balanced("label"), self._pairs[0] * self._pairs[1]
        levels = 55 + context.stream("levels").integers(201, pairs)
        levels *= 2 * context.stream("signs").integers(2, pairs) - 1
        levels[context.stream("shown").uniform(pairs) < 0.3] = 0
        cancelled = (context.stream("cancelled").uniform(pairs) < 0.4) & (levels != 0)
        total = int(levels[~cancelled].sum())
        if total == 0:  # neither class: the first patch decides, at another level of the other sign, or 255 for none
            cancelled[0], levels[0] = False, levels[0] - 300 * np.sign(levels[0]) or 255
            total = int(levels[~cancelled].sum())
        if total * SIGNS[label] < 0:
            levels = -levels
        noise = context.stream("noise").key()
        return {"label": label, "levels": levels.tolist(), "cancelled": cancelled.astype(int).tolist(), "noise": noise}

    def redraw(self, parameters: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """The same patches with other noise in the channels that do not count."""
        return {**parameters, "noise": context.stream("noise").key()}

    def counterfactual(self, parameters: Mapping[str, Any]) -> Edit:
        """The evidence in the colour of the other class."""
        return Edit(change={EVIDENCE: CLASSES[1 - parameters["label"]]})

    def factors(self, parameters: Mapping[str, Any]) -> dict[str, int | float | None]:
        """The number of cancelled pairs, and the sum that counts."""
        levels, cancelled = self._values(parameters)
        return {"cancelled": int(cancelled.sum()), "sum": float((levels * ~cancelled).sum() / 255.0)}

    def attribution(self, parameters: Mapping[str, Any]) -> Float32:
        """Float32 (2, rows, columns): for each class the value of each patch."""
        levels, cancelled = self._values(parameters)
        values = levels / 255.0
        patches = np.stack([values, -values * cancelled], axis=2).reshape(values.shape[0], -1)
        return np.asarray([sign * patches for sign in SIGNS], dtype=np.float32)

    def scene(self, parameters: Mapping[str, Any], material: Any) -> Float64:
        """All patches but the evidence, with noise in the channels that do not count."""
        levels, cancelled = self._values(parameters)
        noise = Stream.from_key(parameters["noise"], "noise").integers(256, 6 * levels.size)
        left, right = noise.reshape(2, *levels.shape, 3)
        left[..., 2] = left[..., 0]  # grey but for green: no excess
        shown = (levels != 0) & ~self._evidence(parameters)
        left[shown] = np.stack([np.maximum(levels, 0), left[..., 1], np.maximum(-levels, 0)], axis=-1)[shown]
        right[..., 1] = 255 * cancelled
        patches = np.stack([left, right], axis=2).reshape(levels.shape[0], -1, 3)
        return np.asarray(enlarged(patches, self.patch) / 255.0)

    def paint(self, canvas: Float64, parameters: Mapping[str, Any], material: Any, edit: Edit) -> None:
        """The evidence; ``omit=("evidence",)`` leaves it out, ``change={"evidence": "red"}`` or ``"blue"``."""
        check_edit(edit, (EVIDENCE,), {EVIDENCE: CLASSES})
        if EVIDENCE in edit.omit:
            return
        levels, _ = self._values(parameters)
        signed = abs(levels) * SIGNS[self._label(parameters, edit)]
        where = self._pixels(self._evidence(parameters))
        excess = enlarged(np.repeat(signed / 255.0, 2, axis=1), self.patch)
        canvas[where, 0], canvas[where, 2] = np.maximum(excess, 0.0)[where], np.maximum(-excess, 0.0)[where]

    def describe(self, image: NDArray[Any], parameters: Mapping[str, Any], material: Any, edit: Edit) -> Rendered:
        """The image with its class and regions."""
        levels, cancelled = self._values(parameters)
        evidence, counts = self._evidence(parameters), (levels != 0) & ~cancelled
        pairs = np.repeat(cancelled, 2, axis=1)
        regions = {
            EVIDENCE: self._pixels(evidence & (EVIDENCE not in edit.omit)),
            "against": self._pixels(counts & ~evidence),
            "cancelled": enlarged(pairs, self.patch),
        }
        return Rendered(image, {"label": self._label(parameters, edit)}, regions)

    @property
    def _pairs(self) -> tuple[int, int]:
        """Rows and columns of pairs."""
        height, width = self.image_size
        return height // self.patch, width // (2 * self.patch)

    def _values(self, parameters: Mapping[str, Any]) -> tuple[NDArray[np.int64], Mask]:
        """The signed levels of pairs, and which are cancelled, (rows, columns)."""
        levels, cancelled = (np.array(parameters[key]).reshape(self._pairs) for key in ("levels", "cancelled"))
        return levels, cancelled.astype(bool)

    def _label(self, parameters: Mapping[str, Any], edit: Edit) -> int:
        return CLASSES.index((edit.change or {}).get(EVIDENCE, CLASSES[parameters["label"]]))

    def _evidence(self, parameters: Mapping[str, Any]) -> Mask:
        """The pairs that count for the class, bool (rows, columns)."""
        levels, cancelled = self._values(parameters)
        return np.asarray((levels * SIGNS[parameters["label"]] > 0) & ~cancelled)

    def _pixels(self, pairs: Mask) -> Mask:
        """The left patches of some pairs, bool (H, W)."""
        return enlarged(np.stack([pairs, np.zeros_like(pairs)], axis=2).reshape(pairs.shape[0], -1), self.patch)
