"""What the tables of Li et al. 2020 say of the methods, put so that a run can answer it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite

from salgen.evaluation.protocols.li2020_tables import CLASSES, IDR, LABELS, MCR, MCS, POINTING, STABILITY
from salgen.evaluation.report.grid import DIGITS
from salgen.evaluation.report.study import HELD, NOT_HELD, NOT_TESTABLE, Finding, Table, TableRow
from salgen.evaluation.report.formatting import and_list, number
from salgen.parameters import parse_call

GUIDED, CAM = "guided-backprop", "grad-cam"
SENSITIVE, BLIND = 0.2, 0.8  # class sensitivity: maps of two classes differ below, and are all but one above

Means = Mapping[str, float]


def findings(contrasts: Table, others: Table) -> tuple[Finding, ...]:
    """Six claims, each with what the tables of this study say of it."""
    return (
        _each(contrasts, MCS, "has the highest MCS", CAM, max),
        _each(contrasts, MCR, "has the highest MCR", "contrastive-excitation-backprop", max),
        _each(contrasts, IDR, "has the lowest IDR", "gradient", min),
        _top(others, POINTING, (CAM, "rise")),
        _classes(others),
        _each(others, STABILITY, "is the most stable", "rise", min),
    )


def _each(table: Table, metric: str, what: str, method: str, extreme: Callable[[Sequence[float]], float]) -> Finding:
    """A method has the extreme of a metric in each row of it."""
    verdicts, numbers = [], []
    for row in _rows(table, metric):
        means = _printed(row)
        best = extreme(list(means.values())) if means else float("nan")
        winners = [name for name, mean in means.items() if mean == best]
        testable = method in means and len(means) > 1 and not (method in winners and len(winners) > 1)
        verdicts.append(NOT_TESTABLE if not testable else HELD if winners == [method] else NOT_HELD)
        beside = "" if winners == [method] else f", {_of(means, method)}"
        numbers.append(f"{row.label}: {and_list(winners) or 'no method'} at {number(best)}{beside}")
    return Finding(f"{method} {what}", _together(verdicts), "; ".join(numbers))


def _top(table: Table, metric: str, methods: Sequence[str]) -> Finding:
    """Methods are above all others."""
    (row,) = _rows(table, metric)
    means = _printed(row)
    inside = [means[name] for name in methods if name in means]
    outside = [mean for name, mean in means.items() if name not in methods]
    known = len(inside) == len(methods) and outside
    verdict = NOT_TESTABLE if not known or min(inside) == max(outside) else _held(min(inside) > max(outside))
    numbers = ", ".join(f"{name} {number(mean)}" for name, mean in sorted(means.items(), key=lambda one: -one[1]))
    return Finding(f"{and_list(methods)} have the highest {LABELS[metric][0]}", verdict, numbers)


def _classes(table: Table) -> Finding:
    """Guided backprop explains every class alike, Grad-CAM does not."""
    (row,) = _rows(table, CLASSES)
    means = _printed(row)
    claim = (
        f"{GUIDED} hardly depends on the class (CS above {BLIND:g}), and {CAM} does (between -{SENSITIVE:g} and "
        f"{SENSITIVE:g})"
    )
    if GUIDED not in means or CAM not in means:
        return Finding(claim, NOT_TESTABLE, "one of them has no score")
    held = means[GUIDED] > BLIND and abs(means[CAM]) < SENSITIVE
    return Finding(claim, _held(held), f"{_of(means, GUIDED)}, {_of(means, CAM)}")


def _rows(table: Table, metric: str) -> list[TableRow]:
    label = LABELS[metric][0]
    return [row for row in table.rows if row.label == label or row.label.startswith(f"{label}, ")]


def _printed(row: TableRow) -> dict[str, float]:
    """Method to its mean as the table prints it, so that a finding never contradicts the table."""
    return {parse_call(call)[0]: round(mean, DIGITS) for call, mean in row.means.items() if isfinite(mean)}


def _of(means: Means, method: str) -> str:
    return f"{method} {number(means[method])}" if method in means else f"{method} has no score"


def _held(claim: bool) -> str:
    return HELD if claim else NOT_HELD


def _together(verdicts: Sequence[str]) -> str:
    if not verdicts or NOT_TESTABLE in verdicts:
        return NOT_TESTABLE
    return _held(NOT_HELD not in verdicts)
