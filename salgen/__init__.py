"""salgen: which saliency method can I believe?

Images whose cause is known by construction, and the scores of saliency methods on them. Everything
here is imported on first use, so ``import salgen`` is instant.
"""

from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from salgen.import_paths import imported_on_first_use
from salgen.numpy_kernels import prefer_fast_sort

prefer_fast_sort()

if TYPE_CHECKING:
    from salgen.datasets.archives.unpacking import unpack
    from salgen.datasets.importing import import_images
    from salgen.datasets.making import make
    from salgen.datasets.sample_photographs import sample_photographs
    from salgen.errors import SalgenError
    from salgen.evaluation.attribution.explaining import explain
    from salgen.evaluation.attribution.patterns import fit_patterns
    from salgen.evaluation.bench import benchmark as bench
    from salgen.evaluation.bench.benchmark import judge, leaderboard
    from salgen.evaluation.choosing.choice import choose
    from salgen.evaluation.publishing.publishing import publish, push_to_hub
    from salgen.evaluation.report import report
    from salgen.evaluation.results.opening import evaluate, load, open, rescore
    from salgen.evaluation.results.run import Run
    from salgen.evaluation.scoring.scoring import score
    from salgen.evaluation.sweeps.sweep import sweep
    from salgen.evaluation.training.training import train
    from salgen.evaluation.training.training_data import collate
    from salgen.evaluation.verification.verifying import verify
    from salgen.generators.factory import generator
    from salgen.registry import list_generators, list_importers, list_methods, list_metrics, list_models

__all__ = [
    "Run", "SalgenError", "bench", "choose", "collate", "evaluate", "explain", "fit_patterns", "generator",
    "import_images", "judge", "leaderboard", "list_generators", "list_importers", "list_methods", "list_metrics",
    "list_models", "load", "make", "open", "publish", "push_to_hub", "report", "rescore", "sample_photographs", "score",
    "sweep", "train", "unpack", "verify",
]  # fmt: skip


_imported = imported_on_first_use(__name__)


def __getattr__(name: str) -> Any:
    return version("salgen") if name == "__version__" else _imported(name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, "__version__"])
