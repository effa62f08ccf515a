"""The wrapper that keeps normalisation apart from the network that is explained."""

from torch import Tensor, nn


class Classifier(nn.Module):
    """A network behind its normalisation.

    Backward methods attribute at the normalised tensor, and a black baseline is black mapped
    through `normalise`; so both have to know where normalisation ends.

    Parameters
    ----------
    network
        Normalised images to logits (N, K).
    normalise
        Images in [0, 1] to what the network takes; the identity by default.
    cam_layer
        The module of `network` whose output the CAM family weights, such as ``"features.29"``.
    multi_label
        Whether an image may show several classes: then each logit has a probability of its own, its sigmoid, and
        otherwise all share one, their softmax.
    """

    def __init__(
        self,
        network: nn.Module,
        normalise: nn.Module | None = None,
        cam_layer: str | None = None,
        multi_label: bool = False,
    ) -> None:
        super().__init__()
        self.normalise = normalise if normalise is not None else nn.Identity()
        self.network = network
        self.cam_layer = cam_layer
        self.multi_label = multi_label

    def forward(self, images: Tensor) -> Tensor:
        """float32 (N, C, H, W) in [0, 1] to logits (N, K)."""
        logits: Tensor = self.network(self.normalise(images))
        return logits
