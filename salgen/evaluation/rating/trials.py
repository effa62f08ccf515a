"""What people rate: images of a run, each with the maps of a few methods in an order of its own."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self
import numpy as np
from salgen.datasets.reading.reader import Dataset
from salgen.errors import SalgenError
from salgen.evaluation.report.gallery import image_url, map_url
from salgen.evaluation.report.suspects import dataset_of
from salgen.evaluation.results.run import Run
from salgen.seeding import Stream
from salgen.types import SaliencyMap

EXPLANATIONS = 5


@dataclass(frozen=True, eq=False)
class RatingTrials:
    """Images, and the maps of each method on them."""

    run: str  # the run folder
    model: str  # the model's name
    dataset: Dataset  # the run's data set
    seed: int  # chose the images, and orders the explanations
    sample_ids: Sequence[str]  # the images' names, in the order in which all raters see them
    places: Sequence[int]  # where each is among the maps
    maps: dict[str, SaliencyMap]  # method to maps

    @classmethod
    def of(
        cls,
        run: str | os.PathLike[str],
        data: str | os.PathLike[str],
        methods: Sequence[str] = (),
        *,
        images: int = 20,
        seed: int = 0,
        model: str | None = None,
    ) -> Self:
        """The trials of a run that kept its maps: by default its first five methods, on images drawn by the seed."""
        evaluated = Run(run)
        record = evaluated.record
        dataset = dataset_of(run, data, record)
        usual = [entry.call for entry in record.methods if not entry.control][:EXPLANATIONS]
        chosen = list(dict.fromkeys(methods)) or usual
        if not chosen:
            raise SalgenError(f"{run} has no methods but controls: name them by -m")
        maps = {method: evaluated.maps(method, model=model) for method in chosen}
        ids = next(iter(maps.values())).ids or ()
        order = Stream(seed, "rating", "images").permutation(len(ids))[:images].tolist()
        name = model or record.models[0].name
        return cls(os.fspath(run), name, dataset, seed, [ids[place] for place in order], order, maps)

    def order(self, rater: str, image: int) -> list[str]:
        """The methods in the order in which a rater sees their maps of an image."""
        methods = list(self.maps)
        stream = Stream(self.seed, "rating", "explanations", rater, index=image)
        return [methods[place] for place in stream.permutation(len(methods))]

    def label(self, image: int) -> str:
        """The class of an image."""
        task, names = next(iter(self.dataset.tasks.items()))
        return names[int(self.dataset.column(task)[self._place(image)])]

    def picture(self, image: int) -> str:
        """An image, as a PNG data URL."""
        pixels = self.dataset[self._place(image)]["image"]
        return image_url(np.round(255 * pixels).astype(np.uint8).transpose(1, 2, 0))

    def map_pictures(self, rater: str, image: int) -> list[str]:
        """The maps of an image in the rater's order, as PNG data URLs; empty where a map has no finite value."""
        maps = (self.maps[method] for method in self.order(rater, image))
        return [map_url(one.values[self.places[image]], one.signed) for one in maps]

    def _place(self, image: int) -> int:
        return self.dataset.index(self.sample_ids[image])
