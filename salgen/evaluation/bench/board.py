"""The board of salgen-bench: a static site of its results, with a page for each method and each data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any
import numpy as np
import pandas as pd
from salgen.evaluation.bench import rankings
from salgen.evaluation.bench.board_rows import against_floors, read_groups
from salgen.evaluation.bench.method_checks import PASSES, THRESHOLD, read_checks
from salgen.evaluation.bench.published import SPEC, open_results, read_summary
from salgen.evaluation.bench.run_entry import run_name
from salgen.evaluation.bench.standing import ALPHA, Standing
from salgen.evaluation.bench.versions import BenchSpec
from salgen.evaluation.leaderboard.index import MARK
from salgen.evaluation.leaderboard.site import INDEX, page_names, site_folder
from salgen.evaluation.report.figures import ROW, Chart, bar, mean_dot
from salgen.evaluation.report.formatting import STYLE, call, page_text
from salgen.evaluation.report.gallery import GALLERY, SATURATED, Gallery, legend_urls, make_gallery, read_gallery
from salgen.evaluation.report.page import SCRIPTS
from salgen.evaluation.report.runs import FLOOR, METHOD
from salgen.evaluation.runs.artifacts.run_record import MethodRecord, RunRecord
from salgen.evaluation.statistics.mean_intervals import NOTE
from salgen.files import write_text
from salgen.parameters import parse_call
from salgen.registry import GENERATORS, METRICS

PICTURED = 8  # methods whose maps a data set's page shows
METHODS, DATA = "methods", "data"


@dataclass(frozen=True)
class NetworkResult:
    """One network on one split of a data set."""

    name: str
    record: RunRecord
    summary: pd.DataFrame

    @property
    def accuracy(self) -> float:
        """The mean over trainings."""
        return float(np.mean([model.accuracy for model in self.record.models]))

    @property
    def certified(self) -> float:
        """The mean share of certified samples; NaN without certificates."""
        return rankings.certified_share(self.record)

    @property
    def exact(self) -> bool:
        """Whether the exact attribution is known."""
        return any(metric.startswith("attribution-") for metric in self.record.metrics)

    def method(self, call: str) -> MethodRecord | None:
        """The record of a method."""
        return next((one for one in self.record.methods if one.call == call), None)

    def mean(self, method: str, metric: str, samples: str = "all") -> Any:
        """The row of the summary, or None."""
        return self._means.get((method, metric, samples))

    @cached_property
    def _means(self) -> dict[tuple[str, str, str], Any]:
        return {(str(row.method), str(row.metric), str(row.samples)): row for row in self.summary.itertuples()}


def is_results(folder: Path) -> bool:
    """Whether a folder holds results of salgen-bench."""
    return any(folder.glob(f"*/{SPEC}"))


def board(spec: BenchSpec, results: Path, out: Path) -> Path:
    """Write the site, and return its first page; an existing one is replaced once the new one is complete."""
    found = [
        NetworkResult(name, open_results(spec, results / name), read_summary(results / name))
        for entry, split in spec.tests
        if (results / (name := run_name(entry, split))).is_dir()
    ]
    groups = list(read_groups(spec, results))
    views = [group for group in groups if group.kind == groups[0].kind]
    names = sorted({method for group in groups for method in group.standing.methods})
    pages = dict(zip(names, page_names(names), strict=True))
    scores = rankings.method_scores(spec, results, rankings.main_entries(spec), metrics=spec.all_metrics)
    scored = {metric for rows in scores.values() for metric in rows["metric"].unique()}
    metrics = [metric for metric in spec.all_metrics if metric in scored]
    checks, meanings = read_checks(spec, results), _meanings(spec)
    floors = against_floors(spec, results)
    main_group = groups[0]
    common: dict[str, Any] = {
        "spec": spec,
        "alpha": ALPHA,
        "pages": pages,
        "headlines": list(spec.headlines.values()),
        "first": main_group,
        "main": [entry.name for entry in rankings.main_entries(spec)],
    }
    date = max(one.record.created for one in found)[:10]
    release = " and ".join(sorted({one.record.versions["salgen"] for one in found}))
    table = pd.concat([group.rows.assign(kind=group.kind, group=group.title) for group in groups])
    with site_folder(out) as site:
        _write(
            site / INDEX,
            "board.html.j2",
            **common,
            results=found,
            groups=groups,
            views=views,
            date=date,
            release=release,
            csv=table.to_csv(index=False, float_format="%.6g", lineterminator="\n"),
            bibtex=bibtex(spec, date, release),
            choices={name: list(dict.fromkeys(table[name])) for name in ("family", "cost")},
            figure=standing_figure(main_group.standing, main_group.datasets, main_group.title),
            by_metric=rankings.standing_by(spec, scores, metrics),
            metrics=metrics,
            agreement=rankings.metric_agreement(scores, metrics),
        )
        for method in names:
            _write(
                site / METHODS / pages[method],
                "board_method.html.j2",
                **common,
                method=method,
                results=[one for one in found if method in set(one.summary["method"])],
                views=[(one, one.standing.methods.index(method)) for one in views if method in one.standing.methods],
                row=next(main_group.rows[main_group.rows["method"] == method].itertuples(), None),
                floors=floors[floors["method"] == method].sort_values("difference", ascending=False),
                record={one.name: one.method(method) for one in found},
                checks=list(checks[checks["subject"] == method].itertuples()),
                meanings=meanings,
            )
        for data in spec.data:
            of_data = [one for one in found if one.record.dataset.name == data.name]
            if of_data:
                gallery = _gallery(results, of_data, main_group.standing.methods)
                page = site / DATA / f"{data.name}.html"
                _write(
                    page,
                    "board_data.html.j2",
                    **common,
                    data=data,
                    results=of_data,
                    gallery=gallery,
                    **_about(data.name, floors),
                )
    return out / INDEX


def _meanings(spec: BenchSpec) -> dict[str, str]:
    """What each measure of the checks is."""
    parameter = spec.checks.dose.partition("=")[0]
    return {
        THRESHOLD: f"The least {parameter} of the cause at which the mean ROC-AUC is halfway from chance to 1.",
        PASSES: "Operations of a map, in those of a forward pass of the network.",
        **{parse_call(name)[0]: METRICS.entries[parse_call(name)[0]].summary for name in spec.checks.metrics},
    }


def _about(name: str, floors: pd.DataFrame) -> dict[str, Any]:
    """What a data set shows, and the methods' differences from its strongest floor, the best first."""
    of_data = floors[floors["dataset"] == name].sort_values("difference", ascending=False)
    return {"summary": GENERATORS.entries[name].summary, "floors": of_data}


