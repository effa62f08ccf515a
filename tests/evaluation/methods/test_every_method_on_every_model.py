"""Every method on every model that it is defined for, in one explanation: what each owes its users."""

import pytest
import repeats
import torch
from small_networks import batch_sizes, with_statistics
from salgen.errors import SalgenError
from salgen.evaluation.attribution.explaining import explain
from salgen.evaluation.attribution.method_selection import MethodSelection
from salgen.evaluation.attribution.patterns import fit_patterns
from salgen.evaluation.methods import xrai
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.runs.given_models import is_designed
from salgen.parameters import call_text
from salgen.registry import METHODS, MODELS
from salgen.testing.methods import state_of

COUNT, CLASSES, SIZE = 3, 3, (33, 40)
TARGETS = [0, 1, 2]
IDS = ["a", "b", "c"]

ATTENTION = {
    *("attention-rollout", "raw-attention", "generic-attention", "ag-cam", "legrad", "transformer-attribution")
}
RELU_NETWORKS = {
    *("guided-backprop", "deconvnet", "guided-grad-cam", "deep-lift"),
    *("deep-taylor", "excitation-backprop", "contrastive-excitation-backprop"),
    *("pattern-net", "pattern-attribution"),
}
NO_POOLED_HEAD = {"cam"}
NO_RELU_STAGES = {"refine-cam", "fast-cam", "fast-cam++", "poly-cam-minus", "poly-cam-plus", "poly-cam-pm"}
NO_CEILING = {"pattern-net", "pattern-attribution"}
# In single precision a denominator near zero, or the difference of two nearly equal maps, enlarges rounding.
ILL_CONDITIONED = {"lrp-z", "lrp-alpha-beta", "libragrad", "contrastive-excitation-backprop"}
RECTIFIED = {("efficientnet-lite0", "poly-cam-minus:channels=3")}  # where no channel's removal lowers the output
MANY_PASSES = {"score-cam", "ablation-cam", "occlusion", "hsic", "sobol"}
WIDE = ("efficientnet-lite0", "mobilenet-v2")  # of 1,280 channels
UNDEFINED = {
    "lesion-cnn": ATTENTION | NO_POOLED_HEAD,
    "scnn": ATTENTION,
    "vgg16": ATTENTION | NO_POOLED_HEAD,
    "vgg19": ATTENTION | NO_POOLED_HEAD,
    "vgg11-bn": ATTENTION | NO_POOLED_HEAD,
    "resnet18": ATTENTION,
    "resnet50": ATTENTION,
    "resnext50": ATTENTION,
    "efficientnet-lite0": ATTENTION | NO_CEILING,
    "mobilenet-v2": ATTENTION | NO_CEILING,
    "convnext-tiny": ATTENTION | RELU_NETWORKS | NO_POOLED_HEAD | NO_RELU_STAGES,
    "vit-b-16": RELU_NETWORKS | NO_POOLED_HEAD | NO_RELU_STAGES,
}


def classifier_of(name, channels, values, size=SIZE):
    plugin = MODELS.create(name, values)
    torch.manual_seed(5)
    network = with_statistics(plugin.build(channels, CLASSES, size), 0.1, 0.8, 1.2)
    return Classifier(network, plugin.normalise(channels), cam_layer=plugin.cam_layer(network))


def images_of(channels, size=SIZE, count=COUNT):
    return torch.rand(count, channels, *size, generator=torch.Generator().manual_seed(1))


def quick_methods():
    instances = [METHODS.create(name, METHODS.load(name).quick) for name in METHODS.names()]
    return MethodSelection({}, {call_text(method): method for method in instances})


KINDS = [(1, torch.float64), (3, torch.float32)]
SINGLE = ("lesion-cnn", "scnn", "vit-b-16")  # in deeper networks single precision is too coarse for these checks
# With --torture, each model in both, and each method asked for alone on each; else in one, and of those that differ
# only in depth or groups, one.
DEEPER = ("efficientnet-lite1", "efficientnet-lite2")
TRAINED = [name for name in MODELS.names() if not is_designed(name) and name not in DEEPER]
NAMES = [name for name in TRAINED if repeats.torture or name not in ("resnet50", "resnext50", "vgg19")]
DRAWN = [(name, *kind) for name in NAMES for kind in (KINDS if repeats.torture else [KINDS[name in SINGLE]])]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("name", "channels", "kind"), DRAWN)
def test_every_method_keeps_its_word(name, channels, kind, monkeypatch):
    monkeypatch.setattr(xrai, "SIDE", 56)  # the side at which it segments images, at great length
    model = classifier_of(name, channels, MODELS.load(name).quick).to(kind).train()
    images = images_of(channels)
    masks = images.mean(dim=1) > 0.6
    methods, left_out = quick_methods().defined_for(model, images[:1])
    assert {call.partition(":")[0] for call in left_out} == UNDEFINED[name]
    if name in WIDE and not repeats.torture:
        few = list(methods.items())[::4]
        methods = {call: of for call, of in few if of.name not in MANY_PASSES}
    patterns = fit_patterns(model, images_of(channels, count=8)) if "pattern-net" in methods else None
    before = state_of(model)

    def maps(part, **options):
        ids, targets = IDS[part], TARGETS[part]
        return explain(
            model, images[part], targets, method=list(methods.values()), masks=masks[part], ids=ids, patterns=patterns,
            references=images, **options,
        )  # fmt: skip

    together, alone, again = maps(slice(0, 3)), maps(slice(1, 2)), maps(slice(1, 2))
    first, step = (0, 1) if repeats.torture else (NAMES.index(name) % 3, 3)
    separate = {
        call: explain(
            model, images, TARGETS, method=method, masks=masks, ids=IDS, patterns=patterns, references=images
        ).values
        for call, method in list(methods.items())[first::step]
    }
    assert state_of(model) == before
    faults = []
    for call, found in together.items():
        values = found.values
        scale = float(values.abs().max())
        checks = {
            "shape": values.shape == (COUNT, *SIZE) and values.dtype == torch.float32,
            "finite": bool(torch.isfinite(values).all()),
            "not zero": scale > 0 or (name, call) in RECTIFIED,
            "no gradient": not values.requires_grad,
            "sign": found.signed or bool((values >= 0).all()),
            "deterministic": torch.equal(alone[call].values, again[call].values),
            "the same without the others": call not in separate
            or torch.allclose(separate[call], values, rtol=1e-4, atol=1e-5 * scale),
            "independent of its batch": torch.allclose(alone[call].values, values[1:2], rtol=1e-4, atol=1e-4 * scale)
            or (kind == torch.float32 and call in ILL_CONDITIONED),
        }
        faults += [f"{call}: {what}" for what, holds in checks.items() if not holds]
    assert not faults


REFUSED = [(name, method) for name in ("lesion-cnn", "vit-b-16") for method in sorted(UNDEFINED[name])]


@pytest.mark.parametrize(("name", "method"), REFUSED)
def test_a_method_that_is_not_defined_says_so_before_any_work(name, method):
    """By name, in one line, after a look at one image (or, for `cam`, at what follows made-up activations)."""
    model = classifier_of(name, 1, MODELS.load(name).quick)
    seen = batch_sizes(model.network)
    methods = [METHODS.create("rise", {"n": 50}), METHODS.create(method, METHODS.load(method).quick)]
    with pytest.raises(SalgenError, match=method):
        explain(model, images_of(1), 0, method=methods)
    assert COUNT not in seen
    assert len(seen) <= 5
