"""Networks for grids of images, around a trained one: which cells a logit depends on is known by construction."""

from __future__ import annotations

import copy
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar
from salgen.errors import SalgenError
from salgen.evaluation.models.designed.designed_network import DesignedNetwork
from salgen.parameters import param

if TYPE_CHECKING:
    from torch import nn
    from salgen.datasets.importers.derived.image_grids import ImageGrids
    from salgen.evaluation.models.classifier import Classifier

FEATURES = "grid_features"


@dataclass(frozen=True)
class GridNetwork(DesignedNetwork):
    """Base of networks for grids."""

    generator = "image-grids"
    setting: ClassVar[str]
    # whether the part before the last maps is run on each cell by itself too; None where not even what follows is
    apart: ClassVar[bool | None] = None

    model: str = param("", "the trained network: a checkpoint's folder, PACKAGE.MODULE:FUNCTION, torchvision:NAME, ...")

    def wrap(self, generator: ImageGrids, classifier: Classifier) -> Classifier:
        """The network around a classifier of the images in the cells."""
        if generator.setting != self.setting:
            raise SalgenError(f"{self.name} is for grids with setting={self.setting}, not {generator.setting}")
        return self.around(classifier, generator.cells)

    def around(self, classifier: Classifier, cells: int) -> Classifier:
        """The network for grids with so many cells in a row and in a column."""
        return classifier if self.apart is None else _with_heads(self.name, classifier, cells, self.apart)


@dataclass(frozen=True)
class GridPG(GridNetwork):
    """A trained network that is shown the grid as it is.

    It has to take images of that size, as those with a global pool do. Its logits depend on all cells.
    """

    name = "gridpg"
    setting = "gridpg"
    reference = "Böhle et al. 2021, CoDA Nets, section 4 (grid pointing game), doi:10.1109/CVPR46437.2021.00990"


@dataclass(frozen=True)
class DiFull(GridNetwork):
    """A trained network that is run on each cell by itself, with logits of its own for each.

    The logit of a class at a cell does not depend on any other cell. CAM methods weight the last maps of all cells as
    one layer, as each head's weights are for the same channels.
    """

    name = "difull"
    setting = "disconnected"
    reference = (
        "Rao et al. 2022, Towards better understanding attribution methods, section 3.1 (DiFull), "
        "doi:10.48550/arXiv.2205.10435"
    )
    apart = True


@dataclass(frozen=True)
class DiPart(GridNetwork):
    """A trained network that sees the whole grid up to its last maps, and has logits of its own for each cell of these.

    The logit of a class at a cell depends on other cells only as far as the receptive fields of its maps reach.
    """

    name = "dipart"
    setting = "disconnected"
    reference = (
        "Rao et al. 2022, Towards better understanding attribution methods, section 3.1 (DiPart), "
        "doi:10.48550/arXiv.2205.10435"
    )
    apart = False


def _with_heads(name: str, classifier: Classifier, cells: int, apart: bool) -> Classifier:
    """A network whose part behind its last maps is run on each cell by itself, the part before them too if `apart`."""
    from torch import nn
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

    network, layer = copy.deepcopy(classifier.network), classifier.cam_layer
    if layer is not None:
        parts = OrderedDict(layer=network.get_submodule(layer), **({"join": joined()} if apart else {}))
        parts |= {FEATURES: nn.Identity(), "split": split()}
        network.set_submodule(layer, nn.Sequential(parts))
    elif not apart:
        raise SalgenError(f"{name}: cannot split the network: no single feature map (N, C, h, w) feeds all logits")
    heads = nn.Sequential(nn.Unflatten(0, (-1, cells**2)), nn.Flatten(1))  # logits (N n n, K) to (N, n n K)
    steps = OrderedDict(**({"cells": split()} if apart else {}), network=network, heads=heads)
    features = None if layer is None else f"network.{layer}.{FEATURES}"
    return Classifier(nn.Sequential(steps), classifier.normalise, features, multi_label=True)
