"""The board of salgen-bench: a static site of its results, with a page for each method and each family of data."""

import datetime
import io
from collections.abc import Sequence
from html import escape
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
import numpy as np
import pandas as pd
from salgen.datasets.making import make
from salgen.datasets.preview.contact_sheet import contact_sheet
from salgen.evaluation.bench.board_rows import against_floors, groups
from salgen.evaluation.bench.standing import CHOICE, FLOOR, WORSE, Standing, headline, is_floor, read_costs
from salgen.evaluation.bench.worlds import KINDS, WORLDS, ScoredWorld, WorldSpec, read_worlds, world_scores
from salgen.evaluation.leaderboard.index import MARK
from salgen.evaluation.leaderboard.site import INDEX, page_names, site_folder
from salgen.evaluation.report import runs
from salgen.evaluation.report.figures import Chart, bar, mean_dot
from salgen.evaluation.report.formatting import STYLE, page_text
from salgen.evaluation.report.gallery import png_url
from salgen.evaluation.report.page import SCRIPTS
from salgen.evaluation.statistics.mean_intervals import NOTE
from salgen.files import write_text
from salgen.registry import GENERATORS

PICTURES = 4  # images that the page of a family shows
METHODS, DATA = "methods", "data"


def is_results(folder: Path) -> bool:
    """Whether a folder holds results of salgen-bench."""
    return (folder / WORLDS).is_dir()


def board(spec: WorldSpec, results: Path, out: Path) -> Path:
    """Write the site, and return its first page; an existing one is replaced once the new one is complete."""
    worlds, costs = read_worlds(spec, results / WORLDS), read_costs(results)
    metric = spec.metrics[0]
    views = list(groups(worlds, metric, costs))
    floors = pd.concat([against_floors(world, metric) for world in worlds])
    names = sorted(floors["method"].unique())
    release, date = version("salgen"), datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    table = pd.concat([group.rows.assign(kind=group.kind, group=group.title) for group in views])
    common: dict[str, Any] = {
        "spec": spec,
        "metric": metric,
        "pages": dict(zip(names, page_names(names), strict=True)),
        "views": views,
        "first": views[0],
        "worlds": worlds,
        "advice": CHOICE,
        "kinds": KINDS,
    }
    with site_folder(out) as site:
        _write(
            site / INDEX,
            "board.html.j2",
            **common,
            date=date,
            release=release,
            csv=table.to_csv(index=False, float_format="%.6g", lineterminator="\n"),
            bibtex=bibtex(spec, date, release, len(worlds)),
            choices={name: sorted(table[name].unique()) for name in ("family", "cost")},
            figure=standing_figure(views[0].standing),
            by_family=_regrets(spec, worlds),
            by_metric=_by_metric(spec, worlds),
        )
        for method in names:
            own = floors[floors["method"] == method].sort_values("difference", ascending=False)
            _write(
                site / METHODS / common["pages"][method],
                "board_method.html.j2",
                **common,
                method=method,
                rows=[(view, view.standing.table.loc[method]) for view in views if method in view.standing.table.index],
                floors=own,
            )
        for family in dict.fromkeys(world.family for world in worlds):
            of_family = [world for world in worlds if world.family == family]
            _write(
                site / DATA / f"{family}.html",
                "board_data.html.j2",
                **common,
                family=family,
                summary=GENERATORS.entries[of_family[0].recipe.generator].summary,
                own=of_family,
                sheet=_sheet(of_family[0]),
                floors=floors[floors["family"] == family],
            )
    return out / INDEX


def _regrets(spec: WorldSpec, worlds: Sequence[ScoredWorld]) -> pd.DataFrame:
    """The mean regret of each method, the least first, in the worlds of each family."""
    families = dict.fromkeys(world.family for world in worlds)
    by_family = {family: _headline(spec.metrics[0], [w for w in worlds if w.family == family]) for family in families}
    return pd.DataFrame({family: of["regret"] for family, of in by_family.items()})


def _by_metric(spec: WorldSpec, worlds: Sequence[ScoredWorld]) -> pd.DataFrame:
    """The mean regret of each method in a new world by each metric."""
    return pd.DataFrame({metric: _headline(metric, worlds)["regret"] for metric in spec.metrics})


def _headline(metric: str, worlds: Sequence[ScoredWorld]) -> pd.DataFrame:
    scores = world_scores(metric, worlds)
    return headline(scores, [call for call in scores.methods if not is_floor(call)])


def _sheet(world: ScoredWorld) -> str:
    """Some images of a world's data with the outlines of their causes, as a data URL."""
    with TemporaryDirectory() as folder:
        how: dict[str, Any] = {"parameters": world.recipe.parameters, "seed": world.recipe.seed}
        made = make(world.recipe.generator, Path(folder) / "data", splits={"test": PICTURES}, **how)
        content = io.BytesIO()
        contact_sheet(made, count=PICTURES).save(content, "png")
        return png_url(content.getvalue())


def bibtex(spec: WorldSpec, date: str, release: str, worlds: int) -> str:
    """The entry by which a paper cites these results."""
    return f"""@misc{{salgen-bench-2,
  title = {{salgen-bench 2: which saliency methods can be believed?}},
  author = {{{{salgen contributors}}}},
  year = {{{date[:4]}}},
  note = {{Results of {worlds} worlds by salgen {release}, digest {spec.digest[:12]}, page of {date}}}
}}
"""


def _write(path: Path, template: str, **values: Any) -> None:
    folder = Path(__file__).parent
    styles = STYLE, folder.parent / "leaderboard" / "index.css"
    style = "".join(one.read_text(encoding="utf-8") for one in styles)
    path.parent.mkdir(parents=True, exist_ok=True)
    scripts = [STYLE.with_name(name).read_text(encoding="utf-8") for name in SCRIPTS]
    known = {"style": style, "scripts": scripts, "mark": MARK, "interval_note": NOTE}
    write_text(path, page_text([folder], template, **known, **values))


def standing_figure(standing: Standing) -> str:
    """Regret in SVG, the least on top, with its interval; pale if told apart from the first, or a floor."""
    table = standing.table
    pale = (table["verdict"] == WORSE) | (table["role"] == FLOOR)
    labels = [(str(call), runs.FLOOR if is_pale else runs.METHOD) for call, is_pale in pale.items()]
    values = table[["regret", "regret_low", "regret_high"]].to_numpy(float)
    chart = Chart(labels, 0.0, float(np.nanmax(values)), "Regret in a new world", "regret: 0 best", apart=False)
    for number, ((call, role), (mean, low, high)) in enumerate(zip(labels, values, strict=True)):
        y = chart.y(number)
        interval = bar("half", chart.x(low), chart.x(high), y, 7) if np.isfinite(high) else ""
        title = f"<title>{escape(call)}: {mean:.3f}</title>"
        chart.add(f'<g class="{role}">{title}{interval}{mean_dot(chart.x(mean), y)}</g>')
    return chart.svg()
