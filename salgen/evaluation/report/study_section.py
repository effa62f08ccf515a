"""The section of the page on a study."""

from collections.abc import Sequence
from dataclasses import dataclass

from salgen.evaluation.report.gallery import png_url
from salgen.evaluation.report.grid import VariantGrid, read_grid
from salgen.evaluation.report.grid_figures import BoxFigure, box_figures
from salgen.evaluation.report.grid_pictures import ImageGrid, image_grid
from salgen.evaluation.report.runs import Run
from salgen.evaluation.report.study import Plate, Study
from salgen.evaluation.report.variants import VariantsFigure, variants_figure


@dataclass(frozen=True)
class StudySection:
    """A study's table and figures."""

    study: Study
    grid: VariantGrid
    boxes: list[BoxFigure]
    pictures: list[ImageGrid]
    variants: list[VariantsFigure]
    plates: list[tuple[Plate, str]]


def study_section(study: Study, loaded: Sequence[Run]) -> StudySection:
    """The section of a study, whose runs are read unless they are among those already `loaded`."""
    grid = read_grid(study.cells, study.methods, study.metric, loaded)
    return StudySection(
        study=study,
        grid=grid,
        boxes=box_figures(grid),
        pictures=[image_grid(row, study.methods) for row in grid.rows],
        variants=[variants_figure(variants, study, loaded) for variants in study.variants],
        plates=[(plate, png_url(plate.file.read_bytes())) for plate in study.plates],
    )
