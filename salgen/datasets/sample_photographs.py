"""A few photographs that scikit-image ships, with masks of our own: real pictures without a download."""

import json
import os
from pathlib import Path
import numpy as np
from PIL import Image, ImageDraw
from salgen.errors import SalgenError

OUTLINES = Path(__file__).with_name("sample_photographs.json")


def sample_photographs(out: str | os.PathLike[str]) -> Path:
    """Write five photographs with masks into a folder, as your own may lie there: to try things on real pictures.

    They are scikit-image's `chelsea` (a cat), `coffee` (a cup), `rocket`, `camera` (a tripod) and `clock`, all CC0 or
    in the public domain. The masks were drawn by hand. Labels are names of ImageNet's classes.

    Parameters
    ----------
    out
        The folder, which gets ``images/NAME.png``, ``masks/NAME.png`` (0, and 255 on the object) and ``labels.csv``.
        It must not exist, or be empty.

    Returns
    -------
    The folder.

    Raises
    ------
    SalgenError
        If the folder holds something already.

    Examples
    --------
    >>> folder = sample_photographs("photographs")  # doctest: +SKIP
    >>> salgen.import_images(folder)  # doctest: +SKIP
    PosixPath('photographs-salgen')
    """
    from skimage import data  # takes a third of a second

    folder = Path(out)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SalgenError(f"{folder} is not empty: give a new folder for the photographs")
    rows = ["file,label"]
    for name, about in json.loads(OUTLINES.read_text(encoding="utf-8")).items():
        image = Image.fromarray(np.asarray(getattr(data, name)()))
        mask = Image.new("L", image.size)
        for polygon in about["polygons"]:
            ImageDraw.Draw(mask).polygon(polygon, fill=255)
        for kind, picture in (("images", image), ("masks", mask)):
            (folder / kind).mkdir(parents=True, exist_ok=True)
            picture.save(folder / kind / f"{name}.png")
        rows.append(f"{name}.png,{about['label']}")
    (folder / "labels.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder
