"""The report: one self-contained HTML page for one run or several."""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from salgen.errors import SalgenError
from salgen.evaluation.diagnostics.clever_hans import FAITHFULNESS, LOCALIZATION, Thresholds
from salgen.evaluation.reliance.certificate_rule import TOLERATED, most_faulty
from salgen.evaluation.report.agreement import agreements
from salgen.evaluation.report.curves import COLOURS
from salgen.evaluation.report.formatting import and_list, call, call_name, duration, number, p_value, share, words
from salgen.evaluation.report.gallery import SATURATED, legend_urls
from salgen.evaluation.report.grid import CEILING_CALL, CONTROLS, GRID, grid_csv
from salgen.evaluation.report.images import clusters_counted, images_counted, of_all_images, wrong
from salgen.evaluation.report.introduction import introduction
from salgen.evaluation.report.legends import metric_legends
from salgen.evaluation.report.reliance_effect import certified, reliance_effects
from salgen.evaluation.report.reliance_lines import by_model, reliance_lines, tolerance_curves, uncertified
from salgen.evaluation.report.runs import CEILING, FLOOR, METHOD, Model, Run, read_runs
from salgen.evaluation.report.sections import comparison, galleries, make_section
from salgen.evaluation.report.study import Study
from salgen.evaluation.report.study_section import StudySection, study_section
from salgen.evaluation.report.tables import TITLES
from salgen.evaluation.report.templates import templates
from salgen.evaluation.report.undefined import undefined_lines
from salgen.evaluation.runs.artifacts.run_record import content_faults, in_groups
from salgen.evaluation.statistics.mean_intervals import DRAWS, LEAST_TRAININGS, NOTE
from salgen.evaluation.statistics.permutation import ALPHA
from salgen.evaluation.statistics.summary import ALL_SEEDS
from salgen.files import write_text

PAGE = "report.html"
TEMPLATE = "page.html.j2"
STYLE = "style.css"
SAVE = "save.js"
SCRIPTS = ("page.js", SAVE)


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
        write_text(path, html.strip() + "\n")
        if section is not None and section.study.cells:
            write_text(path.parent / GRID, grid_csv(section.grid))
    except OSError as error:
        raise SalgenError(f"cannot write {path}: {error.strerror}") from None
    return path


def _default_path(folders: Sequence[Path]) -> Path:
    from salgen.datasets.format.checksums import FILE

    if len(folders) == 1 and not (folders[0] / FILE).is_file():
        return folders[0] / PAGE
    return Path(os.path.commonpath([folder.resolve().parent for folder in folders])) / PAGE


def render(runs: Sequence[Run], study: StudySection | None = None, back: str = "", *, pictures: bool = True) -> str:
    """The page as HTML text, with a link `back` to the page that lists it, if any, and with galleries if `pictures`."""
    folder = Path(__file__).parent
    environment = templates(folder)
    filters = (number, share, words, duration, p_value, call, call_name, of_all_images, in_groups)
    environment.filters |= {f.__name__: f for f in filters} | {"shell": shlex.join}
    environment.globals |= CONSTANTS
    sections = [make_section(run, model, len(runs)) for run in runs for model in run.model_names]
    shown, without_gallery = galleries(runs, sections) if pictures else ([], {})
    return environment.get_template(TEMPLATE).render(
        style=(folder / STYLE).read_text(encoding="utf-8"),
        scripts=[(folder / name).read_text(encoding="utf-8") for name in SCRIPTS],
        runs=runs,
        study=study,
        back=back,
        sections=sections,
        comparison=comparison(sections),
        galleries=shown,
        without_gallery=without_gallery,
        legend=legend_urls(),
        legends=metric_legends(runs),
        reliance=[line for run in runs for line in reliance_lines(run)],
        effects=reliance_effects([section.headline for section in sections]),
        certified=certified,
        uncertified={run.label: reason for run in runs if (reason := uncertified(run))},
        agreements=agreements(runs),
        undefined=[line for run in runs for line in undefined_lines(run)],
        introduction=introduction(
            runs, max(section.headline.methods for section in sections), study.study if study else None
        ),
        unlearnt=[(run, model) for run in runs for model in _all_models(run) if model.unlearnt],
        too_few=[(run, model) for run in runs for model in _all_models(run) if model.too_few],
    )


def _all_models(run: Run) -> list[Model]:
    return [*run.models, *run.second_models]


CONSTANTS = {
    "titles": TITLES,
    "roles": {"ceiling": CEILING, "method": METHOD, "floor": FLOOR},
    "controls": CONTROLS,
    "ceiling_call": CEILING_CALL,
    "grid_file": GRID,
    "all_seeds": ALL_SEEDS,
    "saturated": SATURATED,
    "draws": DRAWS,
    "interval_note": NOTE,
    "least_trainings": LEAST_TRAININGS,
    "alpha": ALPHA,
    "most_faulty": most_faulty,
    "tolerated": TOLERATED,
    "by_model": by_model,
    "tolerance_curves": tolerance_curves,
    "and_list": and_list,
    "clusters_counted": clusters_counted,
    "images_counted": images_counted,
    "wrong": wrong,
    "colours": COLOURS,
    "thresholds": Thresholds(),
    "suspected_by": (LOCALIZATION, FAITHFULNESS),
}
