"""Lesions on a background within a brain: the composition that every lesion generator shares.

A generator of this family draws its background and nothing else; slice, brain mask, labels and
lesions come from streams of the family, so they are the same on every background for one seed.

References
----------
Budding et al. 2021, *Evaluating saliency methods on artificial data with different background types*.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
import numpy as np
from numpy.typing import NDArray
from salgen.errors import SalgenError
from salgen.generators.generator import to_levels
from salgen.generators.interfaces import SCALES, Context, Edit, GeneratorPlugin, Rendered, Scale
from salgen.generators.lesions import lesion_shape
from salgen.generators.lesions.brains import BrainBank, brain_bank
from salgen.generators.lesions.volumes import open_brains
from salgen.generators.painted_base import check_edit
from salgen.parameters import param
from salgen.sources import Files
from salgen.types import Float64, Mask

CLASSES = {"none_vs_two": ("no_lesions", "lesions"), "one_vs_two": ("one_lesion", "two_lesions")}


@dataclass(frozen=True)
class LesionMaterial:
    """The brain slices, and for each the places where a lesion may be centred."""

    bank: BrainBank
    places: list[lesion_shape.Centres]


@dataclass(frozen=True)
class Lesions(GeneratorPlugin):
    """Dark lesions with soft edges on a background that is zero outside the brain.

    The ground truth is the lesions' whole support within the brain: every pixel that a paint
    factor other than 1 was multiplied into.
    """

    family: ClassVar[str] = "lesions"
    default_source: ClassVar[str] = "mni152"
    takes: ClassVar[str] = "PATH of T1-weighted brains, .nii or .nii.gz, skull-stripped or with masks beside them"
    valid_region: ClassVar[str | None] = "brain"
    authors_sum: ClassVar[bool] = True  # the authors add up losses on this background; else they multiply
    quick: ClassVar[Mapping[str, Any]] = {"image_size": (32, 32), "diameter": 4, "slices": 8}
    scales: ClassVar[Mapping[str, Scale]] = {
        **SCALES,
        "full": Scale({"train": 42_000, "val": 6_000, "test": 12_000}, {"image_size": (140, 192)}),
    }

    image_size: tuple[int, int] = param((64, 64), "height and width in pixels", low=1)
    bit_depth: int = param(8, "bits per pixel", choices=(8, 16))
    slices: int = param(512, "brain slices in the bank", low=1)
    field_of_view: tuple[float, float] = param((140.0, 192.0), "millimetres of brain that the image must hold", low=1.0)
    lesion_classes: str = param("none_vs_two", "what tells the classes apart", choices=tuple(CLASSES))
    lesions: int = param(2, "lesions in a positive image", low=1, high=64)
    diameter: int = param(10, "side of a lesion's square support, in pixels", low=2)
    depth: float = param(0.7, "share of intensity lost at a lesion's centre", low=0.001, high=1.0)
    window: str = param("hamming", "profile of a lesion along each axis", choices=lesion_shape.WINDOWS)
    region: str = param("top", "rows in which centres may lie", choices=lesion_shape.REGIONS)
    authors_exact: bool = param(
        False, "keep the authors' overlapping lesions, clipped windows and scaling by the finished image"
    )

    def __post_init__(self) -> None:
        if self.diameter > min(self.image_size):
            high, wide = self.image_size
            raise SalgenError(f"diameter = {self.diameter}: a lesion must fit into the image of {high}x{wide} pixels")
        if self.window == "hann" and self.diameter < 3:
            raise SalgenError(f"diameter = {self.diameter}: window=hann, which is zero at its ends, takes 3 or more")
        if self.lesion_classes == "one_vs_two" and self.lesions != 2:
            raise SalgenError(f"lesions = {self.lesions}: lesion_classes=one_vs_two takes 2")

    def draw_background(self, context: Context) -> dict[str, Any]:
        """The random choices of the background, as JSON values: by default the key of a stream of its name."""
        return {"field": context.stream(self.name.removesuffix("-lesions")).key()}

    def backgrounds(self, batch: Sequence[Mapping[str, Any]], bank: BrainBank) -> Float64:
        """A new float64 (N, H, W), non-negative and of any scale; what lies outside the brain is ignored."""
        raise NotImplementedError

    @property
    def exact(self) -> bool:
        """False under the authors' scaling by the finished image."""
        return not self.authors_exact

    @property
    def tasks(self) -> Mapping[str, tuple[str, ...]]:
        """The class names of the one task: presence, or number of lesions."""
        return {"label": CLASSES[self.lesion_classes]}

    def open_source(self, source: str | None) -> Files:
        """The MNI152 volume, or the user's folder of volumes."""
        return open_brains(source or self.default_source)

    def prepare(self, source: Files) -> LesionMaterial:
        """The bank of brain slices, with the places for lesions in each checked."""
        bank = brain_bank(source, self.image_size, self.field_of_view, self.slices)
        return LesionMaterial(bank, [self._places(brain, index) for index, brain in enumerate(bank.masks)])

    def draw(self, context: Context) -> dict[str, Any]:
        """Label, slice, lesion centres and the choices of the background."""
        label = context.balanced("label")
        count = self.lesions if label else self.lesions - 1 if self.lesion_classes == "one_vs_two" else 0
        return {"label": label, **self._draw_places(context, count), **self.draw_background(context)}

    def render(self, parameters: Mapping[str, Any], material: LesionMaterial, edit: Edit) -> Rendered:
        """One sample; ``omit`` takes ``"lesions"`` and single ones, ``change={"lesions": n}`` shows the first n."""
        background = self._scaled_backgrounds([parameters], material.bank)[0]
        painted = self._painted_lesions(parameters, edit)
        image = self._paint(background, to_levels(background, self.bit_depth), parameters, painted)
        return self._describe(image, parameters, material, painted)

    def render_pairs(
        self, batch: Sequence[Mapping[str, Any]], material: LesionMaterial, twins: bool
    ) -> list[tuple[Rendered, NDArray[Any] | None]]:
        """Samples and their twins' images from one background each."""
        pairs = []
        for background, parameters in zip(self._scaled_backgrounds(batch, material.bank), batch, strict=True):
            levels, painted = to_levels(background, self.bit_depth), self._painted_lesions(parameters, Edit())
            image = self._paint(background, levels, parameters, painted)
            edit = self.counterfactual(parameters) if twins else None
            sample, twin = self._describe(image, parameters, material, painted), None
            if edit is not None:
                twin = self._paint(background, levels, parameters, self._painted_lesions(parameters, edit))
            pairs.append((sample, twin))
        return pairs

    def counterfactual(self, parameters: Mapping[str, Any]) -> Edit | None:
        """No lesions where they are the class; the other class's count in one-versus-two."""
        if self.lesion_classes == "one_vs_two":
            return Edit(change={"lesions": self.lesions - 1 if parameters["label"] else self.lesions})
        return Edit(omit=("lesions",)) if parameters["label"] else None

    def redraw(self, parameters: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """The same slice and lesions on another background."""
        return {**parameters, **self.draw_background(context)}

    def move(self, parameters: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """As many lesions at other places of another slice, on another background."""
        return {**self.redraw(parameters, context), **self._draw_places(context, parameters["shown"])}

    def _draw_places(self, context: Context, count: int) -> dict[str, Any]:
        """The slice, and the centres of so many lesions; in one-versus-two always of all."""
        available = context.material.bank.indices(context.split)
        index = int(available[context.stream("slice").integers(len(available), 1)[0]])
        placed = count or self.lesion_classes == "one_vs_two"
        return {"slice": index, "shown": count, "centres": self._draw_centres(context, index) if placed else []}

    def features(self, parameters: Mapping[str, Any]) -> list[str]:
        """Each lesion that is shown."""
        return self._lesion_names(parameters["shown"])

    def region_names(self) -> list[str]:
        """Brain, the union of the lesions, its half-depth core, and each lesion."""
        return ["lesions", "core", *self._lesion_names(self.lesions), "brain"]

    def cluster(self, parameters: Mapping[str, Any], material: LesionMaterial) -> str:
        """The subject; the slice, where all are of one subject."""
        subjects = material.bank.subjects
        several = len(np.unique(subjects)) > 1
        return f"subject-{subjects[parameters['slice']]}" if several else f"slice-{parameters['slice']}"

    def factors(self, parameters: Mapping[str, Any]) -> dict[str, int | float | None]:
        """Slice number, lesions shown, and each centre's row and column."""
        places: dict[str, int | float | None] = {}
        for k in range(self.lesions):
            row, column = parameters["centres"][k] if k < len(parameters["centres"]) else (None, None)
            places |= {f"lesion_{k + 1}_row": row, f"lesion_{k + 1}_column": column}
        return {"slice": parameters["slice"], "lesions_shown": parameters["shown"], **places}

    def _lesion_names(self, count: int) -> list[str]:
        return [f"lesion_{k + 1}" for k in range(count)]

    def _painted_lesions(self, parameters: Mapping[str, Any], edit: Edit) -> list[int]:
        """The lesions that are painted, by number from 0."""
        most = max(len(parameters["centres"]), parameters["shown"])
        check_edit(edit, ("lesions", *self._lesion_names(self.lesions)), {"lesions": range(most + 1)})
        count = int((edit.change or {}).get("lesions", parameters["shown"]))
        return [] if "lesions" in edit.omit else [k for k in range(count) if f"lesion_{k + 1}" not in edit.omit]

    def _scaled_backgrounds(self, batch: Sequence[Mapping[str, Any]], bank: BrainBank) -> Float64:
        """Backgrounds that are zero outside the brain and at most 1 in it, the lesions unseen."""
        values = self.backgrounds(batch, bank)
        values *= bank.masks[[parameters["slice"] for parameters in batch]]
        values /= values.max(axis=(1, 2), keepdims=True)
        return values

    def _describe(
        self, image: NDArray[Any], parameters: Mapping[str, Any], material: LesionMaterial, painted: Sequence[int]
    ) -> Rendered:
        """The image with its labels and regions."""
        centres = parameters["centres"]
        brain = material.bank.masks[parameters["slice"]]
        profile = lesion_shape.lesion_profile(self.diameter, self.window)
        # In one-versus-two the place of the lesion that the twin adds or takes away is part of the cause.
        sites = range(len(centres)) if self.lesion_classes == "one_vs_two" else painted
        each = {k: lesion_shape.support_at(centres[k], profile > 0, self.image_size) & brain for k in sites}
        cores = [lesion_shape.support_at(centres[k], profile >= 0.5, self.image_size) & brain for k in sites]
        absent = np.zeros(self.image_size, dtype=bool)
        lesions, core = (np.logical_or.reduce([absent, *masks]) for masks in (each.values(), cores))
        regions = {"lesions": lesions, "core": core}
        regions |= {name: each.get(k, absent) for k, name in enumerate(self._lesion_names(self.lesions))}
        label = int(len(painted) >= (2 if self.lesion_classes == "one_vs_two" else 1))
        return Rendered(image, {"label": label}, {**regions, "brain": brain})

    def _paint(
        self, background: Float64, levels: NDArray[Any], parameters: Mapping[str, Any], painted: Sequence[int]
    ) -> NDArray[Any]:
        """Integer levels (H, W, 1) of a background with lesions; no filter runs afterwards.

        `levels` are the background's own; only the lesions' windows, which do not overlap, are rounded again.
        """
        centres = [parameters["centres"][k] for k in painted]
        loss = self.depth * lesion_shape.lesion_profile(self.diameter, self.window)
        if self.authors_exact:
            return self._paint_as_authors(background, loss, centres)
        image = levels.copy()
        for centre in centres:
            inside, part = lesion_shape.window_at(centre, self.diameter, self.image_size)
            image[inside] = to_levels(background[inside] * (1.0 - loss[part]), self.bit_depth)
        return image[..., np.newaxis]

    def _paint_as_authors(self, background: Float64, loss: Float64, centres: Sequence[Sequence[int]]) -> NDArray[Any]:
        """The authors' way: lesions may overlap, and the finished image is scaled by its own maximum.

        Where losses are summed, an overlap may take more than there is; levels stop at 0.
        """
        remaining = np.ones(self.image_size)
        for centre in centres:
            inside, part = lesion_shape.window_at(centre, self.diameter, self.image_size)
            before = remaining[inside]
            remaining[inside] = before - loss[part] if self.authors_sum else before * (1.0 - loss[part])
        values = np.maximum(background * remaining, 0.0)
        return to_levels(values / values.max(), self.bit_depth)[..., np.newaxis]

    def _draw_centres(self, context: Context, index: int) -> list[list[int]]:
        places = context.material.places[index]
        stream = context.stream("centres")
        free = np.arange(len(places))
        centres: list[list[int]] = []
        for number in range(self.lesions):
            if len(free) == 0:
                raise self._no_place(index)
            centres.append(places[free[stream.integers(len(free), 1)[0]]].tolist())
            if not self.authors_exact and len(centres) < self.lesions:
                free = free[lesion_shape.apart_from(places[free] if number else places, centres[-1], self.diameter)]
        return centres

    def _places(self, brain: Mask, index: int) -> lesion_shape.Centres:
        """Centres in the brain, in the region, with the whole window in the image and room for a second lesion."""
        exact = self.authors_exact
        pair = self.lesions > 1 and not exact
        places = lesion_shape.find_places(brain, self.diameter, self.region, whole=not exact, pair=pair)
        if len(places) == 0:
            raise self._no_place(index)
        return places

    def _no_place(self, index: int) -> SalgenError:
        height, width = self.image_size
        return SalgenError(
            f"no place for the lesions on background {index}: diameter {self.diameter}, {self.lesions} lesions, "
            f"region {self.region}, image {height}x{width}; make diameter or lesions smaller"
        )
