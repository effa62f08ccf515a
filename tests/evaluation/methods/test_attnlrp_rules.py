"""LRP beyond ReLU: each rule by its formula, whole networks by the gradient with constant factors."""

from functools import partial
import pytest
import timm
import torch
from small_networks import Flawed
from torch import nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode
import salgen
from salgen.errors import SalgenError

LRP = ["lrp-z", "lrp-alpha-beta", "lrp-alpha-beta:alpha=1,beta=0"]
EXACT = {"stabiliser": 1e-14, "reduce": None}


class Function(nn.Module):
    """A function as a network; its logits are what it gives, flattened."""

    def __init__(self, function):
        super().__init__()
        self.function, self.precise = function, nn.Parameter(torch.ones(()).double())
        self.multi_label = True  # one output is no logit of two classes

    def forward(self, images):
        return self.function(images.squeeze(1)).flatten(1)


def relevance(function, images, target, method="lrp-z"):
    """The relevance of images (n, h, w), started with 1 at one of the function's outputs."""
    return salgen.explain(Function(function), images[:, None].double(), target, method=method, **EXACT).values[:, 0]


def noise(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).double()


ACTIVATIONS = {
    "silu": nn.SiLU(inplace=True),
    "gelu": nn.GELU(),
    "gelu by tanh": nn.GELU("tanh"),
    "hardswish": nn.Hardswish(inplace=True),
    "mish": nn.Mish(),
    "elu": nn.ELU(),
    "selu": nn.SELU(),
    "leaky relu": nn.LeakyReLU(),
    "softplus": nn.Softplus(),
    "tanh": torch.tanh,
    "sigmoid": lambda x: 2 * x.sigmoid(),
    "hardsigmoid": nn.Hardsigmoid(),
    "unit length": lambda x: functional.normalize(x, dim=-1),
    "constants": lambda x: x * torch.tensor([2.0, -1, 3]) / torch.tensor(4.0),
    "prelu": lambda x: functional.prelu(x, torch.tensor([0.3]).double()),
    "response norm": lambda x: functional.local_response_norm(x, 3),
    "clamp": lambda x: x.clone().clamp_(min=-9.0),
    "hardtanh": nn.Hardtanh(-9, 9),
    "relu6": nn.ReLU6(inplace=True),
    "relu6 at its ceiling": lambda x: functional.relu6(99 * x),
    "bounds": lambda x: functional.hardtanh(x, 0.0, max_val=6.0),
    "powers": lambda x: x.square().sqrt() ** torch.tensor(3) + 0 * x,
    "negative": lambda x: -x,
    "inverse": lambda x: 1 / x,
    "by keyword": lambda x: functional.relu(input=x) + functional.relu(input=-x),
}


NORMALISED = {
    "root of the mean square": lambda x: functional.rms_norm(x, (3,), torch.tensor([2.0, -1, 3]).double()),
    "response": lambda x: x * (x.norm(dim=1, keepdim=True) / (x.norm(dim=1, keepdim=True).mean(2, keepdim=True) + 1)),
    "divided by the sum": lambda x: x / x.abs().sum(dim=2, keepdim=True),
    "divided by the deviation": lambda x: x / torch.sqrt(x.var(dim=2, keepdim=True) + 1e-6),
    "times the inverse": lambda x: x * torch.rsqrt(x.square().mean(dim=2, keepdim=True)),
    "times a negative power": lambda x: x * (x.pow(2).mean(dim=2, keepdim=True) + 1) ** -0.5,
    "times one over it": lambda x: x * (1 / x.std(dim=2, keepdim=True)),
}


@pytest.mark.parametrize("method", LRP)
@pytest.mark.parametrize("name", ACTIVATIONS | NORMALISED)
def test_what_acts_on_each_value_alone_or_normalises_keeps_relevance(name, method):
    found = relevance((ACTIVATIONS | NORMALISED)[name], noise(2, 4, 3), 5, method)
    torch.testing.assert_close(found, functional.one_hot(torch.tensor([5, 5]), 12).view(2, 4, 3).float())


