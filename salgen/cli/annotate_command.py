"""`salgen annotate`: a page on which people draw masks."""

from typing import Any
import click
from salgen.cli.options import help_with, settings
from salgen.parameters import parse_pairs
from salgen.registry import IMPORTERS


@click.command("annotate", add_help_option=False, epilog="Example: salgen annotate photos --labels labels.csv")
@click.argument("path", type=click.Path())
@click.argument("out", required=False, type=click.Path())
@click.option(
    "--labels",
    metavar="FILE",
    type=click.Path(),
    help="A table as in salgen import.  [default: labels.csv in PATH, else the folders of PATH]",
)
@click.option("--split", help="Show the images of this split alone.  [default: all]")
@click.option(
    "--only", metavar="IMAGE", multiple=True, help="Show this image alone, as it is called in PATH; repeatable."
)
@click.option(
    "--merge",
    type=click.Choice(["acceptable", "majority"]),
    default="acceptable",
    help="Masks of several annotators: each is acceptable, or the pixels that at least half of them marked.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=7864, help="0 takes a free one.")
@click.option("--finish", is_flag=True, help="Make the data set of what is drawn, as the page's button does, and end.")
@settings
@help_with(lambda params: {"Parameters": IMPORTERS.load("images")})
def command(path: str, out: str | None, port: int, finish: bool, pairs: tuple[str, ...], **options: Any) -> None:
    """Draw masks on images in a browser.

    The page is served on this machine, for several people if you like.

    PATH is a folder of images, as salgen import takes it, or a data set. Masks are kept in OUT-source after every
    stroke; the page's button Finish makes them the data set OUT, by default PATH-annotated. See docs/annotation.md.
    """
    from salgen.datasets.annotation.annotated_dataset import Annotation, masks_of, target_of
    from salgen.datasets.annotation.drawing_page import drawing_page
    from salgen.datasets.annotation.loopback import serve
    from salgen.datasets.format.output_folder import sole_writer

    def annotation() -> Annotation:
        return Annotation.at(path, out, parameters=parse_pairs(pairs), **options)

    if finish:
        with sole_writer(target_of(path, out)):
            click.echo(annotation().finish())
    else:
        serve(target_of(path, out), lambda: drawing_page(annotation()), port, "draw", masks_of(target_of(path, out)))
