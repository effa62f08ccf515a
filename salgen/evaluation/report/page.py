"""The report: one self-contained HTML page for one run or several."""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from salgen.errors import SalgenError
from salgen.evaluation.diagnostics import clever_hans, thresholds
from salgen.evaluation.reliance.certificate_rule import TOLERATED, most_faulty
from salgen.evaluation.reliance.composites import BACKGROUNDS
from salgen.evaluation.report import figures, gallery, reliance
from salgen.evaluation.report.formatting import STYLE, and_list, call_name, page_text, templates
from salgen.evaluation.report.grid import CEILING_CALL, CONTROLS, image_grid, read_grid, variants_figure
from salgen.evaluation.report.runs import LoadedRun, of_all_images, read_runs
from salgen.evaluation.report.study import Study
from salgen.evaluation.report.tables import TITLES, differing_class_means, has_ceiling, means_table, panels
from salgen.evaluation.report.undefined import undefined_lines
from salgen.evaluation.report.verdicts import best_elsewhere, verdict
from salgen.evaluation.runs.artifacts.run_record import in_groups
from salgen.evaluation.scoring.metric_selection import create_metric
from salgen.evaluation.statistics.mean_intervals import DRAWS, LEAST_TRAININGS, NOTE
from salgen.evaluation.statistics.permutation import ALPHA
from salgen.evaluation.statistics.ranks import rank_methods
from salgen.files import write_text
from salgen.sources import OWN_COPY

