"""A finished run as an object: its tables as data frames, its tests, maps, plots and page."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from html import escape
from itertools import count, takewhile
from pathlib import Path
from textwrap import fill
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
import numpy as np
import pandas as pd
from salgen.errors import SalgenError, unknown_name, warn
from salgen.evaluation.attribution.reductions import SIGNED
from salgen.evaluation.choosing.judges import from_few
from salgen.evaluation.choosing.recommendation import MASKS_MARK_OBJECTS, Recommendation, wrong_class
from salgen.evaluation.choosing.regret import covariance_of
from salgen.evaluation.metrics.inputs.metric_inputs import MapKind
from salgen.evaluation.report.console import accuracy_line, answer, no_verdict
from salgen.evaluation.report.figures import save_figure
from salgen.evaluation.report.page import report
from salgen.evaluation.report.reliance import reliance_lines
from salgen.evaluation.report.runs import CEILING, FLOOR, METHOD, LoadedRun, read_runs
from salgen.evaluation.report.tables import means_table
from salgen.evaluation.report.verdicts import Verdict, verdict
from salgen.evaluation.runs.artifacts.certificate_table import CERTIFICATES, COMPOSITES
from salgen.evaluation.runs.artifacts.predictions import FILE as PREDICTIONS
from salgen.evaluation.runs.artifacts.run_record import RECORD, RunRecord
from salgen.evaluation.runs.artifacts.saved_maps import SavedMaps, check_maps, maps_name, read_maps
from salgen.evaluation.statistics.comparison_groups import Key
from salgen.evaluation.statistics.comparisons import COMPARISONS, Comparison
from salgen.evaluation.statistics.score_cube import ALL, SCORES, SUBSETS
from salgen.evaluation.statistics.summary import SUMMARY
from salgen.files import FORMULA, read_csv
from salgen.types import SaliencyMap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTHS = 3.3, 6.9  # inches of a column and of a page of a paper
LETTERS = 14  # letters of a plot's title that fit into an inch
MARKS = (
    "★ best mean, ≈ not significantly different from a best one, ▽ not significantly better than the strongest floor"
)
COLOURS = {METHOD: "tab:blue", FLOOR: "0.6", CEILING: "tab:green"}  # a plot's


class Run(os.PathLike[str]):
    """A run folder, whose files are read as they are asked for; whatever takes the folder's path takes a `Run` too.

    Parameters
    ----------
    path
        A folder that :func:`salgen.evaluate` wrote.

    Raises
    ------
    SalgenError
        If it is none, or its record is damaged.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.record = RunRecord.read(self.path / RECORD)

    def __fspath__(self) -> str:
        return str(self.path)

    def __truediv__(self, name: str) -> Path:
        """A file of the folder."""
        return self.path / name

    def __repr__(self) -> str:
        models = ", ".join(dict.fromkeys(model.name for model in self.record.models))
        return (
            f"Run({str(self.path)!r}: {self.record.dataset.name}, {models}, {len(self.record.methods)} methods, "
            f"{len(self.record.metrics)} metrics, {self.record.samples['with_mask']} samples)"
        )

    def __str__(self) -> str:
        """The answer: accuracy, certified share, the best methods and those that beat the floors; and the folder."""
        lines = [line for model in self._tables.model_names for line in answer(self._tables, model)]
        return "\n".join([*lines, f"run folder: {self.path} (means: run.means, page: run.report())"])

    def __format__(self, spec: str) -> str:
        return format(str(self.path), spec)

    def _repr_html_(self) -> str:
        """Accuracies, and means with marks in the order of the page, for a notebook."""
        tables, parts = self._tables, []
        for model in tables.model_names:
            table = means_table(tables, model, tables.variants[0], tables.metrics)
            shown = {
                line.label: {metric: _marked(line.cells[metric]) for metric in table.metrics} for line in table.lines
            }
            parts.append(f"<p>{escape(accuracy_line(tables, model))}</p>")
            parts.append(str(pd.DataFrame.from_dict(shown, orient="index").to_html()))
        return "".join(parts) + f"<p>{MARKS}</p>"

    @cached_property
    def scores(self) -> pd.DataFrame:
        """A row for each method, sample, training, metric and region, as in ``scores.parquet``; see docs/columns.md."""
        return pd.read_parquet(self / SCORES, partitioning=None)

    @cached_property
    def summary(self) -> pd.DataFrame:
        """Means, intervals and counts for each method, training, metric, region and subset, as in ``summary.csv``."""
        return self._csv(SUMMARY)

    @cached_property
    def comparisons(self) -> pd.DataFrame:
        """The tests of all pairs of methods, as in ``comparisons.csv``."""
        return self._csv(COMPARISONS)

    @cached_property
    def predictions(self) -> pd.DataFrame:
        """Each model's probabilities for each sample of the split, as in ``predictions.parquet``."""
        return pd.read_parquet(self / PREDICTIONS, partitioning=None)

    @cached_property
    def certificates(self) -> pd.DataFrame:
        """Whether a model relies on the feature, for each scored sample, as in ``certificates.parquet``.

        Raises
        ------
        SalgenError
            If the samples could not be rendered again.
        """
        if not (self / CERTIFICATES).is_file():
            raise SalgenError(f"{self.path} has no certificates: {self.record.certificates.reason}")
        return pd.read_parquet(self / CERTIFICATES, partitioning=None)

    @cached_property
    def composites(self) -> pd.DataFrame:
        """Composite evidence about each photograph by each filling, as in ``composites.parquet``; see docs/reliance.md.

        Raises
        ------
        SalgenError
            If the run has none: images can be drawn again, or are fewer than five.
        """
        if not (self / COMPOSITES).is_file():
            raise SalgenError(f"{self.path} has no composite evidence: it is for imported images, five or more")
        return pd.read_parquet(self / COMPOSITES, partitioning=None)

    @property
    def left_out(self) -> dict[str, str]:
        """Methods that are not defined for the model, or failed, with the reasons."""
        return self.record.left_out

    @property
    def means(self) -> pd.DataFrame:
        """The mean of each method (rows, by model where there are several) under each metric, over all trainings.

        Each metric is taken in the headline region, or in the whole image where it is scored in that alone.
        """
        tables, rows = self._tables, {}
        for model in tables.model_names:
            for key in tables.keys(model):
                found = {metric: tables.row(model, key, metric, tables.variant_of(metric)) for metric in tables.metrics}
                means = {metric: row.mean if row else np.nan for metric, row in found.items()}
                rows[(model, key[0]) if len(tables.model_names) > 1 else key[0]] = means
        return pd.DataFrame.from_dict(rows, orient="index")

    def best(
        self, metric: str | None = None, *, variant: str | None = None, samples: str = ALL, model: str | None = None
    ) -> list[str]:
        """The methods with the best mean, and after them those that no test tells apart from one of these.

        Empty, with a warning that says why, where no method can be judged: the model has not learnt the task, or
        mostly uses something else than the feature.

        Parameters
        ----------
        metric
            The headline's by default.
        variant
            The region, such as ``"region:brain"`` or ``"whole image"``, as the column of that name has it; the
            headline's by default.
        samples
            ``"all"``, ``"correct"`` or ``"certified"`` ones.
        model
            The model's name, where the run has several.

        Raises
        ------
        SalgenError
            If a name is unknown.
        """
        outcome = self._verdict(metric, variant, samples, model)
        if reason := no_verdict(self._tables, outcome.model):
            warn(f"{self.path}: {reason}")
            return []
        return outcome.labels([*outcome.winners, *outcome.tied])

    def compare(
        self,
        first: str,
        second: str,
        metric: str | None = None,
        *,
        variant: str | None = None,
        samples: str = ALL,
        model: str | None = None,
    ) -> Comparison:
        """The test of two methods: the mean difference `first` less `second`, its effect size and p values.

        A method may be named without its parameters where the run has it once. Other parameters are those of
        :meth:`best`; p values are corrected for all pairs of the run's methods and floors.

        Raises
        ------
        SalgenError
            If a name is unknown, or the two are not among the methods and floors that were tested.
        """
        outcome = self._verdict(metric, variant, samples, model)
        keys = self._key(outcome.model, first), self._key(outcome.model, second)
        test = outcome.test(*keys)
        if test is None:
            raise SalgenError(f"{first} and {second} are not compared: name two methods or floors that have values")
        return test

    def choose(
        self, metric: str = "average-precision", *, model: str | None = None, seed: int | None = None
    ) -> Recommendation:
        """The method for one trained network of the run, by the scores that the run has; see :func:`salgen.choose`.

        Parameters
        ----------
        metric
            One that :func:`salgen.choose` takes and the run has.
        model, seed
            The model and its training seed, where the run has several; the first one by default.

        Raises
        ------
        SalgenError
            If a name is unknown, or the run lacks the metric.
        """
        name, tables = self._model(model), self._tables
        trained = self._seed(name, seed)
        covariance_of(_one_of(f"metric of {self.path}", metric, tables.metrics), [])
        rows = self.scores
        rows = rows[(rows["model"] == name) & (rows["training_seed"] == trained) & (rows["metric"] == metric)]
        rows = rows[(rows["variant"] == tables.variant_of(metric)) & rows["value_worst_case"].notna()]
        rows = rows[rows["method"].map(tables.role) != CEILING]
        by_cluster = rows.groupby(["cluster", "method"])["value_worst_case"].mean().unstack().dropna()
        if by_cluster.empty:
            raise SalgenError(f"{self.path} has no image that every method has a value of {metric} for")
        scores = {str(call): list(values) for call, values in by_cluster.items()}
        correct = rows.drop_duplicates("sample_id")["correct"]
        wrong = 0 if self.record.conventions.get("target") == "pred" else int((~correct).sum())
        notes = [
            f"The network relies on the mask for {line['coverage']:.0%} of the images."
            for line in reliance_lines(tables)
            if (line["name"], line["seed"]) == (name, trained)
        ]
        if unfit := no_verdict(tables, name):
            notes = [f"Do not believe it yet: {unfit}."]
        return Recommendation.of(
            scores,
            from_few(metric, scores),
            [call for call in scores if tables.role(call) == FLOOR],
            images=dict(rows.groupby("method")["sample_id"].nunique()),
            seconds={entry.call: entry.seconds / max(1, entry.maps) for entry in self.record.methods},
            notes=[*(notes or [MASKS_MARK_OBJECTS]), *wrong_class(wrong, len(correct))],
            left_out=self.left_out,
            metric=metric,
        )

    def maps(self, method: str, *, model: str | None = None, seed: int | None = None) -> SaliencyMap:
        """The maps of the scored samples by one method, values float32 (N, H, W); the run must have kept them.

        Parameters
        ----------
        method
            As the tables name it; its parameters may be left out where the run has it once.
        model, seed
            The model and its training seed, where the run has several; the first one by default.

        Raises
        ------
        SalgenError
            If a name is unknown, or the run did not keep maps (``keep_maps=True``).
        """
        name = self._model(model)
        methods = {entry.call: entry for entry in self.record.methods}
        method = self._method(method, list(methods))
        parts = list(self._saved(name, self._seed(name, seed), method))
        if not parts:
            raise SalgenError(f"{self.path} holds no maps of {method}: evaluate with keep_maps=True (--keep-maps)")
        return SaliencyMap(
            values=np.concatenate([part.values for part in parts]),
            method=method,
            reduction=parts[0].reduction,
            signed=methods[method].signed and parts[0].reduction in SIGNED,
            native_resolution=parts[0].native_resolution,
            score=str(self.record.conventions.get("score", "logit")),
            seed=int(self.record.conventions.get("seed", 0)),
            ids=tuple(name for part in parts for name in part.ids),
        )

    def plot(
        self,
        metric: str | None = None,
        *,
        variant: str | None = None,
        samples: str = ALL,
        model: str | None = None,
        width: float = WIDTHS[1],
        ax: Axes | None = None,
    ) -> Axes:
        """The methods' means and 95 % intervals on matplotlib axes, the best on top.

        Parameters
        ----------
        metric, variant, samples, model
            As of :meth:`best`.
        width
            Inches: 3.3 for a column of a paper, 6.9 for the page.
        ax
            Draw on these instead, whatever their width.
        """
        import matplotlib.pyplot as plt
        from matplotlib.lines import Line2D

        outcome, run = self._verdict(metric, variant, samples, model), self._tables
        rows = {key: row for key in run.keys(outcome.model) if (row := outcome.row(key)) and not np.isnan(row.mean)}
        sign = 1.0 if run.higher_is_better[outcome.metric] else -1.0
        ordered = sorted(rows, key=lambda key: sign * rows[key].mean)
        worse = set() if outcome.powerless else {key for key in outcome.rivals if key not in outcome.tied}
        legend, own = {}, ax is None
        if ax is None:
            _, ax = plt.subplots(figsize=(width, 1.4 + 0.24 * len(ordered)), layout="constrained")
        for place, key in enumerate(ordered):
            row, role = rows[key], run.role(key[0])
            inside = "white" if key in worse else COLOURS[role]
            style: dict[str, Any] = {"color": COLOURS[role], "markerfacecolor": inside}
            ax.plot([row.ci_low, row.ci_high], [place, place], color=COLOURS[role], linewidth=1.5)
            ax.plot(row.mean, place, "o", markersize=5, **style)
            name = f"{role}, significantly worse than the best" if key in worse else role
            legend[name] = Line2D([], [], marker="o", markersize=5, **style)
        ax.set_yticks(range(len(ordered)), outcome.labels(ordered), fontsize=8)
        title = f"{run.label}, {outcome.model}: {outcome.sampled}, {outcome.subject}"
        drawn = float(ax.figure.get_figure(root=True).get_size_inches()[0])
        letters = int(LETTERS * drawn)
        ax.set_title(fill(title, letters), fontsize=9, loc="right")
        axis = f"mean {outcome.metric} with 95 % interval, {outcome.variant}"
        ax.set_xlabel(fill(axis, letters), fontsize=8, loc="right")
        where, loc = (ax.figure, "outside lower right") if own else (ax, "best")
        where.legend([*legend.values()][::-1], [*legend][::-1], loc=loc, fontsize=8, frameon=False)
        ax.tick_params(axis="x", labelsize=8)
        ax.grid(axis="x", color="0.9")
        ax.set_axisbelow(True)
        return ax

    def save_plot(
        self,
        path: str | os.PathLike[str],
        metric: str | None = None,
        *,
        variant: str | None = None,
        samples: str = ALL,
        model: str | None = None,
        width: float = WIDTHS[1],
    ) -> Path:
        """Write :meth:`plot` as PNG, SVG or PDF, with embedded TrueType fonts, and return the path.

        Parameters
        ----------
        path
            The file, whose ending says the form.
        metric, variant, samples, model, width
            As of :meth:`plot`.
        """
        import matplotlib.pyplot as plt

        figure = self.plot(metric, variant=variant, samples=samples, model=model, width=width).figure
        try:
            save_figure(figure.get_figure(root=True), Path(path))
        finally:
            plt.close(figure.get_figure(root=True))
        return Path(path)

    def report(self, out: str | os.PathLike[str] | None = None) -> Path:
        """Write the page, ``report.html`` in the folder by default, and return its path."""
        return report([self.path], Path(out) if out is not None else None)

    @cached_property
    def _tables(self) -> LoadedRun:
        (tables,) = read_runs([self.path])
        return tables

    def _csv(self, name: str) -> pd.DataFrame:
        table = read_csv(self / name, dtype={"training_seed": str})
        return table.replace(f"^'(?=[{re.escape(FORMULA)}])", "", regex=True)  # as `csv_cell` wrote it

    def _saved(self, model: str, seed: int, method: str) -> Iterator[SavedMaps]:
        names = (maps_name(model, seed, method, MapKind.SAMPLES, number) for number in count())
        for name in takewhile(self.record.maps.__contains__, names):
            check_maps(self.path, name, self.record.maps)
            yield read_maps(self / name)

    def _model(self, model: str | None) -> str:
        names = self._tables.model_names
        if model is None and len(names) > 1:
            raise SalgenError(f"{self.path} has several models: give model=, one of {', '.join(names)}")
        return names[0] if model is None else _one_of(f"model of {self.path}", model, names)

    def _seed(self, model: str, seed: int | None) -> int:
        seeds = [trained.seed for trained in self.record.models if trained.name == model]
        if seed is not None and seed not in seeds:
            raise unknown_name(f"training seed of {self.path}", str(seed), list(map(str, seeds)))
        return seeds[0] if seed is None else seed

    def _key(self, model: str, method: str) -> Key:
        keys = {key[0]: key for key in self._tables.keys(model)}
        return keys[self._method(method, list(keys))]

    def _method(self, name: str, known: Sequence[str]) -> str:
        """A method's name in the tables, which may be given without its parameters where they leave no choice."""
        alike = [name] if name in known else [call for call in known if call.partition(":")[0] == name]
        if len(alike) > 1:
            raise SalgenError(f"{self.path} has {name} several times: give one of {'; '.join(alike)}")
        return alike[0] if alike else _one_of(f"method of {self.path}", name, known)

    def _verdict(self, metric: str | None, variant: str | None, samples: str, model: str | None) -> Verdict:
        tables, name = self._tables, self._model(model)
        chosen = tables.headline if metric is None else _one_of(f"metric of {self.path}", metric, tables.metrics)
        if chosen is None:
            raise SalgenError(f"{self.path} has no metric that ranks maps: give metric=, one of {tables.metrics}")
        scored = [known for known in tables.variants if tables.has(chosen, known)]
        if variant is not None:
            _one_of(f"variant of {chosen}", variant, scored)
        return verdict(tables, name, chosen, _one_of("samples", samples, SUBSETS), variant)


def _marked(cell: SimpleNamespace) -> str:
    """A mean with its marks, as the page has it."""
    marks = ("▽" if cell.below_floor else "") + ("★" if cell.best else "≈" if cell.tied else "")
    return "" if cell.row is None or np.isnan(cell.row.mean) else f"{cell.row.mean:.3f} {marks}".rstrip()


def _one_of(kind: str, name: str, known: Sequence[str]) -> str:
    if name not in known:
        raise unknown_name(kind, name, known)
    return name
