"""`salgen.json`: all that reading, checking and making a data set again need to know about it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from salgen.errors import SalgenError, reason
from salgen.files import strict_json
from salgen.generators.generator import Generator
from salgen.generators.interfaces import Attributed
from salgen.sources import DATA_SET, OWN_COPY
from salgen.spec import DatasetSpec
from salgen.typed_json import from_json

FILE = "salgen.json"
RUN = "run.json"  # the file that a run's folder has instead
FORMAT = 2  # 2: with the column `cluster`
LIBRARIES = ("salgen", "numpy", "scipy", "pyarrow", "imagecodecs")  # those that a byte on disk depends on
SAMPLES_PER_SHARD = 512
ROWS_PER_GROUP = 64  # what reading one sample alone has to read
RECIPES_PER_SHARD, RECIPES_PER_GROUP = 16_384, 1024  # the same, where there are no pictures: a row takes some bytes
USUAL_SPLITS = ("train", "val", "test")


@dataclass(frozen=True)
class Manifest:
    """Description of a data set folder. It holds no path, time, command or worker count."""

    spec: DatasetSpec
    twins: bool  # true if counterfactual twins are stored
    samples_per_shard: int  # rows of every shard but a split's last
    rows_per_group: int  # rows of every row group but a shard's last
    summary: str  # the generator in one line
    tasks: dict[str, tuple[str, ...]]  # task name to class names; the first task is the default one
    targets: dict[str, str]  # task name to the region that is its ground-truth mask
    regions: tuple[str, ...]  # the regions that every sample has
    valid_region: str | None  # the region in which maps are scored by default, or None for the whole image
    channels: int  # 1 or 3
    exact: bool  # true if image and twin are equal outside the mask; false where a paper's flaw is reproduced
    factors: tuple[str, ...]  # names of the scalars to filter by
    license: str  # the source's
    notes: str  # remarks that a reader must know
    libraries: dict[str, str]  # versions of the libraries that wrote the files
    redistributable: bool  # true if the source's license is known to let anybody pass on the pixels
    pixels: bool = True  # true if images and twins can be read; False for what was published as recipes and masks
    multi_label: tuple[str, ...] = ()  # tasks of which an image may show several classes; the label is the sample's own
    recipes_only: bool = False  # true if no picture is in the files: all are rendered from the recipes as they are read
    attribution: tuple[int, ...] = ()  # shape (K, rows, columns) of the exact attributions; () where none is known
    attribution_kind: str = ""

    @property
    def stores_pixels(self) -> bool:
        """True if images and twins are in the files."""
        return self.pixels and not self.recipes_only

    @property
    def imported(self) -> bool:
        """True if the images were read from a copy of published data, not made."""
        return self.spec.source == OWN_COPY

    @property
    def own_images(self) -> bool:
        """True if the images are a user's own, so that each sample has the name of its file."""
        return self.spec.generator == "images"  # the importer's name

    @property
    def derived(self) -> bool:
        """True if the images were made from those of another data set of salgen."""
        return self.spec.source.startswith(f"{DATA_SET} ")

    @property
    def default_task(self) -> str:
        """The first task."""
        return next(iter(self.tasks))

    @property
    def splits(self) -> list[str]:
        """The splits' names: train, val, test, then the others in alphabetical order."""
        return in_order(self.spec.splits)

    def to_text(self) -> str:
        """The contents of `salgen.json`."""
        values = asdict(self)
        values["licence"] = values.pop("license")  # the spelling of the file
        # A mapping's order carries meaning for the tasks (the first is the default one): keep it as a list.
        values["tasks"] = [{"name": name, "classes": list(classes)} for name, classes in self.tasks.items()]
        if not self.attribution:  # as it was before there were any
            del values["attribution"], values["attribution_kind"]
        values |= {"spec": self.spec.to_json(), "fingerprint": self.spec.fingerprint, "format": FORMAT}
        return json.dumps(values, sort_keys=True, indent=2, allow_nan=False) + "\n"

    @classmethod
    def from_text(cls, text: str) -> Manifest:
        """The manifest that :meth:`to_text` wrote."""
        try:
            values = strict_json(text)
            written, fingerprint = values.pop("format"), values.pop("fingerprint")
            if written != FORMAT:
                raise SalgenError(f"format {written}: this salgen reads format {FORMAT}")
            values["license"] = values.pop("licence")
            values["tasks"] = {task["name"]: task["classes"] for task in values["tasks"]}
            manifest: Manifest = from_json(values, cls)
            if (actual := manifest.spec.fingerprint) != fingerprint:
                raise SalgenError(f"the spec's fingerprint is {actual}, but the file says {fingerprint}")
        except Exception as error:  # a file that salgen did not write may be wrong in any way
            raise SalgenError(f"not a salgen data set description ({reason(error)})") from None
        return manifest


def describe(generator: Generator, spec: DatasetSpec, *, twins: bool = True, recipes_only: bool = False) -> Manifest:
    """The manifest of a data set that is about to be made; renders its first sample."""
    plugin = generator.plugin
    first = generator.sample(spec.seed, in_order(spec.splits)[0], 0)
    return Manifest(
        spec,
        twins,
        RECIPES_PER_SHARD if recipes_only else SAMPLES_PER_SHARD,
        RECIPES_PER_GROUP if recipes_only else ROWS_PER_GROUP,
        (type(plugin).__doc__ or plugin.name).partition("\n")[0],
        {task: tuple(classes) for task, classes in plugin.tasks.items()},
        {task: plugin.target(task) for task in plugin.tasks},
        tuple(plugin.region_names()),
        plugin.valid_region,
        first.image.shape[2],
        plugin.exact,
        tuple(plugin.factors(first.recipe.parameters)),
        generator.source.license,
        generator.source.notes,
        installed_libraries(),
        generator.source.redistributable,
        multi_label=tuple(first.present),
        recipes_only=recipes_only,
        attribution=plugin.attribution(first.recipe.parameters).shape if isinstance(plugin, Attributed) else (),
        attribution_kind=getattr(plugin, "attribution_kind", ""),
    )


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a data set folder."""
    if not folder.exists():
        raise SalgenError(f"{folder} does not exist: make it with 'salgen make', or check the path")
    if not folder.is_dir():
        raise SalgenError(f"{folder} is not a folder: give the folder that 'salgen make' wrote")
    path = folder / FILE
    if not path.is_file():
        if (folder / RUN).is_file():
            raise SalgenError(f"{folder} is a run, not a data set: read it by 'salgen report' or evaluate --from-maps")
        raise SalgenError(f"{folder} is not a salgen data set: it has no {FILE}")
    try:
        return Manifest.from_text(path.read_text(encoding="utf-8"))
    except (SalgenError, UnicodeDecodeError, OSError) as error:
        raise SalgenError(f"{path}: {error}") from None


def in_order(splits: Iterable[str]) -> list[str]:
    """Split names in the order in which they are made and shown."""
    names = set(splits)
    return [name for name in USUAL_SPLITS if name in names] + sorted(names - set(USUAL_SPLITS))


def installed_libraries() -> dict[str, str]:
    """Versions of the installed libraries that a data set's bytes depend on."""
    versions = dict.fromkeys(LIBRARIES, "unknown")
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):  # salgen run from a source tree that was not installed
            versions[name] = version(name)
    return versions
