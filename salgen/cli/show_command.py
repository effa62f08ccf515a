"""`salgen show`: look at a data set."""

from pathlib import Path
import click


@click.command("show", epilog="Example: salgen show lesions --id test-000005")
@click.argument("dataset", type=click.Path())
@click.option("--id", "ids", metavar="ID", multiple=True, help="Show this sample, such as test-000005; repeatable.")
@click.option(
    "--out",
    type=click.Path(),
    metavar="PNG",
    help="Where to write the picture.  [default: DATASET-sheet.png or DATASET-ID.png]",
)
@click.option("--split", help="Split to show.  [default: that of the ID, or test]")
@click.option("--count", type=click.IntRange(1, 200), default=8, help="Samples to show.")
@click.option("--source", metavar="PATH", help="Your own material, if DATASET holds recipes only.")
def command(
    dataset: str, ids: tuple[str, ...], out: str | None, split: str | None, count: int, source: str | None
) -> None:
    """Draw a contact sheet of DATASET and say what it holds.

    DATASET is a folder or an archive. The sheet shows image, mask over the image, twin and their difference.
    """
    from salgen.datasets.archives.archive_formats import form_of, is_archive
    from salgen.datasets.format.output_folder import check_outside
    from salgen.datasets.preview.contact_sheet import contact_sheet
    from salgen.datasets.preview.dataset_summary import describe, describe_sample
    from salgen.datasets.reading.reader import open_dataset
    from salgen.files import atomic_path

    folder = Path(dataset)
    name = folder.name.removesuffix(form_of(folder)) if is_archive(folder) else folder.resolve().name
    picture = Path(out) if out else folder.with_name(f"{name}-{ids[0] if ids else 'sheet'}.png")
    check_outside(picture, in_a_run=True)
    if ids and split is None:
        split = ids[0].rpartition("-")[0] or None
    sheet = contact_sheet(folder, split=split, count=count, source=source, ids=ids)
    samples = open_dataset(folder, split, source)
    with atomic_path(picture) as temporary:
        sheet.save(temporary, format="PNG")
    click.echo("\n".join(describe_sample(samples, name) for name in ids) or describe(folder))
    click.echo(f"{'picture' if ids else 'contact sheet'}: {picture}")