SECOND = noise(2, 5, 3, seed=3)
PRODUCTS = {
    "matmul": lambda a, b: a @ b[: len(a)].transpose(1, 2),
    "bmm": lambda a, b: torch.bmm(a, b[: len(a)].transpose(1, 2)),
    "by name": lambda a, b: torch.matmul(a, other=b[: len(a)].transpose(1, 2)),
    "einsum of a list": lambda a, b: torch.einsum("nid,njd->nij", [a, b[: len(a)]]),
    "einsum": lambda a, b: torch.einsum("nid,njd->nij", a, b[: len(a)]),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_a_matrix_product_gives_half_to_each_factor(name):
    images = noise(2, 9, 3)
    found = relevance(lambda x: PRODUCTS[name](x[:, :4], x[:, 4:]), images, 7)
    expected = torch.zeros(2, 9, 3)
    parts = images[:, 1] * images[:, 4 + 2]  # row 1 by column 2
    expected[:, 1] = expected[:, 4 + 2] = (0.5 * parts / parts.sum(dim=1, keepdim=True)).float()
    torch.testing.assert_close(found, expected)
    with_constant = relevance(lambda x: PRODUCTS[name](x[:, :4], SECOND), images, 7)
    parts = images[:, 1] * SECOND[:, 2]
    torch.testing.assert_close(with_constant[:, 1], (parts / parts.sum(dim=1, keepdim=True)).float())


GATES = {
    "sigmoid first": (lambda a, b: torch.sigmoid(b) * a, (1, 0)),
    "sigmoid last": (lambda a, b: a * b.sigmoid(), (1, 0)),
    "hardsigmoid in place": (lambda a, b: a.mul_(functional.hardsigmoid(b)), (1, 0)),
    "moved": (lambda a, b: a * functional.sigmoid(b).transpose(1, 2).flip(1).transpose(1, 2), (1, 0)),
    "by name": (lambda a, b: torch.mul(torch.sigmoid(b), other=a), (1, 0)),
    "joined": (lambda a, b: a * torch.cat(tensors=[b[:, :1].sigmoid(), b[:, 1:].sigmoid()], dim=1), (1, 0)),
    "spread": (lambda a, b: a * b.sigmoid().expand_as(a), (1, 0)),
    "two signals": (lambda a, b: a * b, (0.5, 0.5)),
    "two gates": (lambda a, b: a.sigmoid() * b.sigmoid(), (0.5, 0.5)),
    "a gate that was changed": (lambda a, b: a * (b.sigmoid() * 2), (0.5, 0.5)),
}


@pytest.mark.parametrize("method", LRP)
@pytest.mark.parametrize("name", GATES)
def test_a_gate_takes_nothing_and_two_signals_half_each(name, method):
    function, parts = GATES[name]
    found = relevance(lambda x: function(x[:, 0:2].clone(), x[:, 2:4]), noise(2, 4, 3), 1, method)
    torch.testing.assert_close(found.sum(dim=2), torch.tensor([[parts[0], 0, parts[1], 0.0]] * 2))


def test_a_small_factor_takes_the_sum_over_what_it_multiplies():
    found = relevance(lambda x: (x[:, :3] * x[:, 3:]).mean(dim=(1, 2))[:, None], noise(1, 4, 3), 0)
    torch.testing.assert_close(found[:, 3].sum(), found[:, :3].sum())
    torch.testing.assert_close(found[:, 3], found[:, :3].sum(dim=1))


@pytest.mark.parametrize("groups", [None, 1, 2, 4])
def test_norms_centre_in_proportion_and_hold_the_deviation(groups):
    images = noise(2, 4, 3).requires_grad_()
    norm = (nn.LayerNorm(3, eps=0.1) if groups is None else nn.GroupNorm(groups, 4, eps=0.1)).double()
    for parameter in norm.parameters():
        nn.init.uniform_(parameter, 0.5, 2)
    grouped = images.view(2, groups or 4, -1)
    deviation = (grouped.var(dim=2, unbiased=False, keepdim=True) + 0.1).sqrt().detach()
    normed = ((grouped - grouped.mean(dim=2, keepdim=True)) / deviation).view(2, 4, 3)
    weight, bias = (values if groups is None else values[:, None] for values in (norm.weight, norm.bias))
    out = (normed * weight + bias)[:, 2, 1]  # the output 7
    torch.testing.assert_close(out, norm(images)[:, 2, 1])
    (gradient,) = torch.autograd.grad((out / out.detach()).sum(), images)
    torch.testing.assert_close(relevance(norm, images.detach(), 7), (images * gradient).detach().float())


FIXED = noise(4, 3, seed=7)
PIECEWISE_LINEAR = {
    "minus": lambda x: x - x.roll(1, 1),
    "minus in place": lambda x: x.clone().sub_(x.roll(1, 1)),
    "minus by name": lambda x: torch.sub(input=x, other=x.roll(1, 1)),
    "from a constant": lambda x: (0 - x) + (torch.zeros(3).double() - x.roll(1, 1)),
    "minus its mean": lambda x: x - x.mean(dim=2, keepdim=True),
    "added product": lambda x: torch.addcmul(x, FIXED, x.roll(1, 1), value=-2),
    "added product of a method": lambda x: x.addcmul(x.roll(1, 1), FIXED),
    "running sum": lambda x: x.cumsum(dim=1),
    "patches and back": lambda x: functional.fold(functional.unfold(x[:, None], 2), (4, 3), 2),
    "turned": lambda x: x.mT.repeat_interleave(2, dim=1) + x.mT.tile(1, 2, 1),
    "windows": lambda x: x.unfold(1, 2, 1),
    "gathered": lambda x: x.gather(2, torch.tensor([0, 0, 2]).expand(x.shape)),
    "largest along an axis": lambda x: x.max(dim=1).values + x.max(1)[0] + x.min(dim=1).values,
    "largest of axes": lambda x: x.amax(dim=(1, 2), keepdim=True) + x.amin(dim=-1)[..., None] + x,
    "largest of all": lambda x: x[:1].max()[None, None] + x.flatten(1),
    "larger of two": lambda x: torch.maximum(x, x.flip(1)) + torch.max(x, x.flip(2)) + x.minimum(x.flip(1)),
    "larger than a constant": lambda x: torch.maximum(x, torch.zeros(()).double()),
    "clamped": lambda x: x.clamp(min=0),
}


@pytest.mark.parametrize("name", PIECEWISE_LINEAR)
def test_lrp_z_without_biases_is_input_times_gradient(name):
    weight, images = noise(12, 12, seed=4), noise(1, 4, 3)

    def network(x):
        hidden = PIECEWISE_LINEAR[name]((x.flatten(1) @ weight).view(-1, 4, 3))
        return hidden.flatten(1) @ noise(hidden[0].numel(), 2, seed=5)

    leaf = images.clone().requires_grad_()
    network(leaf)[:, 1].sum().backward()
    found = salgen.explain(Function(network), images[:, None], 1, method="lrp-z:start=logit", **EXACT).values[:, 0]
    torch.testing.assert_close(found, (images * leaf.grad).float(), rtol=1e-4, atol=1e-6)


WINNERS = {
    "amax": lambda x: x.amax(dim=2),
    "amin": lambda x: x.amin(2),
    "max": lambda x: x.max(dim=2).values,
    "max pool": lambda x: functional.max_pool1d(x, 3),
    "maximum": lambda x: torch.maximum(torch.maximum(x[:, :, 0], x[:, :, 1]), x[:, :, 2]),
    "whole": lambda x: torch.max(x).expand(len(x), 1),
}


@pytest.mark.filterwarnings("ignore:the model's answer:salgen.errors.SalgenWarning")
@pytest.mark.parametrize("name", WINNERS)
def test_the_first_of_equal_values_takes_all(name):
    found = relevance(WINNERS[name], torch.full((1, 1, 3), 2.0), 0)
    assert found.flatten().tolist() == [1, 0, 0]


@pytest.mark.parametrize("length", [lambda x: x.norm(dim=2), lambda x: torch.linalg.vector_norm(x, dim=2)])
def test_a_length_shares_by_squares(length):
    images = noise(2, 4, 3)
    expected = torch.zeros(2, 4, 3)
    expected[:, 1] = (images[:, 1].square() / images[:, 1].square().sum(dim=1, keepdim=True)).float()
    torch.testing.assert_close(relevance(length, images, 1), expected)


class Constant(TorchFunctionMode):
    """A forward pass with constant factors: on the way back its gradient is LRP's, if times the input.

    A second formulation of the rules, without any of them: the epsilon rule is gradient times input where what is not
    linear is a constant times the signal.
    """

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = {key: value for key, value in (kwargs or {}).items() if key != "inplace"}
        name = getattr(func, "__name__", "")
        if not any(isinstance(arg, torch.Tensor) and arg.requires_grad for arg in args):
            return func(*args, **kwargs)
        if "norm" in name and name.removeprefix("linalg_vector_") == "norm":
            return func(*args, **kwargs).detach()
        if name in ("div", "addcmul"):
            with self:
                return (
                    args[0] * (1 / torch.as_tensor(args[1]).detach()) if name == "div" else args[0] + args[1] * args[2]
                )
        if name in ("silu", "gelu", "hardswish", "normalize", "hardsigmoid", "sigmoid", "pow"):
            signal, *rest = args
            factor = torch.where(signal == 0, 0, func(signal, *rest, **kwargs) / signal).detach()
            result = signal * factor
            result.gate = "sigmoid" in name
            return result
        if name == "group_norm":
            names = ("signal", "groups", "weight", "bias", "eps")
            given = dict(zip(names, args, strict=False)) | kwargs
            signal, weight, bias = given["signal"], given["weight"], given.get("bias")
            centred = signal - signal.mean((1, 2, 3), keepdim=True)
            deviation = (signal.var((1, 2, 3), unbiased=False, keepdim=True) + given["eps"]).sqrt().detach()
            shift = 0 if bias is None else bias[:, None, None]
            return centred / deviation * weight[:, None, None] + shift
        if name == "layer_norm":
            signal, shape, weight, bias, eps = args if len(args) == 5 else (*args, *kwargs.values())
            axes = tuple(range(-len(shape), 0))
            deviation = (signal.var(axes, unbiased=False, keepdim=True) + eps).sqrt().detach()
            return (signal - signal.mean(axes, keepdim=True)) / deviation * weight + (0 if bias is None else bias)
        if name in ("mul", "matmul") and all(isinstance(a, torch.Tensor) and a.requires_grad for a in args):
            a, b = args
            if name == "mul" and (getattr(a, "gate", False) or getattr(b, "gate", False)):
                return a * b.detach() if getattr(b, "gate", False) else a.detach() * b
            return 0.5 * (func(a, b.detach()) + func(a.detach(), b))
        if name == "multi_head_attention_forward":
            with self:
                return attention_by_hand(*args[:3], args[4], args[5], args[6], args[11], args[12]), None
        return func(*args, **kwargs)


class ConstantAttention(Constant):
    """With attention weights for constants too, as LibraGrad has them."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = super().__torch_function__(func, types, args, kwargs)
        return result.detach() if getattr(func, "__name__", "") == "softmax" else result


def attention_by_hand(query, key, value, heads, weight, bias, out_weight, out_bias):
    """Multi-head attention of (T, n, E), head by head."""
    width = query.shape[-1]
    q, k, v = (
        functional.linear(x, weight[i * width : (i + 1) * width], bias[i * width : (i + 1) * width]).transpose(0, 1)
        for i, x in enumerate((query, key, value))
    )
    attended = []
    for part in torch.arange(width).chunk(heads):
        scores = torch.matmul(q[..., part], k[..., part].transpose(1, 2)) / len(part) ** 0.5
        attended.append(torch.matmul(scores.softmax(-1), v[..., part]))
    return functional.linear(torch.cat(attended, dim=-1), out_weight, out_bias).transpose(0, 1)


def architecture(name):
    """A small network of that family, with biases and batch norms that do something, in float64."""
    from torchvision import models
    from torchvision.models.convnext import CNBlockConfig, ConvNeXt
    from torchvision.models.swin_transformer import PatchMergingV2, SwinTransformer, SwinTransformerBlockV2

    def small_timm(**options):
        network = timm.create_model(name, num_classes=3, **options)
        for parameter in network.parameters():
            nn.init.normal_(parameter, std=0.3)
        return network

    torch.manual_seed(1)
    swin = {"patch_size": [4, 4], "embed_dim": 12, "depths": [2, 2], "num_heads": [2, 4], "window_size": [4, 4]}
    made = {
        "mobilenet_v3_small": lambda: models.mobilenet_v3_small(width_mult=0.25, num_classes=3),
        "efficientnet_b0": lambda: models.efficientnet_b0(num_classes=3),
        "convnext": lambda: ConvNeXt([CNBlockConfig(8, 16, 2), CNBlockConfig(16, None, 1)], num_classes=3),
        "swin": lambda: SwinTransformer(**swin, num_classes=3),
        "swin_v2": lambda: SwinTransformer(
            **swin, num_classes=3, block=SwinTransformerBlockV2, downsample_layer=PatchMergingV2
        ),
        "vit": lambda: models.VisionTransformer(32, 8, 2, 2, 16, 32, num_classes=3),
        "eva02_tiny_patch14_224": lambda: small_timm(img_size=32, patch_size=8, embed_dim=24, num_heads=2, depth=1),
        "vit_small_patch16_dinov3": lambda: small_timm(img_size=32, patch_size=8, embed_dim=24, num_heads=2, depth=1),
        "convnextv2_atto": lambda: small_timm(depths=(1, 1, 1, 1), dims=(8, 8, 16, 16)),
        "poolformerv2_s12": lambda: small_timm(),
        "hiera_tiny_224": lambda: small_timm(img_size=64, embed_dim=12, stages=(1, 1, 1, 1)),
    }[name]()
    for module in made.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = None
        if isinstance(module, (nn.LayerNorm, nn.Linear, nn.BatchNorm2d)) and module.bias is not None:
            nn.init.normal_(module.bias, std=0.1)
    if name == "vit":
        made.heads.head.reset_parameters()
    made(torch.randn(8, 3, *sides(name)))  # in training mode: batch norms see what comes in
    return made.double().eval().requires_grad_(False)


def sides(name):
    return (64, 64) if "hiera" in name else (32, 32)


def fuse(network, fused):
    for module in network.modules():
        if hasattr(module, "fused_attn"):
            module.fused_attn = fused


TIMM = ["eva02_tiny_patch14_224", "vit_small_patch16_dinov3", "convnextv2_atto", "poolformerv2_s12", "hiera_tiny_224"]
FAMILIES = ["mobilenet_v3_small", "convnext", "swin", "swin_v2", "vit", *TIMM]
FACTORS = [
    *(("lrp-z:start=logit", Constant, name) for name in FAMILIES),
    pytest.param("lrp-z:start=logit", Constant, "efficientnet_b0", marks=pytest.mark.torture),
    *(("libragrad", ConstantAttention, name) for name in ["swin", "swin_v2", "vit", *TIMM[:3]]),
]


@pytest.mark.parametrize(("method", "constant", "name"), FACTORS)
def test_relevance_is_input_times_the_gradient_with_constant_factors(method, constant, name):
    net, images = architecture(name), noise(2, 3, *sides(name))
    leaf = images.clone().requires_grad_()
    fuse(net, False)  # so that all of it is seen
    with constant():
        logits = net(leaf * 1)
    torch.testing.assert_close(logits.detach(), net(images))
    (gradient,) = torch.autograd.grad(logits[:, 1].sum(), leaf)
    expected = (images * gradient).float()
    assert expected.abs().max() > 1e-4
    for fused in (False, True) if "vit_small" in name else (False,):
        fuse(net, fused)
        found = salgen.explain(net, images, 1, method=method, **EXACT).values
        torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-5 * float(expected.abs().max()))


@pytest.mark.parametrize("boolean", [False, True])
def test_masked_tokens_get_no_relevance(boolean):
    taking = torch.tensor([True, True, False])
    mask = taking if boolean else torch.zeros(3).double().masked_fill(~taking, -torch.inf)

    def attend(x):
        tokens = x[:, None]
        return functional.scaled_dot_product_attention(tokens[:, :, :1], tokens, tokens, mask[None])

    images = noise(2, 3, 4)
    found = relevance(attend, images, 2)
    assert found[:, 2].abs().max() == 0
    kept = relevance(lambda x: functional.scaled_dot_product_attention(x[:, :1], x[:, :2], x[:, :2]), images, 2)
    torch.testing.assert_close(found, kept)


@pytest.mark.parametrize("constant", [lambda x: x + 0.5, lambda x: 0.5 + x, lambda x: x.clone().add_(0.5)])
def test_a_constant_takes_its_share_as_a_bias_does(constant):
    images = noise(1, 2, 3).abs()
    torch.testing.assert_close(relevance(constant, images, 0)[0, 0, 0], (images / (images + 0.5))[0, 0, 0].float())
    assert float(relevance(constant, images, 0, "lrp-alpha-beta")[0, 0, 0]) == 1


BEYOND = ["deep-taylor", "excitation-backprop:layer=input", "contrastive-excitation-backprop", None]
PARTS = {
    "silu": nn.SiLU(),
    "group_norm": nn.GroupNorm(2, 4),
    "mul": lambda x: x * x,
    "matmul": lambda x: x @ x,
    "interpolate": lambda x: functional.interpolate(x, scale_factor=2),
    "adding a constant": lambda x: x + 1,
}


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("method", BEYOND)
def test_the_other_methods_of_the_family_refuse_and_say_what_works(method, name):
    net, images = Flawed(PARTS[name]), torch.rand(3, 1, 6, 6)
    words = "lrp-z, lrp-alpha-beta, gradient, integrated-gradients, occlusion and rise work with any"
    if name == "adding a constant":
        words = "normalisation .* choose lrp-z or lrp-alpha-beta"
    call = (
        partial(salgen.explain, net, images, 0, method=method) if method else partial(salgen.fit_patterns, net, images)
    )
    with pytest.raises(SalgenError, match=f"has no rule for {name}: .*{words}"):
        call()
    for working in ("lrp-z", "lrp-alpha-beta", "gradient", "integrated-gradients", "occlusion", "rise:n=20"):
        assert torch.isfinite(salgen.explain(net, images, 0, method=working).values).all()


UNKNOWN = {
    "division that rounds": lambda x: torch.div(x, 2, rounding_mode="trunc"),
    "attention with dropout": lambda x: functional.scaled_dot_product_attention(x, x, x, is_causal=True),
    "pow of several signals": lambda x: x.abs() ** x,
    "logsumexp: lrp-z and lrp-alpha-beta know abs, .*, amax, .*norm, .*, sub, ": lambda x: x.logsumexp(dim=2),
    "einsum of 3 tensors": lambda x: torch.einsum("nid,nid,nid->ni", x, x, x),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_lrp_has_no_rule_for_is_refused(name):
    with pytest.raises(SalgenError, match=f"lrp-z has no rule for {name}.*gradient"):
        relevance(UNKNOWN[name], noise(2, 4, 3), 0)
