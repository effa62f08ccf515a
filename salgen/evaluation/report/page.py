"""The report: one self-contained HTML page for one run or several."""

import inspect
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from salgen.errors import SalgenError
from salgen.evaluation.diagnostics.clever_hans import FAITHFULNESS, LOCALIZATION, Thresholds
from salgen.evaluation.reliance.certificate_rule import TOLERATED, most_faulty
from salgen.evaluation.report import gallery, headline, reliance, sections
from salgen.evaluation.report.curves import COLOURS
from salgen.evaluation.report.figures import box_figures
from salgen.evaluation.report.formatting import STYLE, and_list, page_text, templates
from salgen.evaluation.report.grid import CEILING_CALL, CONTROLS, GRID, grid_csv, read_grid
from salgen.evaluation.report.runs import LoadedRun, of_all_images, read_runs
from salgen.evaluation.report.study import Study
from salgen.evaluation.report.study_pictures import image_grid, variants_figure
from salgen.evaluation.report.tables import TITLES, has_ceiling
from salgen.evaluation.report.undefined import undefined_lines
from salgen.evaluation.runs.artifacts.run_record import content_faults, in_groups
from salgen.evaluation.scoring.metric_selection import create_metric
from salgen.evaluation.statistics.mean_intervals import DRAWS, LEAST_TRAININGS, NOTE
from salgen.evaluation.statistics.permutation import ALPHA
from salgen.files import write_text
from salgen.sources import OWN_COPY

PAGE = "report.html"
SAVE = "save.js"
SCRIPTS = ("page.js", SAVE)
NAMED = 4  # most classes that a sentence lists


