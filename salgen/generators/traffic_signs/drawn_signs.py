"""Traffic signs, half of them with a green square that has nothing to do with the sign."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Protocol
import numpy as np
from numpy.typing import NDArray
from salgen.errors import SalgenError
from salgen.generators.drawing.photographs import PHOTOGRAPHS, Photographs, open_photographs
from salgen.generators.drawing.pictures import Pixels
from salgen.generators.interfaces import Context, Edit, Rendered, Scale
from salgen.generators.painted_base import Painted, check_edit
from salgen.generators.traffic_signs.scenes import SignScenes
from salgen.parameters import param
from salgen.seeding import Stream
from salgen.types import Float64, Mask

SQUARE, TRAINING_SQUARE = "square", "training_square"
VARIANTS = ("original", "absent", "moved", "resized", "noisy_square", "noisy_background")
VARIANT_SPLITS = {f"test_{variant}": variant for variant in VARIANTS}
Square = tuple[int, int, int]  # row and column of the upper left pixel, side


class SignSource(Protocol):
    """Source of pictures of signs: drawn ones, or crops of photographs."""

    def available(self) -> Mapping[str, int] | None:
        """Split to the number of samples; None where any number can be drawn."""

    def draw(self, context: Context) -> dict[str, Any]:
        """The choices of a picture, `sign_class` among them."""

    def picture(self, parameters: Mapping[str, Any], image_size: tuple[int, int]) -> Pixels:
        """The picture, uint8 (H, W, 3)."""

    def track(self, parameters: Mapping[str, Any]) -> str | None:
        """The track that a photograph is a frame of; None for a drawn sign."""


@dataclass(frozen=True)
class SignsWithSquare(Painted):
    """Base of traffic signs of which half have a green square (Szczepankiewicz et al. 2023).

    A subclass says in `open_source` and `prepare` where the pictures of signs come from.
    """

    family: ClassVar[str] = "gtsrb-square"  # names the streams of random numbers
    # the square as painted, and as models are trained on it
    regions: ClassVar[tuple[str, ...]] = (SQUARE, TRAINING_SQUARE)
    tasks: ClassVar[Mapping[str, tuple[str, ...]]] = {"label": ("plain", "square")}
    scales: ClassVar[Mapping[str, Scale]] = {
        "demo": Scale({"train": 2000, "val": 200, "test": 200, **dict.fromkeys(VARIANT_SPLITS, 40)}, {}),
        "small": Scale({"train": 2000, "val": 400, "test": 400, **dict.fromkeys(VARIANT_SPLITS, 100)}, {}),
        "full": Scale(
            {"train": 22_640, "val": 4000, "test": 12_630, **dict.fromkeys(VARIANT_SPLITS, 12_630)},
            {"image_size": (224, 224)},
        ),
    }

    square_side: int | None = param(None, "side of the square in pixels; a seventh of the height if none", low=1)
    square_color: tuple[float, float, float] = param(
        (0.0, 1.0, 0.0), "red, green and blue of the square", low=0.0, high=1.0
    )
    margin: int = param(0, "pixels between the square and the lower and right edges", low=0)
    enlarge: float = param(2.0, "how many times the side is as long in test_resized", low=1.0)
    noise: float = param(0.2, "standard deviation of the noise in the noisy variants", low=0.0, high=1.0)

    def __post_init__(self) -> None:
        needed = max(2 * self.side, self.enlarged_side) + self.margin
        if needed > min(self.image_size):
            raise SalgenError(
                f"square_side = {self.side}: with margin = {self.margin} and enlarge = {self.enlarge:g} the image "
                f"must be at least {needed} pixels high and wide, to enlarge and to move the square; "
                f"it is {self.image_size[0]}x{self.image_size[1]}"
            )

    @property
    def side(self) -> int:
        """The square's side in pixels."""
        return round(self.image_size[0] / 7) if self.square_side is None else self.square_side

    @property
    def enlarged_side(self) -> int:
        """The side in `test_resized`."""
        return round(self.side * self.enlarge)

    def available(self, material: SignSource) -> Mapping[str, int] | None:
        """As many as there are pairs of crops, and for each variant as many as for test."""
        counts = material.available()
        return None if counts is None else {**counts, **dict.fromkeys(VARIANT_SPLITS, counts["test"])}

    def draw(self, context: Context) -> dict[str, Any]:
        """The class, the variant, the square's place and size, and the picture of a sign."""
        variant = VARIANT_SPLITS.get(context.split, "original")
        shared = _shared(context)
        label = shared.balanced("label")
        square: Square | None = None
        if label and variant != "absent":
            side = self.enlarged_side if variant == "resized" else self.side
            square = self._elsewhere(side, shared) if variant == "moved" else self._in_corner(side)
        return {
            "label": int(square is not None),
            "drawn_label": label,
            "variant": variant,
            "square": None if square is None else list(square),
            "variant_noise": shared.stream("noise").key() if variant.startswith("noisy") else None,
            **context.material.draw(shared),
        }

    def redraw(self, parameters: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """The same square, if any, on the picture of another sign."""
        return {**parameters, **context.material.draw(_shared(context))}

    def move(self, parameters: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """The same square, if any, where no training image has it, on the picture of another sign."""
        square = parameters["square"] and list(self._elsewhere(parameters["square"][2], context))
        return {**self.redraw(parameters, context), "square": square}

    def _elsewhere(self, side: int, context: Context) -> Square:
        places = places_apart(self.image_size, self._in_corner(side))
        row, column = places[int(context.stream("place").integers(len(places), 1)[0])].tolist()
        return row, column, side

    def _in_corner(self, side: int) -> Square:
        height, width = self.image_size
        return height - self.margin - side, width - self.margin - side, side

    def scene(self, parameters: Mapping[str, Any], material: SignSource) -> Float64:
        """The sign, with noise all over it in `test_noisy_background`."""
        canvas = np.asarray(material.picture(parameters, self.image_size) / 255.0)
        if parameters["variant"] == "noisy_background":
            canvas = self._noisy(canvas, parameters)
        return canvas

    def paint(self, canvas: Float64, parameters: Mapping[str, Any], material: SignSource, edit: Edit) -> None:
        """The square; ``omit=("square",)`` leaves it out."""
        check_edit(edit, (SQUARE,), {})
        if not self._has_square(parameters, edit):
            return
        row, column, side = parameters["square"]
        colour = np.broadcast_to(np.array(self.square_color), (side, side, 3))
        if parameters["variant"] == "noisy_square":
            colour = self._noisy(colour, parameters)
        canvas[row : row + side, column : column + side] = colour

    def describe(
        self, image: NDArray[Any], parameters: Mapping[str, Any], material: SignSource, edit: Edit
    ) -> Rendered:
        """The visible class as label, and both regions; `training_square` belongs to the class that was drawn."""
        has_square = self._has_square(parameters, edit)
        regions = {
            SQUARE: self._mask(parameters["square"] if has_square else None),
            TRAINING_SQUARE: self._mask(self._in_corner(self.side) if parameters["drawn_label"] else None),
        }
        return Rendered(image, {"label": int(has_square)}, regions)

    def features(self, parameters: Mapping[str, Any]) -> list[str]:
        """The square, where there is one."""
        return [] if parameters["square"] is None else [SQUARE]

    def cluster(self, parameters: Mapping[str, Any], material: SignSource) -> str | None:
        """The track of a photograph, which shows one sign many times; None for a drawn sign."""
        return material.track(parameters)

    def factors(self, parameters: Mapping[str, Any]) -> dict[str, int | float | None]:
        """The sign's class, the variant's number, and row, column and side of the square."""
        row, column, side = parameters["square"] or (None, None, None)
        return {
            "sign_class": parameters["sign_class"],
            "variant": VARIANTS.index(parameters["variant"]),
            "square_row": row,
            "square_column": column,
            "square_side": side,
        }

    def _has_square(self, parameters: Mapping[str, Any], edit: Edit) -> bool:
        return parameters["square"] is not None and SQUARE not in edit.omit

    def _noisy(self, colours: Float64, parameters: Mapping[str, Any]) -> Float64:
        field = Stream.from_key(parameters["variant_noise"], "noise").normal(colours.size).reshape(colours.shape)
        return np.asarray((colours + self.noise * field).clip(0.0, 1.0))

    def _mask(self, square: Square | None) -> Mask:
        mask = np.zeros(self.image_size, dtype=bool)
        if square is not None:
            row, column, side = square
            mask[row : row + side, column : column + side] = True
        return mask


@dataclass(frozen=True)
class DrawnSigns(SignsWithSquare):
    """Drawn traffic signs, half of them with a green square: a stand-in for gtsrb-square.

    The square always has one place and one size, at the bottom right. Two consecutive samples show one of the 43 signs,
    once with the square and once without. Signs stand before shipped photographs. Trees and other green things are in
    both classes alike. Nothing else is as green as the square: a histogram of colours would tell the classes apart.

    The other test splits show the signs of `test`, with the square as their names say. The region `square` is what was
    painted, `training_square` what a model was trained on.

    References
    ----------
    Szczepankiewicz et al. 2023, *Ground truth based comparison of saliency maps algorithms*,
    doi:10.1038/s41598-023-42946-w.
    """

    name: ClassVar[str] = "drawn-signs"
    default_source: ClassVar[str] = PHOTOGRAPHS

    def open_source(self, source: str | None) -> Photographs:
        """The shipped photographs."""
        return open_photographs(self.name, source, "gtsrb-square")

    def prepare(self, source: Photographs) -> SignSource:
        """The material that draws signs."""
        return SignScenes(source)


@lru_cache(maxsize=8)
def places_apart(image_size: tuple[int, int], square: Square) -> NDArray[np.int64]:
    """Row and column of each place that shares no pixel with a square, int64 (N, 2)."""
    row, column, side = square
    rows, columns = np.indices((image_size[0] - side + 1, image_size[1] - side + 1))
    return np.argwhere((abs(rows - row) >= side) | (abs(columns - column) >= side))


def _shared(context: Context) -> Context:
    """The context whose draws a sample uses: all variants have those of test."""
    return replace(context, split="test") if context.split in VARIANT_SPLITS else context
