"""`salgen import`: a data set of your own images."""

from typing import Any
import click
from salgen.cli.make_command import say_made
from salgen.cli.options import help_with, settings
from salgen.parameters import parse_pairs
from salgen.registry import IMPORTERS


@click.command("import", add_help_option=False, epilog="Example: salgen import photos --masks masks")
@click.argument("images", type=click.Path())
@click.argument("out", required=False, type=click.Path())
@click.option(
    "--masks",
    metavar="PATH",
    multiple=True,
    type=click.Path(),
    help="A folder of mask pictures named as the images, COCO's instances (.json), boxes (.csv), Hugging Face's "
    "metadata.csv or .jsonl, or YOLO's folder of .txt or data.yaml. Given several times, all that mark an image are "
    "acceptable.  [default: masks in IMAGES, or its metadata]",
)
@click.option(
    "--labels",
    metavar="FILE",
    type=click.Path(),
    help="A table (.csv or .jsonl) with file, label, and if you like split and cluster.  [default: labels.csv or "
    "metadata.csv in IMAGES, else the annotations' classes, else the folders of IMAGES]",
)
@click.option("--seed", type=int, default=0, help="Seed of the order of samples.")
@click.option("--workers", type=int, metavar="N", help="Processes.  [default: one per core]")
@settings
@help_with(lambda params: {"Parameters": IMPORTERS.load("images")})
def command(images: str, out: str | None, pairs: tuple[str, ...], **options: Any) -> None:
    """Make a data set of your own images.

    It is made from the folder IMAGES, in IMAGES-salgen or the folder OUT.

    The forms of masks and labels are in docs/own_images.md.
    """
    from salgen.datasets.importing import import_images

    say_made(import_images(images, out, parameters=parse_pairs(pairs), **options))
