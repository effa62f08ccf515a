"""Networks that count the pixels of each colour: convolutions, and a vision transformer."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING
from salgen.errors import SalgenError
from salgen.evaluation.models.designed.designed_network import DesignedNetwork, channel_identity, set_weights
from salgen.parameters import param

if TYPE_CHECKING:
    from torch import nn
    from salgen.evaluation.models.classifier import Classifier
    from salgen.generators.designed.coloured_cells import ColouredCells


@dataclass(frozen=True)
class ColourCounter(DesignedNetwork):
    """Convolutions whose logit of a class is the number of pixels of its colour.

    logit_c = sum over pixels of relu(t(red) + t(green) + t(blue) - 2), on levels from 0 to 255. t(x) = relu(x - v +
    1) - 2 relu(x - v) + relu(x - v - 1). It is 1 at the colour's level v only. Two 1x1 convolutions with ReLUs detect,
    3x3 convolutions of stride 3 add up. A linear layer adds what is left and averages copies.

    Shapley values and occlusion are 1 at pixels of the colour and 0 elsewhere. So are integrated gradients, in the
    limit: the path from black meets the colour in its last 1/425 alone, which 200 steps miss.
    """

    name = "colour-counter"
    generator = "coloured-cells"
    reference = "closed form"

    copies: int = param(2, "redundant channels of each colour", low=1)

    def design(self, generator: ColouredCells) -> Classifier:
        """The network for images of `coloured-cells`."""
        from torch import nn
        from salgen.evaluation.models.classifier import Classifier

        count, (height, width) = generator.classes * self.copies, generator.image_size
        layers: OrderedDict[str, nn.Module] = detectors(generator.classes, self.copies)
        cam_layer, number = "match_relu", 0
        while height % 3 == width % 3 == 0:
            height, width, number = height // 3, width // 3, number + 1
            layers[f"sum{number}"] = set_weights(nn.Conv2d(count, count, 3, stride=3), channel_identity(count, 3, 3))
            layers[f"sum{number}_relu"] = nn.ReLU()
            cam_layer = f"sum{number}_relu" if height * width > 1 else cam_layer
        layers["flatten"] = nn.Flatten()
        each = channel_identity(generator.classes, height, width).flatten(1) / self.copies
        outputs = nn.Linear(count * height * width, generator.classes)
        layers["logits"] = set_weights(outputs, each.repeat(1, self.copies))
        return Classifier(nn.Sequential(layers), levels(), cam_layer)


@dataclass(frozen=True)
class ColourCounterTransformer(DesignedNetwork):
    """A vision transformer whose logit of a class is the number of pixels of its colour.

    Convolutions detect the colour of each patch; one transformer block follows. Its attention is uniform, since queries
    and keys are zero, so the class token gets the mean over all tokens. Tokens hold (b, 1 - b, -b, b - 1) for each
    colour with b = 1 or 0. Layer norm then divides them by a constant.
    """

    name = "colour-counter-vit"
    generator = "coloured-cells"
    reference = "closed form"

    def design(self, generator: ColouredCells) -> Classifier:
        """The network for images of `coloured-cells` whose cells are its patches, as many in a row as in a column."""
        import torch
        from torch import Tensor, nn
        from salgen.evaluation.models.classifier import Classifier

        classes, side = generator.classes, generator.cell
        rows, columns = (extent // side for extent in generator.image_size)
        if rows != columns:
            raise SalgenError(f"{self.name}: {rows}x{columns} patches: the image must be square")
        signs = torch.tensor([1.0, -1.0, -1.0, 1.0])
        width, tokens = 4 * classes, 1 + rows * columns

        class Transformer(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                patches = set_weights(nn.Conv2d(3, 3, side, stride=side), channel_identity(3, side, side) / side**2)
                self.stem = nn.Sequential(OrderedDict(patches=patches, **detectors(classes, 1)))
                spread = torch.kron(torch.eye(classes), signs[:, None])
                offset = torch.tensor([0.0, 1.0, 0.0, -1.0]).repeat(classes)
                self.embed = set_weights(nn.Linear(classes, width), spread, offset)
                self.class_token = nn.Parameter(offset[None, None].clone())
                self.norm = nn.LayerNorm(width)
                self.attention = nn.MultiheadAttention(width, 1, batch_first=True)
                scale = (0.5 + self.norm.eps) ** 0.5  # the tokens' standard deviation
                uniform = torch.cat([torch.zeros(2 * width, width), scale * torch.eye(width)])
                with torch.no_grad():
                    self.attention.in_proj_weight.copy_(uniform)
                    self.attention.in_proj_bias.zero_()
                set_weights(self.attention.out_proj, torch.eye(width))
                read = torch.kron(torch.eye(classes), torch.tensor([[1.0, 0.0, 0.0, 0.0]]))
                self.head = set_weights(nn.Linear(width, classes), tokens * side**2 * read)

            def forward(self, images: Tensor) -> Tensor:
                patches = self.embed(self.stem(images).flatten(2).transpose(1, 2))
                x = torch.cat([self.class_token.expand(len(patches), -1, -1), patches], dim=1)
                normed = self.norm(x)
                x = x + self.attention(normed, normed, normed, need_weights=False)[0]
                logits: Tensor = self.head(x[:, 0])
                return logits

        return Classifier(Transformer(), levels(), "stem.match_relu")


def detectors(classes: int, copies: int) -> OrderedDict[str, nn.Module]:
    """Layers from levels (N, 3, h, w) to 1 at pixels of each class's colour and 0 elsewhere, (N, copies x K, h, w)."""
    import torch
    from torch import nn
    from salgen.generators.designed.coloured_cells import COLOURS

    colours = torch.tensor(COLOURS[:classes], dtype=torch.float32)
    read = torch.eye(3).repeat_interleave(3, 0).repeat(classes, 1)  # red three times, green, blue, for each class
    corners = torch.tensor([1.0, 0.0, -1.0]) - colours.flatten()[:, None]
    tents = torch.kron(torch.eye(classes), torch.tensor([[1.0, -2.0, 1.0]]).repeat(1, 3)).repeat(copies, 1)
    count = copies * classes
    return OrderedDict(
        read=set_weights(nn.Conv2d(3, 9 * classes, 1), read[:, :, None, None], corners.flatten()),
        read_relu=nn.ReLU(),
        match=set_weights(nn.Conv2d(9 * classes, count, 1), tents[:, :, None, None], torch.full((count,), -2.0)),
        match_relu=nn.ReLU(),
    )


def levels() -> nn.Module:
    """From [0, 1] to levels from 0 to 255."""
    from salgen.evaluation.models.normalisation import Normalisation

    return Normalisation([0.0] * 3, [1 / 255] * 3)
