"""Run every comparison, print the tables and keep them in benchmarks/RESULTS.md."""

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from benchmarks import (
    compiled,
    demo,
    epochs,
    faithfulness,
    generation,
    growth,
    pasting,
    perturbation,
    saliency,
    scoring,
    start,
)
from benchmarks.gpu import campaign
from benchmarks.timing import table
from salgen.numpy_kernels import AVX512, DISABLED

RESULTS = Path(__file__).with_name("RESULTS.md")
LIBRARIES = (
    "salgen",
    "numpy",
    "torch",
    "scikit-learn",
    "torchmetrics",
    "quantus",
    "captum",
    "grad-cam",
    "torchvision",
    "pillow",
    "imagecodecs",
    "perlin-numpy",
)


def main() -> None:
    """Measure everything; takes 23 minutes on two cores."""
    agreement = [f"- {name}: at most {difference:.1e}" for name, difference in scoring.agreement().items()]
    parts = [
        "# Results",
        _machine(),
        "Medians of interleaved runs in one process, one thread. Times vary by machine and load; ratios less.",
        "## Generation, 140x192 with a 5x8 lattice",
        table(generation.rows()),
        "## Pasting, without files",
        "Ours as `bam` renders a sample, with its regions, in double precision; ten objects on each of ten scenes.",
        table(pasting.rows()),
        f"Ours are at most {pasting.agreement()} of 255 levels away from Pillow's.",
        "## Scoring, 140x192 maps against two lesions of 10x10",
        table(scoring.rows()),
        f"NumPy sorts {'by AVX2, chosen for Zen 4' if os.environ.get(DISABLED) == AVX512 else 'as it chooses here'} "
        "(salgen/numpy_kernels.py).",
        "Largest difference from scikit-learn:\n\n" + "\n".join(agreement),
        "## Saliency, ResNet-18 at 224x224",
        "Ours as in `salgen evaluate`, with weights as torch lays them out and channels last, which is how checkpoints "
        "are loaded; the libraries as their users call them.",
        table([*saliency.rows(), *perturbation.rows()]),
        f"Occlusion is at most {perturbation.agreement():.1e} of the largest value away from captum's.",
        "## Faithfulness metrics, per image that salgen changes",
        "Quantus as its users call it; it flips values rather than pixels, so of three channels it asks about three "
        "times as many changed images. A ratio of at least 0.83 to the bare passes means at most 1.2 times as long.",
        table(faithfulness.rows()),
        f"Deletion's probabilities are at most {faithfulness.agreement():.1e} away from those of Quantus.",
        "## Passes without gradient, compiled by `torch.compile` (`salgen evaluate --compile`)",
        table(compiled.rows()),
        "## The start of an evaluation",
        "Processor time of programs of one thread, medians of five.",
        table(start.rows()),
        "## The demo, on all cores",
        table(demo.rows()),
        "## Training for reliance, on all cores",
        "A ratio of at least 0.29 means at most 3.5 times as long.",
        table(epochs.rows()),
        "## Growth, 64x64, one worker",
        "Evaluating is explaining by the gradient and eleven controls, and scoring by six metrics over two regions; "
        "half of the images have a mask. What evaluating takes beyond bare passes and sorts is rendering redraws, and "
        "some forty NumPy calls for each map and region. Peak memory is the whole process, torch included; what grows "
        "is up to 64 MB of the data set that are kept, ids and predictions, and the scores of one metric.",
        "\n".join(growth.lines(growth.SIZES)),
        "## On a GPU",
        "`python -m benchmarks.gpu PART` measures on a CUDA device: training at the paper's scale, metrics, and every "
        "method beside captum and pytorch-grad-cam. `worlds` compares with published scores of salgen-bench, "
        "`budding2021` runs the paper end to end.",
        campaign.results_text(),
    ]
    text = "\n\n".join(parts) + "\n"
    print(text)
    RESULTS.write_text(text, encoding="utf-8")


def _machine() -> str:
    processor = next(
        (
            line.partition(":")[2].strip()
            for line in _read("/proc/cpuinfo").splitlines()
            if line.startswith("model name")
        ),
        platform.processor(),
    )
    versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    day = datetime.now(UTC).date().isoformat()
    machine = f"{processor}, {os.cpu_count()} cores, Python {platform.python_version()}"
    return f"Measured by `make bench` on {day}: {machine}, {versions}."


def _read(path: str) -> str:
    place = Path(path)
    return place.read_text(encoding="utf-8") if place.exists() else ""


if __name__ == "__main__":
    main()
