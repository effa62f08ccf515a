"""A grid of slots with and without a disc: the class is a logical function of the discs."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar
import numpy as np
from numpy.typing import NDArray
from salgen.generators.designed.designed_images import DesignedImages
from salgen.generators.interfaces import Context, Edit, Rendered
from salgen.generators.painted_base import check_edit
from salgen.parameters import param
from salgen.seeding import Stream
from salgen.types import Float32, Float64, Mask

PRESENT = "present"
FUNCTIONS = ("and", "or", "xor", "mod", "pairs")


@dataclass(frozen=True)
class LogicSlots(DesignedImages):
    """Slots that hold a disc or noise; the class is AND, OR, XOR, the number modulo M, or weighted pairs of the discs.

    Made for the network `slot-logic`. Its logits for m discs are 1 for the value of the function and 0 for the others.
    Each disc has the same share of what all of them change, (f(m) - f(0)) / m, its Shapley value against the noise.
    Slots without a disc have 0. With ``function=pairs`` each disc k adds w_k to the logit of `1`, and each pair of
    discs w_kl. The logit of `0` is 1/2 minus that. The Shapley value of a disc is w_k + 1/2 sum over discs l of w_kl.
    It is stated for each slot, the sum of its pixels.

    The mask is all discs. With OR any single disc suffices, so each is an acceptable mask too. `pivotal` is the
    necessary slots: those that change the class if a disc is put there, or taken away. XOR separates the two: every
    slot is pivotal, but for even m no disc has a share. The twin has no disc, or one fewer where that would leave the
    class as it is. There is none where one fewer does not change it either.
    """

    name: ClassVar[str] = "logic-slots"
    # all discs, and the slots that change the class by themselves
    regions: ClassVar[tuple[str, ...]] = (PRESENT, "pivotal")
    quick: ClassVar[Mapping[str, Any]] = {"image_size": (16, 16)}
    attribution_kind: ClassVar[str] = "Shapley value of each slot's disc against the pattern that is there otherwise"

    image_size: tuple[int, int] = param((48, 48), "height and width in pixels", low=16)
    function: str = param("or", "of the number of discs", choices=FUNCTIONS)
    grid: int = param(2, "slots of each side of the image", low=2, high=4)
    modulus: int = param(3, "M of the function mod: the class is the number of discs modulo M", low=2, high=5)

    def __post_init__(self) -> None:
        self._check_divides("grid", self.grid)

    @property
    def slots(self) -> int:
        """Number of slots."""
        return self.grid**2

    @property
    def slot_size(self) -> tuple[int, int]:
        """Height and width of a slot in pixels."""
        height, width = self.image_size
        return height // self.grid, width // self.grid

    @property
    def tasks(self) -> Mapping[str, tuple[str, ...]]:
        """The values of the function."""
        count = self.modulus if self.function == "mod" else 2
        return {"label": tuple(map(str, range(count)))}

    @cached_property
    def weights(self) -> tuple[Float64, Float64]:
        """Of ``function=pairs``: w (slots,), and w_kl (slots, slots), symmetric with a diagonal of zeros."""
        stream = Stream(self.family, "weights", self.slots)
        single = np.asarray(0.5 * stream.integers(5, self.slots) - 0.5, dtype=np.float64)
        square = 0.5 * stream.integers(5, self.slots**2).reshape(self.slots, self.slots) - 1.0
        pairs = np.asarray(np.triu(square, 1), dtype=np.float64)
        return single, pairs + pairs.T

    def logits(self, discs: Collection[int]) -> Float64:
        """The logits of an image with discs in these slots, float64 (K,)."""
        count = len(discs)
        if self.function == "pairs":
            single, pairs = self.weights
            chosen = sorted(discs)
            total = float(single[chosen].sum() + pairs[np.ix_(chosen, chosen)].sum() / 2)
            return np.array([0.5 - total, total])
        values = {"and": int(count == self.slots), "or": int(count > 0), "xor": count % 2, "mod": count % self.modulus}
        return np.asarray(np.eye(len(self.tasks["label"]))[values[self.function]])

    def class_of(self, discs: Collection[int]) -> int:
        """The class of an image with discs in these slots."""
        return int(self.logits(discs).argmax())

    def disc(self) -> Mask:
        """The disc within its slot, bool of `slot_size`: it is white, and the square around it is black."""
        rows, columns = ((np.arange(extent) + 0.5) / extent * 2.0 - 1.0 for extent in self.slot_size)
        return np.asarray(rows[:, np.newaxis] ** 2 + columns**2 < 0.5**2)

    def support(self) -> Mask:
        """The pixels of a slot that the network reads, bool of `slot_size`: the square around the disc."""
        rows, columns = ((np.arange(extent) + 0.5) / extent * 2.0 - 1.0 for extent in self.slot_size)
        return np.asarray((abs(rows[:, np.newaxis]) < 0.75) & (abs(columns) < 0.75))

    def draw(self, context: Context) -> dict[str, Any]:
        """The class, slots of discs that have it, and the key of the noise."""
        label = context.balanced("label", len(self.tasks["label"]))
        counts, orders = context.stream("counts"), context.stream("slots")
        while True:
            count = int(counts.integers(self.slots + 1, 1)[0])
            discs = sorted(orders.permutation(self.slots)[:count].tolist())
            if self.class_of(discs) == label:
                return {"label": label, "discs": discs, "noise": context.stream("noise").key()}

    def redraw(self, parameters: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """The same discs in other noise."""
        return {**parameters, "noise": context.stream("noise").key()}

    def features(self, parameters: Mapping[str, Any]) -> list[str]:
        """All discs together."""
        return [PRESENT] if parameters["discs"] else []

    def counterfactual(self, parameters: Mapping[str, Any]) -> Edit | None:
        """No disc, or else one fewer, if either changes the class."""
        discs, label = parameters["discs"], parameters["label"]
        if self.class_of([]) != label:
            return Edit(omit=(PRESENT,))
        return Edit(change={"discs": "fewer"}) if discs and self.class_of(discs[1:]) != label else None

    def factors(self, parameters: Mapping[str, Any]) -> dict[str, int | float | None]:
        """The number of discs."""
        return {"discs": len(parameters["discs"])}

    def attribution(self, parameters: Mapping[str, Any]) -> Float32:
        """Float32 (K, grid, grid): for each class the share of each slot in its logit, 1 or 0."""
        discs = parameters["discs"]
        shares = np.zeros((len(self.tasks["label"]), self.slots))
        if self.function == "pairs":
            single, pairs = self.weights
            shares[1, discs] = single[discs] + 0.5 * pairs[np.ix_(discs, discs)].sum(axis=1)
            shares[0] = -shares[1]
        elif discs:
            shares[:, discs] = (self.logits(discs) - self.logits([]))[:, np.newaxis] / len(discs)
        return shares.reshape(-1, self.grid, self.grid).astype(np.float32)

    def scene(self, parameters: Mapping[str, Any], material: Any) -> Float64:
        """Grey noise all over the image."""
        height, width = self.image_size
        levels = Stream.from_key(parameters["noise"], "noise").integers(256, height * width).reshape(height, width)
        return np.repeat(levels[:, :, np.newaxis] / 255.0, 3, axis=2)

    def paint(self, canvas: Float64, parameters: Mapping[str, Any], material: Any, edit: Edit) -> None:
        """The discs; ``omit=("present",)`` leaves all out, ``change={"discs": "fewer"}`` the first."""
        check_edit(edit, (PRESENT,), {"discs": ("fewer",)})
        disc = self.disc()[:, :, np.newaxis].astype(np.float64)
        for slot in self._shown(parameters, edit):
            rows, columns = self._place(slot)
            np.copyto(canvas[rows, columns], disc, where=self.support()[:, :, np.newaxis])

    def describe(self, image: NDArray[Any], parameters: Mapping[str, Any], material: Any, edit: Edit) -> Rendered:
        """The image with its class, the discs, and with OR each of several as an acceptable mask."""
        shown = self._shown(parameters, edit)
        label = self.class_of(shown)
        pivotal = [slot for slot in range(self.slots) if self.class_of({*shown} ^ {slot}) != label]
        regions = {PRESENT: self._mask(shown), "pivotal": self._mask(pivotal)}
        suffices = self.function == "or" and len(shown) > 1
        alternatives = tuple(self._mask([slot]) for slot in shown) if suffices else ()
        return Rendered(image, {"label": label}, regions, alternatives)

    def _shown(self, parameters: Mapping[str, Any], edit: Edit) -> list[int]:
        if PRESENT in edit.omit:
            return []
        discs: list[int] = parameters["discs"]
        return discs[1:] if edit.change else discs

    def _place(self, slot: int) -> tuple[slice, slice]:
        (row, column), (height, width) = divmod(slot, self.grid), self.slot_size
        return slice(row * height, (row + 1) * height), slice(column * width, (column + 1) * width)

    def _mask(self, slots: list[int]) -> Mask:
        mask = np.zeros(self.image_size, dtype=bool)
        for slot in slots:
            mask[self._place(slot)] = self.support()
        return mask
