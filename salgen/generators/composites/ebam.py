"""eBAM: BAM with more classes, and with those objects and scenes alone that a detector agrees with."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self
from salgen.generators.composites.bam import OBJECTS, SCENES, STAND_INS, Bam
from salgen.generators.composites.libraries import Composite, open_library
from salgen.generators.interfaces import Scale
from salgen.parameters import param

FILTERED = "filtered"
TEN = {"candidate_objects": OBJECTS, "candidate_scenes": SCENES}


@dataclass(frozen=True)
class Ebam(Bam):
    """BAM with more objects and scenes (Li et al. 2020), of which a detector keeps those that it agrees with.

    Images are composed as in `bam`. A folder of your own as the source holds `coco`, `miniplaces` or both, and
    `detector`. `detector` holds one file: torchvision's weights of Faster R-CNN for COCO, or a `.safetensors` file of
    your own detector. A picture of an object is kept if the detector finds it on black, by its own name. A scene is
    kept if it finds nothing in it. Photographs need a detector, drawn pictures do not. A class of objects with fewer
    than `fewest` training pictures is left out, so the classes follow from the source.

    Drawn are 53 kinds of objects, as many as the paper's filter left, on 100 kinds of scenes. A block, in which each
    object stands on each scene once, has 5,300 images then. `train` at full scale has the paper's 2,646,328 images,
    `test` its 378,830 validation images. `val` is ours.

    References
    ----------
    Li et al. 2020, *Quantitative evaluations on saliency methods: an experimental study*,
    doi:10.48550/arXiv.2012.15616.
    """

    name: ClassVar[str] = "ebam"
    takes: ClassVar[str] = "PATH of a folder with coco, miniplaces or both, and detector"
    quick: ClassVar[Mapping[str, Any]] = {"image_size": (32, 32), "pictures": 10, "fewest": 5, **TEN}
    scales: ClassVar[Mapping[str, Scale]] = {
        "demo": Scale({"train": 2000, "val": 200, "test": 200}, {"pictures": 40, "fewest": 20, **TEN}),
        "small": Scale(
            {"train": 10_600, "val": 1060, "test": 2650}, {"pictures": 20, "fewest": 10, "candidate_scenes": SCENES}
        ),
        "full": Scale(
            {"train": 2_646_328, "val": 10_600, "test": 378_830},
            {"image_size": (128, 128), "pictures": 2000, "fewest": 500},
        ),
    }

    objects: tuple[str, ...] = param(
        (), "classes of objects; if none are named, those that are left of the candidates", distinct=2
    )
    scenes: tuple[str, ...] = param(
        (), "classes of scenes; if none are named, those that are left of the candidates", distinct=2
    )
    pictures: int = param(
        100, "training pictures of each class before the filter; other splits a tenth, at least ten", low=10
    )
    candidate_objects: tuple[str, ...] = param(
        (), "classes to choose from; by default `objects`, or COCO's, or 53 drawn ones", distinct=2
    )
    candidate_scenes: tuple[str, ...] = param(
        (), "classes to choose from; by default `scenes`, or all of MiniPlaces", distinct=2
    )
    fewest: int = param(50, "pictures for training that the filter must leave of a class of objects", low=2)

    def open_source(self, source: str | None) -> Composite:
        """The libraries of objects and of scenes, filtered where there is a detector."""
        path = None if source in (None, STAND_INS) else Path(str(source))
        return open_library(
            FILTERED,
            path,
            self.image_size,
            self._longest,
            self.candidate_objects or self.objects,
            self.candidate_scenes or self.scenes,
            self.objects,
            self.scenes,
            self.pictures,
            self.fewest,
        )

    def fitted(self, source: Composite) -> Self:
        """With the classes that the source has, and those that it had before the filter."""
        return replace(
            self,
            objects=source.objects.classes,
            scenes=source.scenes.classes,
            candidate_objects=source.candidate_objects,
            candidate_scenes=source.candidate_scenes,
        )