def bibtex(spec: BenchSpec, date: str, release: str) -> str:
    """The entry by which a paper cites these results."""
    return f"""@misc{{salgen-bench-{spec.version},
  title = {{salgen-bench {spec.version}: which saliency methods can be believed?}},
  author = {{{{salgen contributors}}}},
  year = {{{date[:4]}}},
  note = {{Results of {date} by salgen {release}, digest {spec.digest[:12]}}}
}}
"""


def _gallery(results: Path, of_data: Sequence[NetworkResult], order: Sequence[str]) -> Gallery | None:
    """Maps of a few images by the methods that stand first, under the first network that has pictures."""
    found = next((one for one in of_data if (results / one.name / GALLERY).is_file()), None)
    if found is None:
        return None
    data = read_gallery(results / found.name / GALLERY)
    columns = [(method, "") for method in order if method in data["methods"].tolist()][:PICTURED]
    return make_gallery(found.name, "training seed 0", data, columns, range(len(data["ids"])))


def _write(path: Path, template: str, **values: Any) -> None:
    folder = Path(__file__).parent
    styles = STYLE, folder.parent / "leaderboard" / "index.css"
    style = "".join(one.read_text(encoding="utf-8") for one in styles)
    path.parent.mkdir(parents=True, exist_ok=True)
    scripts = [STYLE.with_name(name).read_text(encoding="utf-8") for name in SCRIPTS]
    known = {
        "style": style,
        "scripts": scripts,
        "mark": MARK,
        "legend": legend_urls(),
        "saturated": SATURATED,
        "interval_note": NOTE,
    }
    write_text(path, page_text([folder], template, **known, **values))


def standing_figure(standing: Standing, datasets: Sequence[str], title: str) -> str:
    """Methods in SVG, the best on top, with interval, mean, and places on `datasets`; pale if unlike the first."""
    differs = standing.p_values[0] <= ALPHA
    labels = [(call(method), FLOOR if pale else METHOD) for method, pale in zip(standing.methods, differs, strict=True)]
    chart = Chart(labels, 0.0, 1.0, title, "mean place: 0 best, 1 worst", apart=False)
    for number, (label, role) in enumerate(labels):
        mean, low, high = (float(of[number]) for of in (standing.places, standing.low, standing.high))
        y = chart.y(number)
        interval = bar("half", chart.x(low), chart.x(high), y, 7) if np.isfinite(low) else ""
        chart.add(
            f'<g class="{role}"><title>{escape(label)}: {mean:.3f}, {low:.3f} to {high:.3f}</title>{interval}'
            f"{mean_dot(chart.x(mean), y)}</g>"
        )
        for dataset, place in zip(datasets, standing.by_dataset[number].tolist(), strict=True):
            if np.isfinite(place):
                chart.add(
                    f'<circle class="seed {role}" cx="{chart.x(place):.1f}" cy="{y + ROW / 2 - 2:.1f}" r="1.5">'
                    f"<title>{escape(label)} on {escape(dataset)}: {place:.3f}</title></circle>"
                )
    return chart.svg()
