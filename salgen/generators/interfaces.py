"""The base of generator plug-ins and its optional interfaces; the context of a draw, edits, and rendered samples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, Self, runtime_checkable
from numpy.typing import NDArray
from salgen.seeding import Stream
from salgen.sources import Source
from salgen.types import Float32, Mask


@dataclass(frozen=True)
class Scale:
    """A registered set of defaults: parameters that differ from the fields' own, and split sizes."""

    splits: dict[str, int]
    parameters: Mapping[str, Any]


SCALES = {
    "demo": Scale({"train": 2000, "val": 200, "test": 200}, {}),
    "small": Scale({"train": 2000, "val": 400, "test": 400}, {}),
}


@dataclass(frozen=True)
class Edit:
    """Difference of a counterfactual from its sample: features left out, or shown with another value."""

    omit: tuple[str, ...] = ()
    change: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Rendered:
    """Result of `render`: a :class:`~salgen.types.Sample` without its names."""

    image: NDArray[Any]
    labels: dict[str, int]
    regions: dict[str, Mask]
    alternatives: tuple[Mask, ...] = ()
    present: dict[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Context:
    """Position of a sample in its data set, and the random streams that belong to it.

    Generators of one `family` share draws: the same slice and the same lesions on another background.
    """

    seed: int
    family: str
    split: str
    index: int  # the sample's, or a redraw's among those of its sample
    material: Any  # the result of the plug-in's `prepare`
    redraws_of: int | None = None  # where a background is drawn again: the index of its sample

    def stream(self, purpose: str, key: int | None = None) -> Stream:
        """The stream for `purpose`, keyed by the sample's index, or by the group `key` that shares it."""
        again = () if self.redraws_of is None else ("redraw", self.redraws_of)
        names = (self.seed, self.family, self.split, *again, purpose)
        return Stream(*names, index=self.index if key is None else key)

    def balanced(self, purpose: str, classes: int = 2) -> int:
        """A class number such that each run of `classes` samples holds every class once.

        A longer split begins with a shorter one. A sample does not depend on the split's size.
        """
        block, place = divmod(self.index, classes)
        return int(self.stream(purpose, key=block).permutation(classes)[place])


@runtime_checkable
class Redrawable(Protocol):
    """Optional interface of a generator plug-in: reliance on its features can be certified."""

    def redraw(self, parameters: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """The same sample on another background of any kind: its class in the first task and its mask stay as they are.

        The background is drawn in `context` as it is in `draw`, so that one which depends on the
        label gets that of any class.
        """

    def features(self, parameters: Mapping[str, Any]) -> list[str]:
        """The regions of a sample whose feature `render` can leave out alone, by ``omit=(name,)``."""


@runtime_checkable
class Movable(Protocol):
    """Optional interface of a :class:`Redrawable` plug-in: the feature may lie elsewhere."""

    def move(self, parameters: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """The same sample with its feature at another place, on another background; its class stays as it is."""


@runtime_checkable
class Finite(Protocol):
    """Optional interface of a generator plug-in: a source may hold so many samples and no more."""

    def available(self, material: Any) -> Mapping[str, int] | None:
        """Split to the number of samples it has, all splits that there are; None where any number can be drawn."""


@runtime_checkable
class Labelled(Protocol):
    """Optional interface of a generator plug-in: labels without rendering a picture."""

    def labels(self, parameters: Mapping[str, Any]) -> dict[str, int]:
        """Each task's class of the sample that `render` gives with no edit."""


@runtime_checkable
class Fitting(Protocol):
    """Optional interface of a generator plug-in: some of its parameters follow from its source."""

    def fitted(self, source: Source) -> Self:
        """The plug-in with the parameters that follow from its source; it opens that source again, and no other."""


@runtime_checkable
class Guaranteed(Protocol):
    """Optional interface of a generator plug-in: accuracy alone proves what a model relies on."""

    def guarantee(self) -> str:
        """What is proved, by which accuracy and why, in Markdown for the card."""


@runtime_checkable
class Attributed(Protocol):
    """Optional interface of a generator plug-in: what each part adds to a designed network's logits is exact."""

    attribution_kind: ClassVar[str]  # the value, such as Shapley's, and what a part is compared with

    def attribution(self, parameters: Mapping[str, Any]) -> Float32:
        """Signed values, float32 (K, rows, columns), of the K classes of the first task.

        Rows and columns divide the image into equal rectangles, single pixels at the finest: a value is the sum over
        its rectangle.
        """


class GeneratorPlugin:
    """Base of registered generators and importers; the dataclass fields of a subclass are its parameters.

    A generator that accepts a user's own source describes it in the class variable `takes`.
    A parameter that is the strength of a spurious correlation is named in the class variable `spurious`. The factor
    `agrees` is 1 where a sample shows what goes with its label.
    """

    name: ClassVar[str]  # the registered name
    version: ClassVar[str] = "1"  # changes whenever pixels do
    default_source: ClassVar[str] = ""  # name of the shipped source used when the user gives none; "" for none
    regions: ClassVar[tuple[str, ...]]
    scales: ClassVar[Mapping[str, Scale]]
    quick: ClassVar[Mapping[str, Any]]  # parameters that make it small, for the conformance checks
    image_size: tuple[int, int]  # height and width in pixels
    bit_depth: int  # 8 or 16

    @property
    def family(self) -> str:
        """The name of its random streams, see `Context`; by default its own."""
        return self.name

    @property
    def valid_region(self) -> str | None:
        """The region in which maps are scored by default, or None for the whole image."""
        return None

    @property
    def exact(self) -> bool:
        """True if image and twin are equal outside the mask; False only to keep a flaw of the authors' code."""
        return True

    @property
    def tasks(self) -> Mapping[str, tuple[str, ...]]:
        """Task name to class names, in the order of the labels; the first task is the default one."""
        raise NotImplementedError

    def open_source(self, source: Any) -> Source:
        """The source named or pointed to by a text, or for None the default one."""
        raise NotImplementedError

    def prepare(self, source: Any) -> Any:
        """The material that drawing and rendering need, by default the source; made once per process."""
        return source

    def draw(self, context: Context) -> dict[str, Any]:
        """Every random choice of one sample, as JSON values."""
        raise NotImplementedError

    def render(self, parameters: Mapping[str, Any], material: Any, edit: Edit) -> Rendered:
        """The sample that the choices describe, with the edit applied. No random choice is made."""
        raise NotImplementedError

    def render_pairs(
        self, batch: Sequence[Mapping[str, Any]], material: Any, twins: bool
    ) -> list[tuple[Rendered, NDArray[Any] | None]]:
        """For each sample what `render` gives, and its twin's image if asked for, equal to `render` bit for bit."""
        pairs = []
        for parameters in batch:
            edit = self.counterfactual(parameters) if twins else None
            twin = None if edit is None else self.render(parameters, material, edit).image
            pairs.append((self.render(parameters, material, Edit()), twin))
        return pairs

    def counterfactual(self, parameters: Mapping[str, Any]) -> Edit | None:
        """The edit that gives the twin, by default without the first of `features`; None where there is no twin."""
        return next((Edit(omit=(feature,)) for feature in self.features(parameters)), None)

    def region_names(self) -> list[str]:
        """The regions that every sample has, by default `regions`."""
        return list(self.regions)

    def target(self, task: str) -> str:
        """The region that is the ground-truth mask of a task, by default the first."""
        return self.region_names()[0]

    def features(self, parameters: Mapping[str, Any]) -> list[str]:
        """The regions whose feature `render` can leave out alone, by default the first; see :class:`Redrawable`."""
        return self.region_names()[:1]

    def factors(self, parameters: Mapping[str, Any]) -> dict[str, int | float | None]:
        """Scalars to filter by, by default none; the keys are the same for every sample."""
        return {}

    def cluster(self, parameters: Mapping[str, Any], material: Any) -> str | int | None:
        """The name of what a sample shares with others of its split, such as an object, a slice, a subject or a clip.

        Samples of one cluster are not independent: intervals and tests take the cluster for what was sampled. None
        for a sample that shares nothing.
        """
        return None
