"""The outputs of an ImageNet-1k network that stand for the classes of ImageNet-S50."""

import pytest
import torch
from torch import nn
from torchvision.models._meta import _IMAGENET_CATEGORIES

from salgen.datasets.importers.imagenet_s50 import WNIDS, WORDS
from salgen.evaluation.models.imagenet_classes import OUTPUTS, ROWS, rows_for

# As ImageNet-S names its fifty classes, in the order of their ids.
NAMES = (
    "goldfish, tiger shark, goldfinch, tree frog, kuvasz, red fox, siamese cat, american black bear, ladybug, "
    "sulphur butterfly, wood rabbit, hamster, wild boar, gibbon, african elephant, giant panda, airliner, ashcan, "
    "ballpoint, beach wagon, boathouse, bullet train, cellular telephone, chest, clog, container ship, digital watch, "
    "dining table, golf ball, grand piano, iron, lab coat, mixing bowl, motor scooter, padlock, park bench, purse, "
    "streetcar, table lamp, television, toilet seat, umbrella, vase, water bottle, water tower, yawl, street sign, "
    "lemon, carbonara, agaric"
)


def test_outputs_have_the_classes_names_in_torchvision():
    assert len(_IMAGENET_CATEGORIES) == OUTPUTS
    assert [_IMAGENET_CATEGORIES[row].lower() for row in rows_for(sorted(ROWS))] == NAMES.split(", ")


def test_they_are_the_classes_that_the_importer_gives():
    assert tuple(ROWS) == WNIDS
    assert len(ROWS) == 50
    assert list(WORDS.values()) == NAMES.split(", ")


def test_ids_and_outputs_are_in_the_same_order():
    assert list(ROWS) == sorted(ROWS)
    assert sorted(ROWS.values()) == [ROWS[name] for name in sorted(ROWS)]


def test_rows_follow_the_order_of_the_names():
    assert rows_for(["n12998815", "n01443537"]) == [992, 1]


@pytest.mark.parametrize("names", [[], ["n01440764"], ["n01443537", "goldfish"]])
def test_other_names_have_no_rows(names):
    assert rows_for(names) is None


def test_a_layer_of_these_rows_has_the_same_logits():
    whole, part = nn.Linear(7, OUTPUTS), nn.Linear(7, 2)
    rows = rows_for(["n07749582", "n02119022"])
    part.load_state_dict({name: tensor[rows] for name, tensor in whole.state_dict().items()})
    inputs = torch.randn(5, 7, generator=torch.Generator().manual_seed(1))
    assert torch.allclose(part(inputs), whole(inputs)[:, [951, 277]], rtol=0, atol=1e-6)
