"""The passes that `salgen list methods` states, beside those that a network counts."""

import pytest
import torch
import salgen
from salgen.evaluation.models.inspection.probe import probing
from salgen.evaluation.models.lesion_cnn import LesionCNN
from salgen.registry import METHODS

SIZE, WIDTHS = (16, 20), (4, 8)
WINDOWS = SIZE[0] * SIZE[1]  # a stride of 8/224 of such a side is one pixel
COUNTED = {  # methods whose number depends on the network or the image
    "ablation-cam": WIDTHS[-1],
    "score-cam": WIDTHS[-1],
    "recipro-cam": SIZE[0] * SIZE[1] // 4,
    "occlusion": WINDOWS,
    "poly-cam-minus": sum(WIDTHS),
    "poly-cam-plus": sum(WIDTHS),
    "poly-cam-pm": 2 * sum(WIDTHS),
}
STATED = {name: cost for name, cost in salgen.list_methods(table=True)["cost"].items() if cost not in ("a few", "none")}
ELSEWHERE = {"legrad", "smooth-grad-cam++"}  # needs attention; reads layers in passes that no probe counts


@pytest.mark.parametrize("name", sorted(STATED.keys() - ELSEWHERE))
def test_the_stated_cost_is_what_the_network_counts(name):
    torch.manual_seed(2)
    network = LesionCNN(widths=WIDTHS, hidden=8).build(2, 3, SIZE).eval()
    image = torch.rand(1, 2, *SIZE)
    with probing() as probe:
        salgen.explain(network, image, [0], method=name, references=1 - image)
    stated = COUNTED[name] if name in COUNTED else int(STATED[name])
    dead = stated // 4 if name.startswith("poly-cam") else 0  # it passes no channel that is zero everywhere
    assert stated - dead <= probe.images <= stated


def test_the_stated_cost_of_smooth_grad_cam_is_its_number_of_copies():
    assert STATED["smooth-grad-cam++"] == str(METHODS.create("smooth-grad-cam++").n)


def test_a_method_of_many_passes_states_them():
    dear = {name for name in METHODS.names() if METHODS.load(name).shares != "passes"}
    assert dear == STATED.keys()
