"""Drawn open places with nature or a town in them: a stand-in for Environment-XAI."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
import numpy as np
from salgen.generators.interfaces import Context, Scale
from salgen.generators.saliency_bench.marked_scene import MarkedScene
from salgen.generators.stand_ins.sceneries.painting import LAYOUTS, play
from salgen.generators.stand_ins.sceneries.stage import Stage
from salgen.parameters import param
from salgen.seeding import Stream
from salgen.types import Float64, Mask

SHOWN = {
    "nature": ("badlands", "desert/sand", "iceberg", "mountain", "river", "volcano"),
    "urban": ("bridge", "church/outdoor", "gas_station", "palace", "parking_lot", "skyscraper"),
}
OPEN = {"camera", "sky", "ground"}  # parts of layouts that both classes have
GROUNDS = ("grass", "earth", "sand", "asphalt", "snow")


class Layer(Stage):
    """A stage that paints on a given canvas without shadows; `support` is the pixels painted so far, bool (H, W)."""

    def __init__(self, stream: Stream, canvas: Float64) -> None:
        super().__init__(stream, (canvas.shape[0], canvas.shape[1]))
        self.canvas, self.support = canvas, np.zeros(canvas.shape[:2], dtype=bool)

    def flush(self, shadow: float = 0.0) -> Float64:
        """Paint the collected shapes, without the shadow around them; returns their coverage, (H, W)."""
        cover = super().flush(0.0)
        self.support |= cover > 0
        return cover

    def wash(self, colour: Any, cover: Float64) -> None:
        """Paint over everything so far, by a coverage."""
        super().wash(colour, cover)
        self.support |= np.broadcast_to(cover > 0, self.support.shape)


@dataclass(frozen=True)
class DrawnPlaces(MarkedScene):
    """Sky and ground with nature or a town in them, drawn: a stand-in for environment-xai (Environment-XAI).

    Nature is rocks, hills, trees; a town is buildings, streets, cars; each of six kinds. Sky and ground are drawn
    without regard to the class. As in the published data only a part of the images is marked. There the mask, region
    `evidence`, is all that stands between sky and ground, and the twin lacks it. The region `things` is that in every
    image. A number from these drawings is not a number on Environment-XAI.
    """

    name: ClassVar[str] = "drawn-places"
    task: ClassVar[str] = "environment"
    region: ClassVar[str] = "evidence"
    feature: ClassVar[str] = "things"
    tasks: ClassVar[Mapping[str, tuple[str, ...]]] = {"environment": tuple(SHOWN)}
    scales: ClassVar[Mapping[str, Scale]] = {
        "demo": Scale({"train": 1000, "val": 200, "test": 200}, {}),
        "small": Scale({"train": 3500, "val": 750, "test": 750}, {}),
        "full": Scale({"train": 3500, "val": 750, "test": 750}, {"image_size": (224, 224)}),
    }

    marked: float = param(0.61, "share of images that have a mask", low=0.0, high=1.0)

    def draw_feature(self, context: Context, label: int) -> dict[str, Any]:
        """The kind of place, and the key of all that stands in it."""
        stream = context.stream("things")
        kinds = SHOWN[self.tasks[self.task][label]]
        return {"kind": kinds[int(stream.integers(len(kinds), 1)[0])], "feature_key": stream.key()}

    def draw_scene(self, context: Context) -> dict[str, Any]:
        """What the ground is of, and the key of sky and ground."""
        stream = context.stream("scene")
        return {"ground": GROUNDS[int(stream.integers(len(GROUNDS), 1)[0])], "scene_key": stream.key()}

    def scene(self, parameters: Mapping[str, Any], material: Any) -> Float64:
        """Sky and ground."""
        stage = Stage(self.scene_stream(parameters), self.image_size)
        cover = [parameters["ground"], "plain", 0.4]
        rows: list[tuple[str, Mapping[str, Any]]] = [
            ("camera", {"x": 0.5, "y": [0.4, 0.56]}),
            ("sky", {"clouds": [0.2, 0.7]}),
            ("ground", {"cover": cover, "haze": 0.25}),
        ]
        play(stage, rows)
        return np.asarray(np.clip(stage.canvas, 0.0, 1.0))

    def paint_feature(self, canvas: Float64, parameters: Mapping[str, Any]) -> Mask:
        """All that stands between sky and ground."""
        layer = Layer(Stream.from_key(parameters["feature_key"], "things"), canvas)
        play(layer, [row for row in LAYOUTS[parameters["kind"]] if row[0] not in OPEN])
        np.clip(layer.canvas, 0.0, 1.0, out=canvas)
        return layer.support
