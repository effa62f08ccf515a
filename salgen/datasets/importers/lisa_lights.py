"""Importer of the LISA traffic lights."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar
from salgen.datasets.layouts.imported import Imported, Items, refuse_edit
from salgen.datasets.layouts.lisa.lamp_masks import MaskRules, acceptable_masks, rectangle_mask
from salgen.datasets.layouts.lisa.lisa_copy import LICENSE, LisaCopy, cut
from salgen.datasets.layouts.lisa.lisa_layout import LABELS, clip_of, read_layout
from salgen.generators.drawing.pictures import read_rgb, resize_nearest, resize_rgb
from salgen.generators.interfaces import Context, Edit, Rendered, Scale
from salgen.parameters import param


@dataclass(frozen=True)
class LisaLights(MaskRules, Imported):
    """Red and green traffic lights cropped from your own copy of the LISA data set.

    Give the folder that holds `Annotations`, `dayTrain`, `nightTrain`, `daySequence1` and so on, as Kaggle's archive
    unpacks. Doubled folders (`dayTrain/dayTrain`) and single ones are both read, and frames may be PNG. A copy may hold
    some of the clips or frames only. Rows tagged `go` are green, rows tagged `stop` are red, and all others are left
    out.

    A sample is the annotated rectangle of one light, resized. Its masks of the lit lamp are segmentations of the crop
    at its own resolution. They are accepted if they agree with the annotated rectangle of the bulb (region `bulb`). Its
    centre is in the mask, `min_inside` of the mask is in it, and `min_near` in a rectangle of twice its sides. One to
    four count as correct, the first of them is the region `lamp`. The factor `mask_agreement` is how much they agree. A
    light without an acceptable mask or a readable frame is dropped, and the card counts them. The first time, all
    lights are vetted, which takes minutes.

    References
    ----------
    Jensen et al. 2016, *Vision for looking at traffic lights*, doi:10.1109/TITS.2015.2509509. Szczepankiewicz et al.
    2023, *Ground truth based comparison of saliency maps algorithms*, doi:10.1038/s41598-023-42946-w (crops and masks).
    """

    name: ClassVar[str] = "lisa-lights"
    regions: ClassVar[tuple[str, ...]] = ("lamp", "bulb")  # the lit lamp, and the annotated rectangle around it
    stand_in: ClassVar[str] = "drawn-lights"
    version: ClassVar[str] = "2"
    tasks: ClassVar[Mapping[str, tuple[str, ...]]] = {"label": ("green", "red")}  # the lamp's colour
    scales: ClassVar[Mapping[str, Scale]] = {
        **Imported.scales,
        "small": Scale({"train": 2000, "val": 400, "test": 400}, {"image_size": (64, 64)}),
    }

    min_side: int = param(8, "lights whose shorter side has fewer pixels in the frame are dropped", low=2)

    def read_copy(self, path: Path) -> LisaCopy:
        """The annotations of the copy at a path, and where its frames are."""
        layout = read_layout(path)
        rules = MaskRules(**{item.name: getattr(self, item.name) for item in fields(MaskRules)})
        return LisaCopy(LICENSE, layout.files, layout.splits, layout, rules, self.min_side)

    def prepare(self, source: LisaCopy) -> Items:
        """Vet all lights, or read from the cache which of them can be used."""
        splits = defaultdict(list)
        for name, recipe in source.recipes.items():
            splits[source.splits[recipe["frame"]]].append(name)
        return Items(source, dict(splits))

    def draw(self, context: Context) -> dict[str, Any]:
        """The light at the sample's place."""
        return dict(context.material.source.recipes[context.material.at(context)])

    def render(self, parameters: Mapping[str, Any], material: Items, edit: Edit) -> Rendered:
        """Crop, segment and resize."""
        refuse_edit(edit)
        frame = read_rgb(material.source.files[parameters["frame"]])
        crop, bulb = cut(frame, tuple(parameters["box"]), tuple(parameters["bulb"]))
        masks = acceptable_masks(crop, bulb, red=parameters["label"] == LABELS["stop"], rules=self)
        lamp, *alternatives = (resize_nearest(mask, self.image_size) for mask in masks)
        regions = {"lamp": lamp, "bulb": resize_nearest(rectangle_mask(crop.shape[:2], bulb), self.image_size)}
        image = resize_rgb(crop, self.image_size)
        return Rendered(image, {"label": parameters["label"]}, regions, tuple(alternatives))

    def cluster(self, parameters: Mapping[str, Any], material: Items) -> str:
        """The clip: its frames show the same lights, neighbouring ones nearly alike."""
        return clip_of(parameters["frame"])

    def factors(self, parameters: Mapping[str, Any]) -> dict[str, int | float | None]:
        """Night or day (1 or 0), the number of acceptable masks, and the crop's size in the frame."""
        left, top, right, bottom = parameters["box"]
        masks = {"n_masks": parameters["masks"], "mask_agreement": parameters["agreement"]}
        return {"night": parameters["night"], **masks, "crop_height": bottom - top, "crop_width": right - left}
