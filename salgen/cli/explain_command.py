"""`salgen explain`: saliency maps of pictures by a trained model, as a figure or as arrays."""

from pathlib import Path
from typing import Any
import click
from salgen.cli.options import max_memory, methods, split_names, trained_model
from salgen.errors import SalgenError, unknown_name

ARRAYS, FIGURES = ".npz", (".png", ".pdf", ".svg")


@click.command("explain", epilog="Example: salgen explain cat.jpg --model my_models:network -m grad-cam")
@click.argument("images", nargs=-1, required=True, type=click.Path(path_type=Path))
@trained_model
@methods
@click.option("--target", default="pred", help="The class to explain: pred, a number, or a name.")
@click.option("--classes", metavar="A,B", help="The names of the model's outputs, in order.  [default: as it states]")
@max_memory
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    default="maps.png",
    help="A figure (.png, .pdf, .svg), or arrays METHOD/IMAGE, float32 (H, W) (.npz), written after each image.",
)
def command(
    images: tuple[Path, ...],
    model: str,
    method_calls: tuple[str, ...],
    target: str,
    classes: str | None,
    max_memory: float | None,
    out: Path,
) -> None:
    """Draw a trained model's saliency maps of picture files.

    IMAGES keep their size.
    """
    import numpy as np
    from salgen.datasets.format.output_folder import check_outside
    from salgen.datasets.layouts.own_images.upright_pictures import read_picture
    from salgen.evaluation.attribution.explaining import explain
    from salgen.evaluation.models.inspection.model_view import ModelView
    from salgen.evaluation.runs.given_models import trained_network
    from salgen.files import atomic_path
    from salgen.progress import progress
    from salgen.types import plot_maps

    check_outside(out, in_a_run=True)
    if out.suffix not in (ARRAYS, *FIGURES) or not out.parent.is_dir():
        raise SalgenError(f"{out}: give a file in a folder that exists, ending in {', '.join(FIGURES)} or {ARRAYS}")
    names = [path.name for path in images]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise SalgenError(f"several images are called {repeated[0]}: rename one, or explain them one by one")
    network, stated = trained_network(model)
    outputs = split_names(classes, "--classes") or list(stated)
    number = None if target == "pred" else int(target) if target.isdecimal() else _number(target, outputs)
    view = ModelView.of(network)
    channels = next((weight.shape[1] for weight in network.parameters() if weight.ndim == 4), 3)
    parts, arrays, said = [], dict[str, Any](), []
    with progress("explain", len(images), "images") as advance:
        for path in images:
            pixels = read_picture(path).astype(np.float32).transpose(2, 0, 1)[None] / 255
            if channels == 1 and bool((pixels == pixels[:, :1]).all()):
                pixels = pixels[:, :1]  # a grey picture
            part = explain(view, pixels, number, method=list(method_calls), ids=[path.name], max_memory=max_memory)
            if part.logits is not None:
                count = part.logits.shape[1]
                if outputs and len(outputs) != count:
                    raise SalgenError(f"--classes has {len(outputs)} names, and the model {count} outputs")
                shares = view.probabilities(part.logits)[0]
                explained = int(shares.argmax()) if number is None else number
                name = f" ({outputs[explained]})" if outputs else ""
                said.append(f"{path}: class {explained}{name}, probability {float(shares[explained]):.3f}")
            parts.append(part)
            arrays |= {f"{call}/{path.name}": np.asarray(maps)[0] for call, maps in part.items()}
            if out.suffix == ARRAYS:  # after each image: a stop keeps those before it
                with atomic_path(out) as temporary, open(temporary, "wb") as file:
                    np.savez(file, **arrays)
            advance()
    if out.suffix != ARRAYS:
        with atomic_path(out) as temporary, open(temporary, "wb") as file:
            plot_maps(parts, len(parts)).savefig(file, format=out.suffix[1:], dpi=150)
    click.echo("\n".join([*said, f"maps: {out}"]))


def _number(name: str, outputs: list[str]) -> int:
    from salgen.evaluation.models.own_networks import places_called

    places = [outputs.index(name)] if name in outputs else places_called(name, outputs)
    if len(places) != 1:
        raise unknown_name("class", name, outputs)
    return places[0]
