"""One sample of a data set: a dict that can be looked at."""

from typing import Any

import numpy as np
from PIL import Image

from salgen.datasets.reading.pictures import enlarged, tinted
from salgen.types import Float32, Mask


class Item(dict[str, Any]):
    """What :meth:`salgen.datasets.reading.reader.Dataset.__getitem__` gives."""

    def show(self) -> Image.Image:
        """The image, its mask over it in magenta, and its twin where it has one, side by side, as notebooks show it."""
        shown = [_panel(self["image"]), _panel(self["image"], self["mask"])]
        if self["twin"] is not None:
            shown.append(_panel(self["twin"]))
        return Image.fromarray(np.concatenate(shown, axis=1))


def _panel(image: Float32, mask: Mask | None = None) -> np.ndarray[Any, Any]:
    colours = np.broadcast_to(np.round(255 * image).astype(np.uint8).transpose(1, 2, 0), (*image.shape[1:], 3))
    return np.asarray(enlarged(colours if mask is None else tinted(colours, mask)))
