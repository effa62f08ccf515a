"""Torchvision's ImageNet networks for ImageNet-S50, as ``--model salgen.evaluation.imagenet_s50:vgg16``.

Nothing is trained: of the last layer the rows of the 50 classes are kept. Their logits are those of the whole network,
so gradients, relevance and class activation maps are too. The softmax is over 50 classes instead of 1000, which
methods and metrics by probabilities see.
"""

from functools import partial
import torch
from torch import nn
from torchvision.models import ResNet50_Weights
from salgen.datasets.importers.imagenet_s50 import WORDS
from salgen.evaluation.models.classifier import Classifier
from salgen.registry import MODELS

IMAGE_SIZE = (224, 224)
CATEGORIES = [name.lower() for name in ResNet50_Weights.IMAGENET1K_V1.meta["categories"]]
ROWS = [CATEGORIES.index(words) for words in WORDS.values()]  # outputs of the 50 classes, in the order of their ids


def pretrained(model: str) -> Classifier:
    """A network with torchvision's IMAGENET1K_V1 weights that tells the 50 classes, in the order of their sorted ids.

    Parameters
    ----------
    model
        A registered model that can start from ``weights=imagenet``.

    Returns
    -------
    Images float32 (N, 3, H, W) in [0, 1] to logits (N, 50).
    """
    plugin = MODELS.create(model, {"weights": "imagenet"})
    network = plugin.build(3, len(CATEGORIES), IMAGE_SIZE)
    plugin.load_weights(network)
    whole = network.get_submodule(plugin.seams.logits)
    kept = nn.Linear(whole.in_features, len(ROWS))
    with torch.no_grad():
        kept.weight.copy_(whole.weight[ROWS])
        kept.bias.copy_(whole.bias[ROWS])
    network.set_submodule(plugin.seams.logits, kept)
    return Classifier(network, plugin.normalise(3), cam_layer=plugin.cam_layer(network)).eval()


vgg16, resnet50, resnext50 = (partial(pretrained, model) for model in ("vgg16", "resnet50", "resnext50"))