PAGE = "report.html"
TABLES = ("tables.js", "save.js")  # scripts of every page with tables: sorted, filtered, saved
SCRIPTS = ("page.js", *TABLES)
Section = dict[str, Any]


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
        Tables and figures at the top of the page.

    Raises
    ------
    SalgenError
        If a file of a run is missing, damaged or incomplete.
    """
    loaded = read_runs(runs)
    section = study_section(study) if study is not None else None
    html = render(loaded, section)
    from salgen.datasets.format.checksums import FILE as SUMS  # take pyarrow, which protocols go without
    from salgen.datasets.format.output_folder import check_outside

    folders = [run.path for run in loaded]
    if len(folders) > 1 or (folders[0] / SUMS).is_file():
        folders = [Path(os.path.commonpath([folder.resolve().parent for folder in folders]))]
    path = folders[0] / PAGE if out is None else Path(out)
    check_outside(path, in_a_run=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, html)
    return path


def study_section(study: Study) -> dict[str, Any]:
    """The tables and figures of a study."""
    grid = read_grid(study.cells, study.methods, study.metric)
    return {
        "study": study,
        "grid": grid,
        "boxes": figures.box_figures(grid, study.metric),
        "pictures": [image_grid(row, study.methods) for row in grid],
        "variants": [variants_figure(variants, study) for variants in study.variants],
    }


def render(
    runs: Sequence[LoadedRun], study: dict[str, Any] | None = None, back: str = "", *, pictures: bool = True
) -> str:
    """The page as HTML text: with a :func:`study_section`, and a link `back` to the page that lists this one."""
    folder = Path(__file__).parent
    templates(folder).filters |= {"of_all_images": of_all_images, "in_groups": in_groups, "shell": shlex.join}
    sections = [make_section(run, model, len(runs)) for run in runs for model in run.model_names]
    galleries: list[gallery.Gallery] = []
    without_gallery = {}
    for run in runs if pictures else ():
        try:
            galleries += _pictures(run, sections)
        except SalgenError as fault:
            without_gallery[run.label] = str(fault)
    models = [(run, model) for run in runs for model in [*run.models, *run.second_models]]
    calls = list(dict.fromkeys(call for run in runs for call in run.metrics))
    classes = {tuple(run.record.dataset.class_names) for run in runs}
    imported = [run.label for run in runs if run.record.dataset.source == OWN_COPY]
    return page_text(
        [folder],
        "page.html.j2",
        style=STYLE.read_text(encoding="utf-8"),
        scripts=[(folder / name).read_text(encoding="utf-8") for name in SCRIPTS],
        runs=runs,
        study=study,
        back=back,
        sections=sections,
        galleries=galleries,
        without_gallery=without_gallery,
        legend=gallery.legend_urls(),
        metrics={name: [call for call in calls if call_name(call) == name] for name in map(call_name, calls)},
        reliance=[line for run in runs for line in reliance.reliance_lines(run)],
        effects=reliance.reliance_effects([(run, model) for run in runs for model in run.model_names]),
        uncertified={run.label: run.record.certificates.reason for run in runs if not run.record.certificates.models},
        undefined=[line for run in runs for line in undefined_lines(run)],
        n_methods=len(study["study"].methods)
        if study
        else max(len(run.under_test(model)) for run in runs for model in run.model_names),
        classes=classes.pop() if len(classes) == 1 else (),  # those that all runs share
        imported=imported,  # data sets whose masks people or a segmentation drew
        made=[run.label for run in runs if run.record.dataset.generator and run.label not in imported],
        unlearnt=[(run, model) for run, model in models if model.unlearnt],
        too_few=[(run, model) for run, model in models if model.too_few],
        suspected_by=(thresholds.LOCALIZATION, thresholds.FAITHFULNESS),
        thresholds=thresholds.Thresholds(),
        titles=TITLES,
        controls=CONTROLS,
        create_metric=create_metric,
        ceiling_call=CEILING_CALL,
        saturated=gallery.SATURATED,
        draws=DRAWS,
        interval_note=NOTE,
        least_trainings=LEAST_TRAININGS,
        alpha=ALPHA,
        most_faulty=most_faulty,
        tolerated=TOLERATED,
        backgrounds=BACKGROUNDS,
        by_model=reliance.by_model,
        mostly_uncertified=reliance.mostly_uncertified,
        and_list=and_list,
        figures=figures,
        has_ceiling=has_ceiling,
        differing_class_means=differing_class_means,
    )


def make_section(run: LoadedRun, model: str, runs: int) -> Section:
    """The scores of a model, on a page of `runs` runs."""
    of_images, metric = panels(run, model), run.headline
    outcome = verdict(run, model, metric) if metric is not None else None
    title = run.label if len(run.model_names) == 1 else model if runs == 1 else f"{run.label}, {model}"
    variant = outcome.variant if outcome is not None else run.variants[0]
    table = means_table(run, model, variant, None if metric is None else [metric])
    seeds = [str(run.cube.seeds[i]) for i in run.cube.seeds_of(model)]
    return {
        "title": title,
        "anchor": "-".join("".join(c if c.isalnum() else " " for c in f"{run.label} {model}".lower()).split()),
        "run": run,
        "model": model,
        "verdict": outcome,  # on all samples; None if no metric ranks methods
        "elsewhere": best_elsewhere(run, model),
        "withheld": reliance.mostly_uncertified(run, model),  # so that no method can be called the best
        "table": table,  # the headline metric's, or that of all metrics if none ranks methods
        "panels": of_images,  # the tables for all samples first
        "blocks": next(iter(of_images[0].views.values())),  # all tables of the headline variant, for all samples
        "seeds": seeds if len(seeds) > 1 else [],
        "ranks": rank_methods(run.cube, model, outcome.metric, outcome.variant) if outcome is not None else None,
        "curves": figures.all_curves(run, model, table),
        "suspects": suspect_counts(run, model),
        "strip": None,
    }


def _pictures(run: LoadedRun, sections: Sequence[Section]) -> list[gallery.Gallery]:
    """The gallery of a run, if it has one, methods in the order of the first table; and the strips of its models."""
    order = list(dict.fromkeys(line.key[0] for section in sections for line in section["blocks"][0].table.lines))
    for section in sections:
        outcome = section["verdict"]
        judged = outcome is not None and not section["withheld"] and not run.unlearnt(section["model"])
        if section["run"] is run and section["model"] == run.models[0].name and judged:
            best_first = outcome.ordered(run.under_test(section["model"]))
            section["strip"] = gallery.strip(run, list(dict.fromkeys(call for call, _ in best_first)))
    shown = gallery.gallery(run, order)
    return [shown] if shown is not None else []


def suspect_counts(run: LoadedRun, model: str) -> list[dict[str, Any]]:
    """Numbers of Clever Hans candidates by each method under test, the largest first; none without both metrics."""
    if not {thresholds.LOCALIZATION, thresholds.FAITHFULNESS} <= set(run.metrics):
        return []
    probabilities, counts = clever_hans.probabilities_in(run.path), []
    for call in dict.fromkeys(call for call, _ in run.under_test(model)):
        maps = [one for one in clever_hans.right_maps(run.cube, probabilities, call) if one.model == model]
        found = len(clever_hans.suspicious(maps, thresholds.Thresholds()))
        command = ["salgen", "find", "clever-hans", run.path.resolve().name, "-m", call, "--dataset", "DATASET"]
        counts.append({"method": call, "found": found, "examined": len(maps), "command": command})
    return sorted(counts, key=lambda suspects: -suspects["found"])
