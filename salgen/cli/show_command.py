"""`salgen show`: look at a data set."""

from pathlib import Path
import click


@click.command("show", epilog="Example: salgen show lesions --count 16")
@click.argument("dataset", type=click.Path())
@click.option(
    "--out", type=click.Path(), metavar="PNG", help="Where to write the picture.  [default: DATASET-sheet.png]"
)
@click.option("--split", help="Split to show.  [default: test]")
@click.option("--count", type=click.IntRange(1, 200), default=8, show_default=True, help="Samples to show.")
@click.option("--source", metavar="PATH", help="Your own material, if DATASET holds recipes only.")
def command(dataset: str, out: str | None, split: str | None, count: int, source: str | None) -> None:
    """Draw a contact sheet of DATASET and say what it holds.

    The sheet shows image, mask over the image, twin and their difference.
    """
    from salgen.datasets.format.output_folder import check_outside
    from salgen.datasets.preview.contact_sheet import contact_sheet
    from salgen.datasets.preview.dataset_summary import describe
    from salgen.files import atomic_path

    folder = Path(dataset)
    picture = Path(out) if out else folder.with_name(folder.resolve().name + "-sheet.png")
    check_outside(picture, in_a_run=True)
    sheet = contact_sheet(folder, split=split, count=count, source=source)
    with atomic_path(picture) as temporary:
        sheet.save(temporary, format="PNG")
    click.echo(describe(folder))
    click.echo(f"contact sheet: {picture}")
