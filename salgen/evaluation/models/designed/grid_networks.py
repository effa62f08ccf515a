"""Networks for grids of images, around a trained one: which cells a logit depends on is known by construction."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from salgen.errors import SalgenError
from salgen.evaluation.models.designed.designed_network import DesignedNetwork
from salgen.parameters import param

if TYPE_CHECKING:
    from torch import nn

    from salgen.datasets.importers.derived.image_grids import ImageGrids
    from salgen.evaluation.models.classifier import Classifier

NAMES = ("difull", "dipart", "gridpg")

FEATURES = "grid_features"


@dataclass(frozen=True)
class GridNetwork(DesignedNetwork):
    """Base of networks for grids: write ``around(classifier, cells)``."""

    generator: ClassVar[str] = "image-grids"
    setting: ClassVar[str]

    model: str = param("", "the trained network: a checkpoint's folder, PACKAGE.MODULE:FUNCTION, torchvision:NAME, ...")

    def wrap(self, generator: ImageGrids, classifier: Classifier) -> Classifier:
        """The network around a classifier of the images in the cells.

        Raises
        ------
        SalgenError
            If the grids are of another setting, or the classifier has no layer to be cut at.
        """
        if generator.setting != self.setting:
            raise SalgenError(f"{self.name} is for grids with setting={self.setting}, not {generator.setting}")
        return self.around(classifier, generator.cells)

    def around(self, classifier: Classifier, cells: int) -> Classifier:
        """The network for grids with so many cells in a row and in a column."""
        raise NotImplementedError


@dataclass(frozen=True)
class GridPG(GridNetwork):
    """A trained network that is shown the grid as it is.

    It has to take images of that size, as those do that end in a global pool. Its logits depend on all cells.
    """

    name: ClassVar[str] = "gridpg"
    setting: ClassVar[str] = "gridpg"
    reference: ClassVar[str] = "Böhle et al. 2021, CoDA Nets, section 4 (grid pointing game)"

    def around(self, classifier: Classifier, cells: int) -> Classifier:
        """The classifier itself."""
        return classifier


@dataclass(frozen=True)
class DiFull(GridNetwork):
    """A trained network that is run on each cell by itself, with logits of its own for each.

    The logit of a class at a cell does not depend on any other cell. The last maps of all cells are put together as one
    layer, which CAM methods weight, as each head's weights are for the same channels.
    """

    name: ClassVar[str] = "difull"
    setting: ClassVar[str] = "disconnected"
    reference: ClassVar[str] = "Rao et al. 2022, Towards better understanding attribution methods, section 3.1 (DiFull)"

    def around(self, classifier: Classifier, cells: int) -> Classifier:
        """The cells apart, together as the layer `grid_features`, and apart again."""
        return _with_heads(self.name, classifier, cells, apart=True)


@dataclass(frozen=True)
class DiPart(GridNetwork):
    """A trained network that sees the whole grid up to its last maps, and has logits of its own for each cell of these.

    The logit of a class at a cell depends on other cells only as far as the receptive fields of its maps reach.
    """

    name: ClassVar[str] = "dipart"
    setting: ClassVar[str] = "disconnected"
    reference: ClassVar[str] = "Rao et al. 2022, Towards better understanding attribution methods, section 3.1 (DiPart)"

    def around(self, classifier: Classifier, cells: int) -> Classifier:
        """The maps of the grid, whose cells have a head each."""
        return _with_heads(self.name, classifier, cells, apart=False)


def _with_heads(name: str, classifier: Classifier, cells: int, apart: bool) -> Classifier:
    """A network whose part behind its last maps is run on each cell by itself, the part before them too if `apart`."""
    from torch import fx, nn
    from torchvision.ops import Permute

    from salgen.evaluation.models.classifier import Classifier

    def split() -> nn.Module:
        """Grids (N, C, n h, n w) to cells (N n n, C, h, w)."""
        unflattened = nn.Unflatten(3, (cells, -1)), nn.Unflatten(2, (cells, -1))
        return nn.Sequential(*unflattened, Permute([0, 2, 4, 1, 3, 5]), nn.Flatten(0, 2))

    def joined() -> nn.Module:
        """Cells (N n n, C, h, w) to grids (N, C, n h, n w)."""
        unflattened = nn.Unflatten(0, (-1, cells, cells))
        return nn.Sequential(unflattened, Permute([0, 3, 1, 4, 2, 5]), nn.Flatten(4, 5), nn.Flatten(2, 3))

    class Tracer(fx.Tracer):
        def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
            return module_qualified_name == classifier.cam_layer or super().is_leaf_module(m, module_qualified_name)

    heads = nn.Sequential(nn.Unflatten(0, (-1, cells**2)), nn.Flatten(1))  # logits (N n n, K) to (N, n n K)
    steps: OrderedDict[str, nn.Module] = OrderedDict(cells=split()) if apart else OrderedDict()
    if classifier.cam_layer is None:
        if not apart:
            raise SalgenError(f"{name}: the network has no layer (N, C, h, w) on which all depends, to be cut at")
        steps |= {"network": classifier.network, "heads": heads}
        return Classifier(nn.Sequential(steps), classifier.normalise, multi_label=True)
    network = classifier.network
    try:
        traced = fx.GraphModule(network, Tracer().trace(network))
    except Exception as error:  # tracing runs the network's own code on stand-ins
        raise SalgenError(f"{name}: torch.fx cannot trace the network: {str(error).partition(chr(10))[0]}") from error
    calls = [node for node in traced.graph.nodes if node.target == classifier.cam_layer]
    if len(calls) != 1:
        raise SalgenError(f"{name} cuts the network at {classifier.cam_layer}, which must run once")
    added: OrderedDict[str, Any] = OrderedDict()
    if apart:
        added["grid_join"] = joined()
    added |= {FEATURES: nn.Identity(), "grid_split": split()}
    (node,) = calls
    users, last = list(node.users), node
    for key, module in added.items():
        traced.add_submodule(key, module)
        with traced.graph.inserting_after(last):
            last = traced.graph.call_module(key, (last,))
    for user in users:
        user.replace_input_with(node, last)
    traced.recompile()
    steps |= {"network": traced, "heads": heads}
    return Classifier(nn.Sequential(steps), classifier.normalise, f"network.{FEATURES}", multi_label=True)
