"""Everything that a plug-in of another package needs: base classes, and the types of their arguments and results.

Modules of salgen may move; the names here stay. docs/extending.md shows how each is used. As in `salgen` itself, a
name is imported on first use, so that a generator does not wait for torch.
"""

from typing import TYPE_CHECKING
from salgen.import_paths import imported_on_first_use

if TYPE_CHECKING:
    from salgen.datasets.layouts.imported import Imported, Items, refuse_edit
    from salgen.errors import SalgenError
    from salgen.evaluation.attribution.attribution_context import AttributionContext, Method
    from salgen.evaluation.attribution.class_activation import ClassActivation
    from salgen.evaluation.attribution.passes import PassRequirements
    from salgen.evaluation.metrics.inputs.metric import DatasetMetric, MaskMetric, Metric, ModelMetric, RetrainingMetric
    from salgen.evaluation.metrics.inputs.metric_inputs import MetricInputs
    from salgen.evaluation.metrics.inputs.ranking import Ranking
    from salgen.evaluation.models import Model
    from salgen.evaluation.models.convolutional import Convolutional
    from salgen.evaluation.models.weight_sources import FromFile, FromTorchvision, Seams
    from salgen.evaluation.protocols.claims import (
        Claim,
        Margin,
        Order,
        among_the_best,
        averaged,
        between,
        higher_median,
        highest,
        lowest,
        mean_of,
        networks_on,
        on,
        on_each,
        rows_by,
        share_left,
        spread,
    )
    from salgen.evaluation.protocols.paper_table import PaperTable, Row
    from salgen.evaluation.protocols.protocol import Experiment, Protocol
    from salgen.generators.drawing.photographs import photographs
    from salgen.generators.drawing.pictures import read_levels, read_rgb, resize_nearest, resize_rgb
    from salgen.generators.drawing.shapes import oval, paint, polygon
    from salgen.generators.drawing.splines import smooth_field
    from salgen.generators.interfaces import (
        Attributed,
        Context,
        Edit,
        Finite,
        Fitting,
        Guaranteed,
        Labelled,
        Movable,
        Redrawable,
        Rendered,
        Scale,
    )
    from salgen.generators.interfaces import GeneratorPlugin as Generator
    from salgen.generators.lesions.lesions import Lesions
    from salgen.generators.painted_base import Painted, check_edit
    from salgen.parameters import param
    from salgen.seeding import Stream
    from salgen.sources import OWN_COPY, Files, Nothing

__all__ = [
    "OWN_COPY", "Attributed", "AttributionContext", "Claim", "ClassActivation", "Context", "Convolutional",
    "DatasetMetric", "Edit", "Experiment", "Files", "Finite", "Fitting", "FromFile",
    "FromTorchvision", "Generator", "Guaranteed", "Imported", "Items", "Labelled", "Lesions", "Margin", "MaskMetric",
    "Method", "Metric", "MetricInputs", "Model", "ModelMetric", "Movable", "Nothing", "Order",
    "Painted", "PaperTable", "PassRequirements", "Protocol", "Ranking", "Redrawable", "Rendered", "RetrainingMetric",
    "Row", "SalgenError", "Scale", "Seams", "Stream", "among_the_best", "averaged", "between", "check_edit",
    "higher_median", "highest", "lowest", "mean_of", "networks_on", "on", "on_each", "oval", "paint", "param",
    "photographs", "polygon", "read_levels", "read_rgb", "refuse_edit", "resize_nearest", "resize_rgb", "rows_by",
    "share_left", "smooth_field", "spread",
]  # fmt: skip
__getattr__ = imported_on_first_use(__name__)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
