import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
import salgen
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.models.inspection.batch_size import MicroBatches, images_at_once, memory_budget
from salgen.evaluation.models.inspection.memory import is_out_of_memory
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.inspection.network_trace import forward_pass

CPU = torch.device("cpu")


@given(count=st.integers(0, 40), size=st.integers(1, 12), room=st.integers(1, 12))
@pytest.mark.filterwarnings("ignore::salgen.errors.SalgenWarning")
def test_parts_cover_the_work_in_order_whatever_fits(count, size, room):
    def work(part):
        if part.stop - part.start > room:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return list(range(part.start, part.stop))

    batches = MicroBatches(size)
    assert [i for part in batches.over(count, work) for i in part] == list(range(count))
    assert batches.size <= max(size, 1)
    assert min(count, batches.size) <= room


def test_running_out_is_said_and_remembered_and_other_errors_are_errors():
    def work(part):
        if part.stop - part.start > 3:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes")
        return part.stop - part.start

    batches = MicroBatches(8)
    with (
        pytest.warns(SalgenWarning, match="with 8 images at once: going on with 4"),
        pytest.warns(SalgenWarning, match="with 4 images at once: going on with 2"),
    ):
        assert batches.over(9, work) == [2, 2, 2, 2, 1]
    assert batches.size == 2

    def too_large(part):
        raise MemoryError

    with pytest.raises(MemoryError, match="one image"):
        MicroBatches(1).over(2, too_large)

    def broken(part):
        raise RuntimeError("shapes do not match")

    with pytest.raises(RuntimeError, match="shapes"):
        MicroBatches(4).over(2, broken)
    assert not is_out_of_memory(ValueError("can't allocate memory"))


class Hungry(nn.Module):
    """A linear network that takes no more than so many images at once."""

    def __init__(self, room):
        super().__init__()
        self.dense, self.room = nn.Linear(16, 2), room
        self.dense.weight.data = torch.arange(32.0).view(2, 16)

    def forward(self, x):
        if len(x) > self.room:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return self.dense(x.flatten(1).clamp(min=-9) ** 2)


IMAGES = torch.rand(7, 1, 4, 4, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("method", ["gradient", "smoothgrad:n=2", "integrated-gradients:steps=3"])
def test_explaining_halves_the_batch_and_goes_on(method):
    expected = salgen.explain(Hungry(100), IMAGES, 1, method=method).values
    with pytest.warns(SalgenWarning, match="going on with"):
        found = salgen.explain(Hungry(2), IMAGES, 1, method=method).values
    torch.testing.assert_close(found, expected)


def test_values_of_changed_images_are_joined_whatever_fits():
    network, weights = Hungry(100), torch.arange(7.0)
    expected, network.room = network(IMAGES)[:, 1].detach() * weights, 2
    with pytest.warns(SalgenWarning, match="going on with 2"):
        found = MicroBatches(5).values(
            ModelView.of(network), 7, lambda part: IMAGES[part], lambda logits, part: logits[:, 1] * weights[part]
        )
    torch.testing.assert_close(found, expected)


def test_an_image_that_does_not_fit_is_one_line_and_a_tiny_budget_changes_no_map():
    with pytest.raises(SalgenError, match=r"one image of \(1, 4, 4\) needs more memory than cpu has"):
        salgen.explain(Hungry(0), IMAGES, 1, method="gradient")
    maps = [salgen.explain(Hungry(100), IMAGES, 1, method="gradient", max_memory=most).values for most in (None, 1e-9)]
    torch.testing.assert_close(*maps)
    assert memory_budget(CPU, 2) == 2e9
    assert memory_budget(CPU, None) > 0


def test_a_footprint_is_what_the_forward_pass_computes_and_bounds_the_images_at_once():
    network = nn.Sequential(nn.Conv2d(1, 3, 1, bias=False), nn.Flatten(), nn.Linear(48, 2, bias=False))
    bytes_of = forward_pass(ModelView.of(network), IMAGES[:1]).bytes
    computed = 4 * (16 + 3 * 16 + 2)  # the input's copy, the convolution, the logits
    assert computed <= bytes_of <= 4 * computed
    wide = nn.Sequential(nn.Conv2d(1, 64, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 2))
    image = torch.zeros(1, 1, 64, 64)
    view = ModelView.of(wide)
    assert forward_pass(view, image).largest == 4 * 64 * 64 * 64  # the convolution, not the weights
    assert images_at_once(view, image, 128, 1e12, 1) == 2**23 // (4 * 64 * 64 * 64)


@given(most=st.integers(1, 64), budget=st.floats(1, 1e6))
def test_a_smaller_budget_never_means_more_images(most, budget):
    view = ModelView.of(nn.Sequential(nn.Flatten(), nn.Linear(16, 2)))
    few, many = (images_at_once(view, IMAGES[:1], most, share * budget, 3) for share in (0.5, 1))
    assert 1 <= few <= many <= most


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), float("inf")])
def test_a_budget_must_be_a_positive_number(wrong):
    with pytest.raises(SalgenError, match="positive number of GB"):
        memory_budget(CPU, wrong)
    with pytest.raises(SalgenError, match="positive number of GB"):
        salgen.explain(Hungry(9), IMAGES, 0, method="gradient", max_memory=wrong)
