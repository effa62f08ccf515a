"""Images of a data set with a square whose colour says the class, as surely as it is told to."""

import colorsys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self
import numpy as np
from numpy.typing import NDArray
from salgen.datasets.importers.derived.derived import Derived, SalgenData
from salgen.errors import SalgenError
from salgen.generators.generator import to_levels
from salgen.generators.interfaces import Context, Edit, Rendered, Scale
from salgen.generators.painted_base import check_edit
from salgen.parameters import param

ARTEFACT = "artefact"


@dataclass(frozen=True)
class PlantedArtefacts(Derived):
    """Images of another data set with a coloured square that goes with the class, by chance or always.

    Each image of the source is there once. It keeps its label with probability `keep`, else it gets one of the other
    classes, all alike. The artefact is a square anywhere in the image. Of K classes it has the label's colour with
    probability (1 + (K - 1) strength) / K, else another class's, all alike. The colours are hues with equal distances,
    from yellow; in grey images they are levels from black to white. So accuracy says what a model relies on (Zhou et
    al. 2022). With ``keep=1`` the artefact is a spurious correlation, which a model may use beside the cause.

    The mask is the artefact, the twin shows that of another class at the same place. On a redraw the same artefact lies
    on another image of the split, of each class of the source equally often. A model that ignores the background thus
    ignores the rest of the image. A source whose images show several classes is refused. Image size, bit depth and
    classes are the source's.

    References
    ----------
    Zhou et al. 2022, *Do feature attribution methods correctly attribute features?*, doi:10.1609/aaai.v36i9.21196.
    """

    name: ClassVar[str] = "planted-artefacts"
    regions: ClassVar[tuple[str, ...]] = (ARTEFACT,)  # the artefact
    spurious: ClassVar[str] = "strength"
    scales: ClassVar[Mapping[str, Scale]] = {
        "demo": Scale({"train": 2000, "val": 200, "test": 200}, {}),
        "small": Scale({}, {}),
        "full": Scale({}, {}),
    }
    quick: ClassVar[Mapping[str, Any]] = {"side": 4}

    keep: float = param(0.5, "r, the probability that an image keeps its label", low=0.0, high=1.0)
    strength: float = param(1.0, "0: the artefact goes with the label by chance; 1: always", low=0.0, high=1.0)
    side: int = param(8, "pixels of each side of the artefact", low=1)

    def __post_init__(self) -> None:
        if any(self.image_size) and self.side >= min(self.image_size):
            height, width = self.image_size
            raise SalgenError(f"{self.name}: side = {self.side}: must be less than the image, {height}x{width}")

    @property
    def tasks(self) -> Mapping[str, tuple[str, ...]]:
        """The classes of the source, as labels were drawn."""
        return {"label": self.classes}

    @property
    def agreement(self) -> float:
        """The probability that the artefact is the label's."""
        return (1 + (len(self.classes) - 1) * self.strength) / len(self.classes)

    @property
    def bound(self) -> float:
        """The largest accuracy, in expectation, of a model that does not use the artefact.

        Given the source's class, any answer is the label with probability r or (1 - r) / (K - 1). Nothing else in the
        image says more about the label. With r = 1 / K each answer is the label with probability 1 / K.
        """
        return max(self.keep, (1 - self.keep) / (len(self.classes) - 1))

    def guarantee(self) -> str:
        """What accuracy proves, for the card."""
        count = len(self.classes)
        least = "exactly" if abs(self.keep - 1 / count) < 1e-9 else "at most"
        other = "1 - r" if count == 2 else f"(1 - r) / {count - 1}"
        return (
            "- On images that it was not trained on, a model that does not use the artefact has an expected accuracy\n"
            f"  of {least} **{self.bound:.4g}**, max(r, {other}) with r = {self.keep:.4g}: whatever it answers, given\n"
            f"  the source's class, is the label with probability r or {other}. More than that proves that a model\n"
            "  relies on the artefact.\n"
            f"- A model that reads the artefact alone has an expected accuracy of {self.agreement:.4g},\n"
            f"  (1 + {count - 1} s) / {count} with strength s = {self.strength:.4g}. The bound is the same at every\n"
            "  strength: where this is not above it, accuracy proves nothing."
        )

    def fitted(self, source: SalgenData) -> Self:
        """With the source's image size, bit depth and classes."""
        spec = source.dataset.spec
        fitted = replace(self, image_size=spec.image_size, bit_depth=spec.bit_depth, classes=source.classes)
        for name in ("image_size", "bit_depth", "classes"):
            given, found = getattr(self, name), getattr(fitted, name)
            if given not in (getattr(type(self), name), found):
                raise SalgenError(f"{self.name}: {name} = {given}: it is the source's, {found}; leave it out")
        count = len(source.classes)
        if len(np.unique(fitted.colours(source.dataset.manifest.channels), axis=0)) < max(count, 2):
            raise SalgenError(f"{self.name}: {count} classes of the source: it takes 2 to as many as there are colours")
        return fitted

    def colours(self, channels: int) -> NDArray[Any]:
        """The artefacts' levels, uint8 or uint16 (K, channels): hues, or shades of grey, with equal distances."""
        count = len(self.classes)
        shades = np.arange(count) / max(count - 1, 1)
        hues = [colorsys.hsv_to_rgb((1 / 6 + label / count) % 1, 1.0, 1.0) for label in range(count)]
        return to_levels(shades[:, np.newaxis] if channels == 1 else np.array(hues), self.bit_depth)

    def draw(self, context: Context) -> dict[str, Any]:
        """The image, its label, the artefact and its place, and the twin's one; labels are the same at any strength."""
        base = int(context.material.load(context.split).labels[context.index])
        kept, agrees = context.stream("keep").uniform(1)[0], context.stream("agree").uniform(1)[0]
        label = base if kept < self.keep else self._another(base, context, "label")
        artefact = label if agrees < self.agreement else self._another(label, context, ARTEFACT)
        return {
            "split": context.split,
            "item": context.index,
            "source_label": base,
            "label": label,
            "artefact": artefact,
            "twin": self._another(artefact, context, "twin"),
            "place": self._place(context),
        }

    def redraw(self, parameters: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """The same artefact on another image of the split, of each class of the source equally often."""
        by_class = context.material.load(context.split).by_class
        base = sorted(by_class)[context.balanced("source", len(by_class))]
        items = by_class[base][by_class[base] != parameters["item"]]
        if not len(items):
            items = by_class[base]
        chosen = int(items[context.stream("item").integers(len(items), 1)[0]])
        return {**parameters, "item": chosen, "source_label": base}

    def move(self, parameters: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """The same artefact elsewhere, on another image."""
        return {**self.redraw(parameters, context), "place": self._place(context)}

    def counterfactual(self, parameters: Mapping[str, Any]) -> Edit:
        """The artefact of another class."""
        return Edit(change={ARTEFACT: self.classes[parameters["twin"]]})

    def render(self, parameters: Mapping[str, Any], material: SalgenData, edit: Edit) -> Rendered:
        """The image with its artefact, without it, ``omit=("artefact",)``, or with ``change={"artefact": CLASS}``."""
        check_edit(edit, (ARTEFACT,), {ARTEFACT: self.classes})
        image = material.load(parameters["split"]).levels[parameters["item"]].copy()
        mask = np.zeros(self.image_size, dtype=bool)
        if ARTEFACT not in edit.omit:
            row, column = parameters["place"]
            mask[row : row + self.side, column : column + self.side] = True
            shown = (edit.change or {}).get(ARTEFACT, self.classes[parameters[ARTEFACT]])
            image[mask] = self.colours(image.shape[2])[self.classes.index(shown)]
        return Rendered(image, self.labels(parameters), {ARTEFACT: mask})

    def labels(self, parameters: Mapping[str, Any]) -> dict[str, int]:
        """The label that was drawn."""
        return {"label": parameters["label"]}

    def factors(self, parameters: Mapping[str, Any]) -> dict[str, int | float | None]:
        """Whether the label is the source's, and whether the artefact is the label's."""
        label = parameters["label"]
        return {"kept": int(parameters["source_label"] == label), "agrees": int(parameters[ARTEFACT] == label)}

    def cluster(self, parameters: Mapping[str, Any], material: SalgenData) -> str:
        """That of the source's image."""
        return material.load(parameters["split"]).clusters[int(parameters["item"])]

    def _another(self, label: int, context: Context, purpose: str) -> int:
        """A class but this one, all alike."""
        further = 1 + int(context.stream(f"another {purpose}").integers(len(self.classes) - 1, 1)[0])
        return (label + further) % len(self.classes)

    def _place(self, context: Context) -> list[int]:
        """The top left corner of the artefact, drawn evenly."""
        places = context.stream("place")
        return [int(places.integers(extent - self.side + 1, 1)[0]) for extent in self.image_size]