def report(runs: Sequence[Path | str], out: Path | str | None = None, study: Study | None = None) -> Path:
    """Write one page for one run or several, and return its path.

    Parameters
    ----------
    runs
        Run folders.
    out
        The file to write; by default ``report.html`` in the run folder, or for several runs or a published one in
        the folder that contains them all.
    study
        Tables and figures at the top of the page; its means are also written to ``grid.csv`` beside it.

    Raises
    ------
    SalgenError
        If a file of a run is missing, damaged or incomplete, or `out` cannot be written.
    """
    with content_faults(runs):
        loaded = read_runs(runs)
        section = study_section(study, loaded) if study is not None else None
        html = render(loaded, section)
    from salgen.datasets.format.output_folder import check_outside  # takes pyarrow, which protocols go without

    path = Path(out) if out is not None else _default_path([run.path for run in loaded])
    check_outside(path, in_a_run=True)
    if path.is_dir():
        raise SalgenError(f"{path} is a folder: name the HTML file to write, e.g. {path / PAGE}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, html)
        if section is not None and study is not None and study.cells:
            write_text(path.parent / GRID, grid_csv(section["grid"]))
    except OSError as error:
        raise SalgenError(f"cannot write {path}: {error.strerror}") from None
    return path


def _default_path(folders: Sequence[Path]) -> Path:
    from salgen.datasets.format.checksums import FILE

    if len(folders) == 1 and not (folders[0] / FILE).is_file():
        return folders[0] / PAGE
    return Path(os.path.commonpath([folder.resolve().parent for folder in folders])) / PAGE


def study_section(study: Study, loaded: Sequence[LoadedRun]) -> dict[str, Any]:
    """The tables and figures of a study, whose runs are read unless they are among those already `loaded`."""
    grid = read_grid(study.cells, study.methods, study.metric, loaded)
    return {
        "study": study,
        "grid": grid,
        "boxes": box_figures(grid),
        "pictures": [image_grid(row, study.methods) for row in grid.rows],
        "variants": [variants_figure(variants, study, loaded) for variants in study.variants],
        "plates": [(plate, gallery.png_url(plate.file.read_bytes())) for plate in study.plates],
    }


def render(
    runs: Sequence[LoadedRun], study: dict[str, Any] | None = None, back: str = "", *, pictures: bool = True
) -> str:
    """The page as HTML text: with a :func:`study_section`, and a link `back` to the page that lists this one."""
    folder = Path(__file__).parent
    templates(folder).filters |= {"of_all_images": of_all_images, "in_groups": in_groups, "shell": shlex.join}
    shown = [sections.make_section(run, model, len(runs)) for run in runs for model in run.model_names]
    galleries, without_gallery = sections.galleries(runs, shown) if pictures else ([], {})
    headlines = [section["headline"] for section in shown]
    models = [(run, model) for run in runs for model in [*run.models, *run.second_models]]
    return page_text(
        [folder],
        "page.html.j2",
        **CONSTANTS,
        style=STYLE.read_text(encoding="utf-8"),
        scripts=[(folder / name).read_text(encoding="utf-8") for name in SCRIPTS],
        runs=runs,
        study=study,
        back=back,
        sections=shown,
        comparison=sections.comparison(shown),
        galleries=galleries,
        without_gallery=without_gallery,
        legend=gallery.legend_urls(),
        legends=metric_legends(runs),
        reliance=[line for run in runs for line in reliance.reliance_lines(run)],
        effects=headline.reliance_effects(headlines),
        uncertified={run.label: reason for run in runs if (reason := reliance.uncertified(run))},
        agreements=sections.agreements(runs),
        undefined=[line for run in runs for line in undefined_lines(run)],
        introduction=introduction(
            runs, len(study["study"].methods) if study else max(headline.methods for headline in headlines)
        ),
        unlearnt=[(run, model) for run, model in models if model.unlearnt],
        too_few=[(run, model) for run, model in models if model.too_few],
    )


def introduction(runs: Sequence[LoadedRun], methods: int) -> dict[str, Any]:
    """The parts of the first sentences: the methods, the classes, and the source of the ground truth."""
    imported = [run for run in runs if run.record.dataset.source == OWN_COPY]
    made = [run for run in runs if run.record.dataset.generator and run.record.dataset.source != OWN_COPY]
    classes = {tuple(run.record.dataset.class_names) for run in runs}
    shared = classes.pop() if len(classes) == 1 else ()
    return {
        "methods": methods,
        "classes": shared,  # the names of the classes that all runs share; empty where they differ
        "listed": 1 < len(shared) <= NAMED,
        "made": _names(made, imported),  # data sets whose images salgen made: the place of the cause is known exactly
        "imported": _names(imported, made),  # data sets whose masks people or a segmentation drew
        "alone": len(runs) in (len(made), len(imported)),  # whether none needs to be named
    }


def _names(runs: Sequence[LoadedRun], others: Sequence[LoadedRun]) -> list[str]:
    """Each data set once; by the runs' labels where one of the other runs has the same name."""
    ambiguous = {run.record.dataset.name for run in others}
    names = [(run.record.dataset.name, run.label) for run in runs]
    return list(dict.fromkeys(label if name in ambiguous else name for name, label in names))


def metric_legends(runs: Sequence[LoadedRun]) -> list[dict[str, Any]]:
    """The description of each metric of the runs, in their order, from its own declaration."""
    calls: dict[str, list[str]] = {}
    for call in dict.fromkeys(call for run in runs for call in run.metrics):
        calls.setdefault(create_metric(call).name, []).append(call)
    directions = {True: "more is better", False: "less is better", None: "diagnostic, ranks nothing"}
    legends = []
    for name, of_metric in calls.items():
        metric = create_metric(of_metric[0])
        bounds = " to ".join(f"{bound:.3g}" for bound in metric.bounds)
        legends.append(
            {
                "name": name,
                "calls": [call for call in of_metric if call != name],
                "description": (inspect.getdoc(type(metric)) or "").split("\n\n")[0].replace("\n", " ").strip(),
                "direction": directions[metric.higher_is_better],
                "bounds": bounds.replace("-", "\N{MINUS SIGN}").replace("inf", "\N{INFINITY}"),
                "reference": metric.reference,
            }
        )
    return legends


CONSTANTS = {
    "titles": TITLES,
    "controls": CONTROLS,
    "ceiling_call": CEILING_CALL,
    "grid_file": GRID,
    "saturated": gallery.SATURATED,
    "draws": DRAWS,
    "interval_note": NOTE,
    "least_trainings": LEAST_TRAININGS,
    "alpha": ALPHA,
    "most_faulty": most_faulty,
    "tolerated": TOLERATED,
    "by_model": reliance.by_model,
    "tolerance_curves": reliance.tolerance_curves,
    "and_list": and_list,
    "colours": COLOURS,
    "has_ceiling": has_ceiling,
    "thresholds": Thresholds(),
    "suspected_by": (LOCALIZATION, FAITHFULNESS),
}
