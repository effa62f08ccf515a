"""What Szczepankiewicz et al. 2023 say of the methods, put so that a run can answer it.

Each claim is an order of mean m_GT. Whether it holds here is a finding, not a test: the images may be
stand-ins, and the networks are trained anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isnan
from pathlib import Path
from statistics import fmean, median

from salgen.evaluation.report.grid import grid_means
from salgen.evaluation.report.study import HELD, NOT_HELD, NOT_TESTABLE, Cell, Finding, Study

BEST = 3  # the paper marks the best method and the next two
GRADIENTS = ("gradient", "smoothgrad", "guided-backprop", "guided-grad-cam")
KEEPING = (*GRADIENTS, "layer-cam", "eigen-grad-cam")

Means = Mapping[str, float]
Grid = Mapping[tuple[str, str], Means]


def findings(study: Study) -> tuple[Finding, ...]:
    """The claims (a) to (f) with what the runs of a study say of them."""
    grid = {cell: _defined(means) for cell, means in grid_means(study.cells, study.methods, study.metric).items()}
    return (
        _last(grid, "gtsrb-square", ("fast-cam", "fast-cam++"), ("resnet50", "vgg16")),
        _winners(grid, "gtsrb-square", ("eigen-grad-cam", "guided-grad-cam")),
        _lower_on_scnn(grid),
        _winners(grid, "zings", ("gradient", "guided-grad-cam", "guided-backprop")),
        _winners(grid, "lisa-lights", ("guided-grad-cam", "eigen-grad-cam")),
        _best(grid, "imagenet-s50", "grad-cam", ("vgg16",)),
        _best(grid, "imagenet-s50", "layer-cam", ("resnet50", "resnext50")),
        _worst(grid, "imagenet-s50", (*GRADIENTS[:3], "eigen-cam", "eigen-grad-cam")),
        _old_area(study),
    )


def _last(grid: Grid, dataset: str, named: Sequence[str], models: Sequence[str]) -> Finding:
    claim = f"(a) {dataset}: {_list(named)} have the lowest means on {_list(models)}"
    return _each(grid, dataset, models, claim, lambda means: set(_ranked(means)[-len(named) :]) == set(named))


def _winners(grid: Grid, dataset: str, named: Sequence[str]) -> Finding:
    """Over all networks that were run: the paper names winners of a data set."""
    letter = {"gtsrb-square": "a", "zings": "c", "lisa-lights": "d"}[dataset]
    claim = f"({letter}) {dataset}: {_list(named)} are among the best three, averaged over networks"
    cells = {model: means for (name, model), means in grid.items() if name == dataset}
    if not cells:
        return Finding(claim, NOT_TESTABLE, f"{dataset} was not run")
    everywhere = set.intersection(*(set(cell) for cell in cells.values()))
    means = {method: fmean(cell[method] for cell in cells.values()) for method in sorted(everywhere)}
    held = set(named) <= set(_ranked(means)[:BEST])
    return Finding(claim, HELD if held else NOT_HELD, f"on {_list(list(cells))}: {_best_of(means, named)}")


def _lower_on_scnn(grid: Grid) -> Finding:
    claim = "(b) mean m_GT over the methods is lower on scnn than on every other network"
    averages = {cell: fmean(means.values()) for cell, means in grid.items()}
    datasets = [name for name, model in grid if model == "scnn" and any(n == name and m != "scnn" for n, m in grid)]
    if not datasets:
        return Finding(claim, NOT_TESTABLE, "no data set was run on scnn and on another network")
    lower = {
        name: all(averages[name, "scnn"] < value for (n, m), value in averages.items() if n == name and m != "scnn")
        for name in datasets
    }
    numbers = "; ".join(
        f"{name}: " + ", ".join(f"{m} {value:.3f}" for (n, m), value in averages.items() if n == name)
        for name in datasets
    )
    return Finding(claim, HELD if all(lower.values()) else NOT_HELD, numbers)


def _best(grid: Grid, dataset: str, named: str, models: Sequence[str]) -> Finding:
    claim = f"(e) {dataset}: {named} has the highest mean on {_list(models)}"
    return _each(grid, dataset, models, claim, lambda means: _ranked(means)[0] == named)


def _worst(grid: Grid, dataset: str, named: Sequence[str]) -> Finding:
    claim = f"(e) {dataset}: {_list(named)} have the lowest means"
    models = [model for name, model in grid if name == dataset]
    return _each(grid, dataset, models, claim, lambda means: set(_ranked(means)[-len(named) :]) == set(named))


def _old_area(study: Study) -> Finding:
    """The enlarged square is scored against its old place: maps that follow it find less of that."""
    claim = (
        f"(f) an enlarged square: {_list(KEEPING)} keep to the old area more than the others do "
        "(share of m_GT that is left, the median of each group)"
    )
    numbers, verdicts = [], []
    for variant in study.variants:
        if not {"original", "resized"} <= set(variant.runs):
            continue
        before, after = (_means(variant.runs[name], variant.model, study) for name in ("original", "resized"))
        left = {method: after[method] / mean for method, mean in before.items() if mean > 0 and method in after}
        keeping = [value for method, value in left.items() if method in KEEPING]
        others = [value for method, value in left.items() if method not in KEEPING]
        if keeping and others:
            verdicts.append(median(keeping) > median(others))
            numbers.append(f"{variant.model}: {median(keeping):.2f} against {median(others):.2f}")
    if not verdicts:
        return Finding(claim, NOT_TESTABLE, "gtsrb-square was not run on its variants")
    return Finding(claim, HELD if all(verdicts) else NOT_HELD, "; ".join(numbers))


def _means(run: Path, model: str, study: Study) -> Means:
    (means,) = grid_means((Cell("variant", model, (run,)),), study.methods, study.metric).values()
    return _defined(means)


def _defined(means: Means) -> Means:
    """A method that has no score at all takes no part."""
    return {method: mean for method, mean in means.items() if not isnan(mean)}


def _each(grid: Grid, dataset: str, models: Sequence[str], claim: str, holds: Callable[[Means], bool]) -> Finding:
    """A claim of several networks: held if it is on each of those that were run."""
    cells = {model: grid[dataset, model] for model in models if (dataset, model) in grid}
    if not cells:
        return Finding(claim, NOT_TESTABLE, f"{dataset} was not run on {_list(models, 'or') or 'any network'}")
    numbers = "; ".join(f"{model}: {_ends(means)}" for model, means in cells.items())
    return Finding(claim, HELD if all(map(holds, cells.values())) else NOT_HELD, numbers)


def _ranked(means: Means) -> list[str]:
    """Methods from the highest mean to the lowest."""
    return sorted(means, key=lambda method: -means[method])


def _best_of(means: Means, named: Sequence[str]) -> str:
    best = ", ".join(f"{method} {means[method]:.3f}" for method in _ranked(means)[:BEST])
    others = [method for method in named if method not in _ranked(means)[:BEST]]
    places = [f"{method} {means[method]:.3f}, place {_ranked(means).index(method) + 1}" for method in others]
    return "; ".join([best, *places])


def _ends(means: Means) -> str:
    ranked = _ranked(means)
    shown = [f"{method} {means[method]:.3f}" for method in (*ranked[:2], *ranked[-2:])]
    return f"highest {', '.join(shown[:2])}, lowest {', '.join(shown[2:])}"


def _list(names: Sequence[str], word: str = "and") -> str:
    """Names in words: a, b and c."""
    return f" {word} ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
