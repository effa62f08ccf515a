"""What Szczepankiewicz et al. 2023 say of the methods, put so that a run can answer it.

Each claim is an order of mean m_GT. Whether it holds here is a finding, not a test: the images may be
stand-ins, and the networks are trained anew. Means are compared as the grid prints them, so that a claim
never contradicts the table beside it; what is equal there is a tie.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from statistics import fmean, median

from salgen.evaluation.report.grid import DIGITS, MARKED, grid_means
from salgen.evaluation.report.study import HELD, NOT_HELD, NOT_TESTABLE, Cell, Finding, Study, Variants
from salgen.evaluation.report.formatting import and_list

GRADIENTS = ("gradient", "smoothgrad", "guided-backprop", "guided-grad-cam")
KEEPING = (*GRADIENTS, "layer-cam", "eigen-grad-cam")
IN_WORDS = {HELD: "holds", NOT_HELD: "does not hold", NOT_TESTABLE: "cannot be told"}

Means = Mapping[str, float]
Networks = Mapping[str, Means]
Grid = Mapping[str, Networks]
Said = tuple[str, str]  # a verdict, and the numbers behind it
Judge = Callable[[Means, Sequence[str]], Said]  # of printed means, and the methods that a claim names


def findings(study: Study) -> tuple[Finding, ...]:
    """The claims (a) to (f) with what the runs of a study say of them.

    Held where the claim is true of every network that it names, not held where it is false of one; where a
    network was not run, a named method has no score, or a tie leaves the order open, it is not testable.
    """
    grid = _read(study)
    return (
        _lowest(grid, "a", "gtsrb-square", ("fast-cam", "fast-cam++"), ("resnet50", "vgg16")),
        _winners(grid, "a", "gtsrb-square", ("eigen-grad-cam", "guided-grad-cam")),
        _lower_on_scnn(grid),
        _winners(grid, "c", "zings", ("gradient", "guided-grad-cam", "guided-backprop")),
        _winners(grid, "d", "lisa-lights", ("guided-grad-cam", "eigen-grad-cam")),
        _best(grid, "e", "imagenet-s50", "grad-cam", ("vgg16",)),
        _best(grid, "e", "imagenet-s50", "layer-cam", ("resnet50", "resnext50")),
        _lowest(grid, "e", "imagenet-s50", (*GRADIENTS[:3], "eigen-cam", "eigen-grad-cam")),
        _old_area(study),
    )


def _lowest(grid: Grid, letter: str, dataset: str, named: Sequence[str], models: Sequence[str] = ()) -> Finding:
    """On the networks that the paper names, or else on every one."""
    claim = (
        f"({letter}) {dataset}: {and_list(named)} have the lowest means on {and_list(models) or 'every network run'}"
    )
    return _each(grid, claim, dataset, models, named, _below_the_others)


def _best(grid: Grid, letter: str, dataset: str, named: str, models: Sequence[str]) -> Finding:
    claim = f"({letter}) {dataset}: {named} has the highest mean on {and_list(models)}"
    return _each(grid, claim, dataset, models, (named,), _first)


def _winners(grid: Grid, letter: str, dataset: str, named: Sequence[str]) -> Finding:
    """Over all networks that were run: the paper names winners of a data set."""
    claim = f"({letter}) {dataset}: {and_list(named)} are among the best three, averaged over the networks run"
    networks = _scored(grid, dataset)
    said = [(NOT_TESTABLE, gap) for model, means in networks.items() if (gap := _gap(model, means, named))]
    if networks and not said:
        average = {method: fmean(means[method] for means in networks.values()) for method in _shared(networks)}
        said = [_on(and_list(list(networks)), average, named, _among_the_best)]
    return _together(claim, said, f"no network has a score on {dataset}")


def _lower_on_scnn(grid: Grid) -> Finding:
    claim = "(b) mean m_GT over the methods is lower on scnn than on every other network run"
    there = {dataset: _scored(grid, dataset) for dataset in grid}
    said = [_scnn(name, networks) for name, networks in there.items() if "scnn" in networks and len(networks) > 1]
    return _together(claim, said, "no data set has scores on scnn and on another network")


def _scnn(dataset: str, networks: Networks) -> Said:
    """Over the methods that every network has, so that none gains by a method that another lacks."""
    methods = _shared(networks)
    if not methods:
        return NOT_TESTABLE, f"{dataset}: no method has a score on each of {and_list(list(networks))}"
    means = _printed({model: fmean(cell[method] for method in methods) for model, cell in networks.items()})
    numbers = ", ".join(f"{model} {mean:.{DIGITS}f}" for model, mean in means.items())
    others = [mean for model, mean in means.items() if model != "scnn"]
    return _below(means["scnn"], min(others), f"{dataset}: {numbers} (methods that all have: {len(methods)})")


def _old_area(study: Study) -> Finding:
    """The enlarged square is scored against its old place: maps that follow it find less of that."""
    claim = (
        f"(f) an enlarged square: {and_list(KEEPING)} keep to the old area more than the others do "
        "(share of m_GT that is left, the median of each group)"
    )
    said = [_kept(variants, study) for variants in study.variants if {"original", "resized"} <= set(variants.runs)]
    return _together(claim, said, "gtsrb-square was not run on its variants")


def _kept(variants: Variants, study: Study) -> Said:
    """A method that finds nothing of the original square has no share to keep, and takes no part."""
    cells = [Cell(name, variants.model, (variants.runs[name],)) for name in ("original", "resized")]
    before, after = map(_defined, grid_means(cells, study.methods, study.metric).values())
    left = {m: after[m] / before[m] for m, mean in _printed(before).items() if mean > 0 and m in after}
    keeping = [share for method, share in left.items() if method in KEEPING]
    others = [share for method, share in left.items() if method not in KEEPING]
    if not (keeping and others):
        return NOT_TESTABLE, f"{variants.model}: methods with a share: {len(keeping)} named, {len(others)} others"
    named, rest = round(median(keeping), DIGITS), round(median(others), DIGITS)
    numbers = f"{named:.{DIGITS}f} ({len(keeping)} named methods) against {rest:.{DIGITS}f} ({len(others)} others)"
    return _below(rest, named, f"{variants.model}: {numbers}")


def _each(grid: Grid, claim: str, dataset: str, models: Sequence[str], named: Sequence[str], judge: Judge) -> Finding:
    """On each network by itself: those that are named, or else those that were scored."""
    networks = grid.get(dataset, {}) if models else _scored(grid, dataset)
    said = [_on(model, networks.get(model), named, judge) for model in models or networks]
    return _together(claim, said, f"no network has a score on {dataset}")


def _on(where: str, means: Means | None, named: Sequence[str], judge: Judge) -> Said:
    if means is None:
        return NOT_TESTABLE, f"{where} was not run"
    if gap := _gap(where, means, named):
        return NOT_TESTABLE, gap
    verdict, numbers = judge(_printed(means), named)
    return verdict, f"{IN_WORDS[verdict]} on {where} ({numbers})"


def _together(claim: str, said: Sequence[Said], nothing: str) -> Finding:
    """One verdict of several: one that fails is enough to fail, and all must hold to hold."""
    verdicts = [verdict for verdict, _ in said]
    chosen = next((verdict for verdict in (NOT_HELD, NOT_TESTABLE, HELD) if verdict in verdicts), NOT_TESTABLE)
    return Finding(claim, chosen, "; ".join(numbers for _, numbers in said) or nothing)


def _gap(where: str, means: Means, named: Sequence[str]) -> str:
    """Why a claim about the named methods cannot be judged; empty if it can be."""
    missing = [method for method in named if method not in means]
    if missing:
        return f"{and_list(missing)} {'has' if len(missing) == 1 else 'have'} no score on {where}"
    return "" if len(means) > len(named) else f"no other method has a score on {where}"


def _below_the_others(means: Means, named: Sequence[str]) -> Said:
    top = max(named, key=means.__getitem__)
    least = min((method for method in means if method not in named), key=means.__getitem__)
    numbers = f"highest of them {top} {means[top]:.{DIGITS}f}, lowest other {least} {means[least]:.{DIGITS}f}"
    return _below(means[top], means[least], numbers)


def _first(means: Means, named: Sequence[str]) -> Said:
    (method,) = named
    tied = [other for other in means if other != method and means[other] == means[method]]
    numbers = _places(means, named) + (f"; tied with {and_list(tied)}" if tied else "")
    return HELD if _place(means, method) == 1 else NOT_HELD, numbers


def _among_the_best(means: Means, named: Sequence[str]) -> Said:
    held = all(_place(means, method) <= MARKED for method in named)
    return HELD if held else NOT_HELD, _places(means, named)


def _below(low: float, high: float, numbers: str) -> Said:
    if low == high:
        return NOT_TESTABLE, f"{numbers}: tied"
    return HELD if low < high else NOT_HELD, numbers


def _read(study: Study) -> Grid:
    """Data set to network to method to mean."""
    grid: dict[str, dict[str, Means]] = {}
    for (dataset, model), means in grid_means(study.cells, study.methods, study.metric).items():
        grid.setdefault(dataset, {})[model] = _defined(means)
    return grid


def _scored(grid: Grid, dataset: str) -> Networks:
    """The networks on which any method has a score."""
    return {model: means for model, means in grid.get(dataset, {}).items() if means}


def _defined(means: Means) -> Means:
    return {method: mean for method, mean in means.items() if isfinite(mean)}


def _shared(networks: Networks) -> list[str]:
    """The methods that have a score on every network."""
    first, *others = networks.values()
    return [method for method in first if all(method in means for means in others)]


def _printed(means: Means) -> Means:
    """As the grid shows them: what is equal here is a tie."""
    return {name: round(mean, DIGITS) for name, mean in means.items()}


def _place(means: Means, method: str) -> int:
    """One more than those before it, as the grid marks them: ties share a place."""
    return 1 + sum(other > means[method] for other in means.values())


def _places(means: Means, named: Sequence[str]) -> str:
    """The best and the named methods with their means and places."""
    places = {method: _place(means, method) for method in sorted(means, key=lambda method: -means[method])}
    shown = {method: place for method, place in places.items() if place <= MARKED or method in named}
    return ", ".join(f"{method} {means[method]:.{DIGITS}f} at place {place}" for method, place in shown.items())
