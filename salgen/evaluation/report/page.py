"""The report: one HTML page that holds all it needs, for one run or several."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from salgen.errors import SalgenError
from salgen.evaluation.report.answer import Answer, answers
from salgen.evaluation.report.figures import comparison_figure, distribution_figure, marker
from salgen.evaluation.report.gallery import SATURATED, Gallery, gallery, legend_urls
from salgen.evaluation.report.runs import CEILING, FLOOR, METHOD, Run, content_faults, read_runs
from salgen.evaluation.report.tables import TITLES, MeansTable, means_table
from salgen.evaluation.report.undefined import UndefinedLine, undefined_lines
from salgen.evaluation.statistics import CROSSED_SEEDS, RESAMPLES, accuracy_interval
from salgen.files import write_text

PAGE = "report.html"
TEMPLATE = "page.html.j2"
STYLE = "style.css"


@dataclass(frozen=True)
class Section:
    """The scores of one run and model.

    Attributes
    ----------
    tables
        One for each variant, the headline first.
    by_seed
        The headline variant for each training seed, where there are several.
    figures
        Metric to its distributions, an SVG.
    """

    title: str
    anchor: str
    run: Run
    model: str
    answer: Answer
    tables: list[MeansTable]
    by_seed: list[MeansTable]
    figures: dict[str, str]


@dataclass(frozen=True)
class Comparison:
    """The headline metric on several data sets or models, side by side."""

    metric: str
    names: list[str]
    figure: str
    markers: list[str]


def report(runs: Sequence[Path | str], out: Path | str | None = None) -> Path:
    """Write one page for one run or several, and return its path.

    Parameters
    ----------
    runs
        Run folders.
    out
        The file to write; by default ``report.html`` in the run folder, or for several runs in the
        folder that holds them all.

    Raises
    ------
    SalgenError
        If a file of a run is missing, damaged or incomplete, or `out` cannot be written.
    """
    with content_faults(runs):
        read = read_runs(runs)
        html = render(read)
    path = Path(out) if out is not None else _default_path([run.path for run in read])
    if path.is_dir():
        raise SalgenError(f"{path} is a folder: name the HTML file to write, e.g. {path / PAGE}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, html.strip() + "\n")
    except OSError as error:
        raise SalgenError(f"cannot write {path}: {error.strerror}") from None
    return path


def _default_path(folders: Sequence[Path]) -> Path:
    if len(folders) == 1:
        return folders[0] / PAGE
    return Path(os.path.commonpath([folder.resolve().parent for folder in folders])) / PAGE


def render(runs: Sequence[Run]) -> str:
    """The page as text."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    folder = Path(__file__).parent
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": number, "share": share, "words": words, "duration": duration, "shell": shlex.join}
    sections = [_section(run, model, len(runs)) for run in runs for model in run.model_names]
    return environment.get_template(TEMPLATE).render(
        style=(folder / STYLE).read_text(encoding="utf-8"),
        runs=runs,
        sections=sections,
        comparison=_comparison(sections),
        galleries=_galleries(runs, sections),
        legend=legend_urls(),
        saturated=SATURATED,
        undefined=_undefined(runs),
        accuracy_interval=accuracy_interval,
        titles=TITLES,
        roles={"ceiling": CEILING, "method": METHOD, "floor": FLOOR},
        resamples=RESAMPLES,
        crossed_seeds=CROSSED_SEEDS,
        near_chance=[(run, model) for run in runs for model in run.models if model.near_chance],
    )


def _section(run: Run, model: str, runs: int) -> Section:
    (answer,) = (answer for answer in answers(run) if answer.model == model)
    tables = [means_table(run, model, variant) for variant in run.variants]
    seeds = [str(run.cube.seeds[i]) for i in run.cube.seeds_of(model)]
    by_seed = [means_table(run, model, run.variants[0], seed) for seed in seeds] if len(seeds) > 1 else []
    figures = {metric: distribution_figure(tables[0], metric) for metric in run.metrics}
    title = run.label if len(run.model_names) == 1 else model if runs == 1 else f"{run.label}, {model}"
    anchor = "-".join("".join(c if c.isalnum() else " " for c in f"{run.label} {model}".lower()).split())
    return Section(title, anchor, run, model, answer, tables, by_seed, figures)


def _comparison(sections: Sequence[Section]) -> Comparison | None:
    """The sections side by side, where there are several and they share a headline metric."""
    metrics = {section.answer.metric for section in sections}
    if len(sections) < 2 or len(metrics) > 1:
        return None
    (metric,) = metrics
    names = [section.title for section in sections]
    figure = comparison_figure([section.tables[0] for section in sections], names, metric)
    return Comparison(metric, names, figure, [marker(place, 8, 8) for place in range(len(names))])


def _galleries(runs: Sequence[Run], sections: Sequence[Section]) -> list[Gallery]:
    """A gallery for each run that has one, methods in the order of the first run's table."""
    order = list(dict.fromkeys(line.key[0] for section in sections for line in section.tables[0].lines))
    return [shown for run in runs if (shown := gallery(run, order)) is not None]


def _undefined(runs: Sequence[Run]) -> list[UndefinedLine]:
    return [line for run in runs for line in undefined_lines(run)]


def number(value: float, digits: int = 3) -> str:
    """A number for a table cell, with a true minus sign; a dash where it is undefined."""
    if math.isnan(value):
        return "–"  # noqa: RUF001
    rounded = round(value, digits) + 0.0  # no minus zero
    return f"{rounded:.{digits}f}".replace("-", "\N{MINUS SIGN}")


def share(value: float, digits: int = 1) -> str:
    """A share as a percentage."""
    return "–" if math.isnan(value) else f"{100 * value:.{digits}f}\N{NO-BREAK SPACE}%"  # noqa: RUF001


def words(name: Any) -> str:
    """A name such as ``no_lesions`` as words."""
    return str(name).replace("_", " ")


def duration(seconds: float) -> str:
    """Seconds as a reader says them."""
    if seconds >= 120:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2g} s"
