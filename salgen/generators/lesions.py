"""Lesions on a background within a brain: the composition that every lesion generator shares.

A generator of this family draws its background and nothing else; slice, brain mask, labels and
lesions come from streams of the family, so they are the same on every background for one seed.

References
----------
Budding et al. 2021, *Evaluating saliency methods on artificial data with different background types*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from salgen.errors import SalgenError
from salgen.generators.brains import BrainBank, brain_bank, open_brains
from salgen.generators.generator import Context, Edit, Rendered, Scale, to_levels
from salgen.parameters import param
from salgen.sources import Source
from salgen.types import Float64, Mask

DEMO_SPLITS = {"train": 2000, "val": 200, "test": 200}
SMALL_SPLITS = {"train": 2000, "val": 400, "test": 400}
FULL_SPLITS = {"train": 42_000, "val": 6_000, "test": 12_000}

Centres = NDArray[np.int64]


@dataclass(frozen=True)
class LesionMaterial:
    """The brain slices, and for each the places where a lesion may be centred."""

    bank: BrainBank
    places: dict[int, Centres] = field(default_factory=dict)


@dataclass(frozen=True)
class Lesions:
    """Dark lesions with soft edges on a background that is zero outside the brain.

    The ground truth is the lesions' whole support within the brain: every pixel that a paint
    factor other than 1 was multiplied into.
    """

    family: ClassVar[str] = "lesions"
    default_source: ClassVar[str] = "mni152"
    valid_region: ClassVar[str | None] = "brain"
    tasks: ClassVar[Mapping[str, tuple[str, ...]]] = {"label": ("no_lesions", "lesions")}
    quick: ClassVar[Mapping[str, Any]] = {"image_size": (32, 32), "diameter": 4, "slices": 8}
    scales: ClassVar[Mapping[str, Scale]] = {
        "demo": Scale(DEMO_SPLITS, {}),
        "small": Scale(SMALL_SPLITS, {}),
        "full": Scale(FULL_SPLITS, {"image_size": (140, 192)}),
    }

    image_size: tuple[int, int] = param((64, 64), "height and width in pixels", low=1)
    bit_depth: int = param(8, "bits per pixel", choices=(8, 16))
    slices: int = param(512, "brain slices in the bank", low=1)
    field_of_view: tuple[float, float] = param((140.0, 192.0), "millimetres of brain that the image must hold", low=1.0)
    lesion_classes: str = param("none_vs_two", "what tells the classes apart", choices=("none_vs_two", "one_vs_two"))
    lesions: int = param(2, "lesions in a positive image", low=1, high=64)
    diameter: int = param(10, "side of a lesion's square support, in pixels", low=2)
    depth: float = param(0.7, "share of intensity lost at a lesion's centre", low=0.001, high=1.0)
    window: str = param("hamming", "profile of a lesion along each axis", choices=("hamming", "hann", "flat"))
    region: str = param("top", "rows in which centres may lie", choices=("top", "bottom", "anywhere"))
    authors_exact: bool = param(
        False, "keep the authors' sum of overlapping lesions, clipped windows and scaling by the finished image"
    )

    def __post_init__(self) -> None:
        if self.diameter > min(self.image_size):
            raise SalgenError(
                f"diameter = {self.diameter}: a lesion must fit into the image of "
                f"{self.image_size[0]}x{self.image_size[1]} pixels"
            )
        if self.lesion_classes == "one_vs_two" and self.lesions != 2:
            raise SalgenError(f"lesions = {self.lesions}: lesion_classes=one_vs_two takes 2")

    # What a background adds -------------------------------------------------------------------

    def draw_background(self, context: Context) -> dict[str, Any]:
        """The random choices of the background, as JSON values."""
        raise NotImplementedError

    def backgrounds(self, batch: Sequence[Mapping[str, Any]], bank: BrainBank) -> Float64:
        """float64 (N, H, W), non-negative; what lies outside the brain is ignored."""
        raise NotImplementedError

    # The plug-in --------------------------------------------------------------------------------

    def open_source(self, given: str | None) -> Source:
        """The MNI152 volume, or the user's folder of volumes."""
        return open_brains(given or self.default_source)

    def prepare(self, source: Source) -> LesionMaterial:
        """The bank of brain slices, with the places for lesions in each checked."""
        material = LesionMaterial(brain_bank(source, self.image_size, self.field_of_view, self.slices))
        for index in range(len(material.bank.masks)):
            self._places(material, index)
        return material

    def draw(self, context: Context) -> dict[str, Any]:
        """Label, slice, lesion centres and what the background adds."""
        label = context.balanced("label")
        available = context.material.bank.indices(context.split)
        index = int(available[context.stream("slice").integers(len(available), 1)[0]])
        shown = self.lesions if label else self.lesions - 1 if self.lesion_classes == "one_vs_two" else 0
        centres = self._draw_centres(context, index) if shown or self.lesion_classes == "one_vs_two" else []
        return {"label": label, "slice": index, "shown": shown, "centres": centres, **self.draw_background(context)}

    def render(self, parameters: Mapping[str, Any], material: LesionMaterial, edit: Edit) -> Rendered:
        """One sample; ``omit=("lesions",)`` leaves all lesions out, ``change={"lesions": n}`` shows n of them."""
        background = self._scaled_backgrounds([parameters], material.bank)[0]
        return self._compose(background, parameters, material, self._shown(parameters, edit))

    def render_pairs(
        self, batch: Sequence[Mapping[str, Any]], material: LesionMaterial
    ) -> list[tuple[Rendered, NDArray[Any] | None]]:
        """Samples and their twins' images from one background each."""
        backgrounds = self._scaled_backgrounds(batch, material.bank)
        return [
            self._pair(background, parameters, material)
            for background, parameters in zip(backgrounds, batch, strict=True)
        ]

    def counterfactual(self, parameters: Mapping[str, Any]) -> Edit | None:
        """No lesions where they are the class; the other class's count in one-versus-two."""
        if self.lesion_classes == "one_vs_two":
            return Edit(change={"lesions": self.lesions - 1 if parameters["label"] else self.lesions})
        return Edit(omit=("lesions",)) if parameters["label"] else None

    def target(self, task: str) -> str:
        """The union of the lesions."""
        return "lesions"

    def region_names(self) -> list[str]:
        """Brain, the union of the lesions, its half-depth core, and each lesion."""
        return ["lesions", "core", *(f"lesion_{k + 1}" for k in range(self.lesions)), "brain"]

    def factors(self, parameters: Mapping[str, Any]) -> dict[str, int | float | None]:
        """Slice number, lesions shown, and each centre's row and column."""
        places: dict[str, int | float | None] = {}
        for k in range(self.lesions):
            row, column = parameters["centres"][k] if k < len(parameters["centres"]) else (None, None)
            places |= {f"lesion_{k + 1}_row": row, f"lesion_{k + 1}_column": column}
        return {"slice": parameters["slice"], "lesions_shown": parameters["shown"], **places}

    # Lesions --------------------------------------------------------------------------------------

    def _shown(self, parameters: Mapping[str, Any], edit: Edit) -> int:
        unknown = (set(edit.omit) | set(edit.change or {})) - {"lesions"}
        if unknown:
            raise SalgenError(f"{sorted(unknown)[0]!r} is not a feature that can be edited here; it is 'lesions'")
        if "lesions" in edit.omit:
            return 0
        return int((edit.change or {}).get("lesions", parameters["shown"]))

    def _pair(
        self, background: Float64, parameters: Mapping[str, Any], material: LesionMaterial
    ) -> tuple[Rendered, NDArray[Any] | None]:
        sample = self._compose(background, parameters, material, parameters["shown"])
        edit = self.counterfactual(parameters)
        if edit is None:
            return sample, None
        return sample, self._paint(background, parameters["centres"][: self._shown(parameters, edit)])

    def _scaled_backgrounds(self, batch: Sequence[Mapping[str, Any]], bank: BrainBank) -> Float64:
        """Backgrounds that are zero outside the brain and at most 1 in it, the lesions unseen."""
        brains = bank.masks[[parameters["slice"] for parameters in batch]]
        values: Float64 = self.backgrounds(batch, bank) * brains
        if self.authors_exact:
            return values
        return np.asarray(values / values.max(axis=(1, 2), keepdims=True))

    def _compose(
        self, background: Float64, parameters: Mapping[str, Any], material: LesionMaterial, shown: int
    ) -> Rendered:
        centres = parameters["centres"]
        brain = material.bank.masks[parameters["slice"]]
        profile = lesion_profile(self.diameter, self.window)
        # In one-versus-two the place of the lesion that the twin adds or takes away is part of the cause.
        sites = len(centres) if self.lesion_classes == "one_vs_two" else shown
        each = [self._support(profile > 0, centre) & brain for centre in centres[:sites]]
        absent = np.zeros(self.image_size, dtype=bool)
        cores = [self._support(profile >= 0.5, centre) & brain for centre in centres[:sites]]
        regions = {"lesions": np.logical_or.reduce([absent, *each]), "core": np.logical_or.reduce([absent, *cores])}
        regions |= {f"lesion_{k + 1}": each[k] if k < len(each) else absent for k in range(self.lesions)}
        return Rendered(
            self._paint(background, centres[:shown]), {"label": parameters["label"]}, {**regions, "brain": brain}
        )

    def _paint(self, background: Float64, centres: Sequence[Sequence[int]]) -> NDArray[Any]:
        """Integer levels of a background with lesions; no filter runs afterwards."""
        values = background.copy()
        loss = self.depth * lesion_profile(self.diameter, self.window)
        if self.authors_exact:  # a sum, so overlapping lesions may go below zero, which the levels clip
            total = np.zeros(self.image_size)
            for centre in centres:
                inside, part = self._window(centre)
                total[inside] += loss[part]
            values *= 1.0 - total
            values /= values.max()
        else:
            for centre in centres:
                inside, part = self._window(centre)
                values[inside] *= 1.0 - loss[part]
        return to_levels(values, self.bit_depth)

    def _support(self, profile: Mask, centre: Sequence[int]) -> Mask:
        mask = np.zeros(self.image_size, dtype=bool)
        inside, part = self._window(centre)
        mask[inside] = profile[part]
        return mask

    def _window(self, centre: Sequence[int]) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
        """Where a lesion's window lies in the image, and the part of the window that is inside."""
        spans = [self._span(place, extent) for place, extent in zip(centre, self.image_size, strict=True)]
        return (spans[0][0], spans[1][0]), (spans[0][1], spans[1][1])

    def _span(self, place: int, extent: int) -> tuple[slice, slice]:
        first = place - self.diameter // 2
        start, stop = max(first, 0), min(first + self.diameter, extent)
        return slice(start, stop), slice(start - first, stop - first)

    # Places ---------------------------------------------------------------------------------------

    def _draw_centres(self, context: Context, index: int) -> list[list[int]]:
        places = self._places(context.material, index)
        stream = context.stream("centres")
        centres: list[list[int]] = []
        for number in range(self.lesions):
            if len(places) == 0:
                raise SalgenError(
                    f"no place for lesion {number + 1} of {self.lesions} in slice {index}: "
                    "make diameter or lesions smaller"
                )
            row, column = places[stream.integers(len(places), 1)[0]].tolist()
            centres.append([row, column])
            if not self.authors_exact:
                places = places[np.abs(places - (row, column)).max(axis=1) >= self.diameter]
        return centres

    def _places(self, material: LesionMaterial, index: int) -> Centres:
        """Centres in the brain, in the region, with the whole window in the image and room for a second lesion."""
        if index not in material.places:
            places = self._find_places(material.bank.masks[index])
            if len(places) == 0:
                raise SalgenError(
                    f"no place for the lesions in brain slice {index}: diameter {self.diameter}, "
                    f"{self.lesions} lesions, region {self.region}, image {self.image_size[0]}x{self.image_size[1]}; "
                    "make diameter or lesions smaller"
                )
            material.places[index] = places
        return material.places[index]

    def _find_places(self, brain: Mask) -> Centres:
        height, width = self.image_size
        allowed = brain.copy()
        if self.region == "top":
            allowed[height // 2 :] = False
        elif self.region == "bottom":
            allowed[: height // 2] = False
        if not self.authors_exact:
            before, after = self.diameter // 2, self.diameter - self.diameter // 2
            whole = np.zeros_like(allowed)
            whole[before : height - after + 1, before : width - after + 1] = True
            allowed &= whole
        places = np.argwhere(allowed)
        if self.authors_exact or self.lesions == 1 or len(places) == 0:
            return places
        room = np.maximum(places.max(axis=0) - places, places - places.min(axis=0)).max(axis=1)
        return np.asarray(places[room >= self.diameter])


@lru_cache(maxsize=64)
def lesion_profile(diameter: int, window: str) -> Float64:
    """The profile of a lesion, float64 (diameter, diameter): the geometric mean of two windows, maximum 1.

    Notes
    -----
    L(i, j) = sqrt(h_i h_j) over its maximum (PROTOCOLS 003), with h a symmetric Hamming window, whose
    ends are 0.08. Values are rounded to 40 binary places, so that a platform's cosine does not show.
    """
    turn = 2.0 * np.pi * np.arange(diameter) / (diameter - 1)
    line = {"hamming": 0.54 - 0.46 * np.cos(turn), "hann": 0.5 - 0.5 * np.cos(turn), "flat": np.ones(diameter)}[window]
    line = np.rint(np.maximum(line, 0.0) * 2.0**40) / 2.0**40
    profile = np.sqrt(np.outer(line, line))
    profile = profile / profile.max()
    profile.setflags(write=False)
    return np.asarray(profile)
