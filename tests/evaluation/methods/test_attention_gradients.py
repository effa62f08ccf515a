"""Attention with gradients, block by block and head by head, from the papers."""

import math
import pytest
import torch
from test_attention import HUGGING_FACE, Answer, hugging_face, of_timm, slow_pass, transformer, upsampled
from torch import nn
import salgen
from salgen.errors import SalgenError

METHODS = ["generic-attention", "ag-cam", "legrad"]


@pytest.fixture(scope="module")
def images():
    return torch.rand(3, 3, 32, 32, generator=torch.Generator().manual_seed(1))


@pytest.fixture(scope="module")
def net():
    return transformer(layers=3)


def value(net, tokens, target):
    return net.heads(net.encoder.ln(tokens)[:1])[0, target]


def slow_generic_attention(net, image, target):
    weights, _, after = slow_pass(net, image)
    rolled = torch.eye(17)
    for heads in weights:
        gradients = torch.autograd.grad(value(net, after[-1], target), heads, retain_graph=True)
        mean = sum((a * g).clamp(min=0) for a, g in zip(heads, gradients, strict=True)) / len(heads)
        rolled = rolled + mean @ rolled
    return rolled[0, 1:]


def slow_ag_cam(net, image, target):
    weights, scores, after = slow_pass(net, image)
    total = torch.zeros(17)
    for heads, before in zip(weights, scores, strict=True):
        gradients = torch.autograd.grad(value(net, after[-1], target), heads, retain_graph=True)
        for one, gradient in zip(before, gradients, strict=True):
            total += gradient[0].clamp(min=0) / (1 + torch.exp(-one[0]))
    return total[1:]


def slow_legrad(net, image, target):
    weights, _, after = slow_pass(net, image)
    total = torch.zeros(17)
    for heads, tokens in zip(weights, after, strict=True):
        gradients = torch.autograd.grad(value(net, tokens, target), heads, retain_graph=True)
        for gradient in gradients:
            for row in gradient:
                total += row.clamp(min=0) / (len(weights) * len(heads) * len(row))
    return total[1:]


SLOW = {"generic-attention": slow_generic_attention, "ag-cam": slow_ag_cam, "legrad": slow_legrad}


@pytest.mark.parametrize("method", METHODS)
def test_equals_the_slow_transcription(method, net, images):
    expected = torch.stack([SLOW[method](net, image, k).view(1, 4, 4) for k, image in enumerate(images)]).detach()
    found = salgen.explain(net, images, [0, 1, 2], method=method, reduce=None)
    assert found.native_resolution == (4, 4)
    assert expected.std() > 0
    torch.testing.assert_close(found.values, upsampled(expected), rtol=1e-4, atol=1e-5 * float(expected.max()))


@pytest.mark.parametrize("kind", HUGGING_FACE)
def test_generic_attention_of_what_hugging_face_gives(kind, images):
    net, (read, prefix) = hugging_face(kind), HUGGING_FACE[kind]
    answer = net(pixel_values=images, output_attentions=True)
    gradients = torch.autograd.grad(answer.logits[:, 1].sum(), answer.attentions)
    rolled = torch.eye(answer.attentions[0].shape[-1])
    for attention, gradient in zip(answer.attentions, gradients, strict=True):
        rolled = rolled + (attention * gradient).clamp(min=0).mean(dim=1).detach() @ rolled
    expected = rolled[:, read].mean(dim=1)[:, prefix:].view(3, 1, 4, 4)
    for network in (Answer(net), Answer(hugging_face(kind, "sdpa"))):
        found = salgen.explain(network, images, 1, method="generic-attention", reduce=None).values
        torch.testing.assert_close(found, upsampled(expected), rtol=1e-3, atol=1e-5 * float(expected.max()))


@pytest.mark.parametrize("kind", ["vit_tiny_patch16_224", "beit_base_patch16_224", "vit_small_patch16_dinov3"])
def test_fused_and_written_attention_of_timm_agree(kind, images):
    net, maps = of_timm(kind), []
    for fused in (True, False):
        for block in net.blocks:
            block.attn.fused_attn = fused
        chosen = [*METHODS, "transformer-attribution"]
        maps.append([salgen.explain(net, images, 0, method=method).values for method in chosen])
    for first, second in zip(*maps, strict=True):
        assert first.std() > 0
        torch.testing.assert_close(first, second, rtol=1e-3, atol=1e-5 * float(second.max()))


def test_the_first_block_left_alone_counts_in_legrad(images):
    alone = transformer(layers=1)
    found = salgen.explain(alone, images[:1], 0, method="legrad", reduce=None).values
    torch.testing.assert_close(found, upsampled(slow_legrad(alone, images[0], 0).view(1, 1, 4, 4)).detach())


class OneAttention(nn.Module):
    """A network that calls one attention several times."""

    def __init__(self, times=1, mask=None):
        super().__init__()
        torch.manual_seed(3)
        self.embed, self.attention = nn.Conv2d(3, 8, 8, 8), nn.MultiheadAttention(8, 2, batch_first=True)
        self.head, self.times, self.mask = nn.Linear(8, 2), times, mask

    def forward(self, x):
        tokens = self.embed(x).flatten(2).mT
        for _ in range(self.times):
            tokens = tokens + self.attention(tokens, tokens, tokens, attn_mask=self.mask)[0]
        return self.head(tokens.mean(dim=1))


def test_masked_attention_is_refused_in_one_line(images):
    with pytest.raises(SalgenError, match=r"generic-attention follows no attention with masks, .*: choose another"):
        salgen.explain(OneAttention(mask=torch.zeros(16, 16)).eval(), images, 0, method="generic-attention")


def test_legrad_needs_blocks(images):
    net = OneAttention(times=2).eval()
    with pytest.raises(SalgenError, match=r"legrad leaves out blocks, and finds none .*: choose generic-attention"):
        salgen.explain(net, images, 0, method="legrad")
    assert salgen.explain(net, images, 0, method="ag-cam").values.std() > 0


def shared(function, factors, relevance):
    """Relevance of factors in proportion to value times gradient of what they make."""
    leaves = [factor.detach().requires_grad_() for factor in factors]
    made = function(*leaves)
    gradients = torch.autograd.grad(made, leaves, relevance / (made + 1e-9 * (made == 0)).detach())
    return [(leaf * gradient).detach() for leaf, gradient in zip(leaves, gradients, strict=True)]


def dense(weight, signal, relevance):
    """z+ of (T, in) to (T, out): positive contributions alone, of positive and of negative inputs."""
    parts = (signal[:, None] * weight[None]).clamp(min=0)
    sums = parts.sum(dim=2, keepdim=True)
    return (parts / (sums + 1e-9 * (sums == 0)) * relevance[:, :, None]).sum(dim=1)


def residual(first, second, relevance):
    """In proportion, then each scaled to its share of the absolute sums."""
    parts = shared(torch.add, [first, second], relevance)
    sums = [part.sum() for part in parts]
    size = abs(sums[0]) + abs(sums[1])
    return [part * (abs(total) / size * (sums[0] + sums[1]) / total) for part, total in zip(parts, sums, strict=True)]


def slow_block_back(block, tokens, relevance):
    """The relevance of a block's tokens (T, E) and of each head's attention, from that of its output."""
    module, width = block.self_attention, tokens.shape[1]
    normed = block.ln_1(tokens)
    projected = normed @ module.in_proj_weight.T + module.in_proj_bias
    size = width // module.num_heads
    parts = [slice(head * size, (head + 1) * size) for head in range(module.num_heads)]
    queries, keys, values = projected.split(width, dim=1)
    scores = [queries[:, part] @ keys[:, part].T for part in parts]
    weights = [(score / math.sqrt(size)).softmax(dim=1) for score in scores]
    mixed = torch.cat([weight @ values[:, part] for weight, part in zip(weights, parts, strict=True)], dim=1)
    attended = module.out_proj(mixed)
    middle = tokens + attended
    hidden = block.mlp[0](block.ln_2(middle))
    to_middle, to_mlp = residual(middle, block.mlp(block.ln_2(middle)), relevance)
    to_hidden = dense(block.mlp[3].weight, block.mlp[1](hidden), to_mlp)
    to_middle = to_middle + dense(block.mlp[0].weight, block.ln_2(middle), to_hidden)
    to_tokens, to_attended = residual(tokens, attended, to_middle)
    to_mixed = dense(module.out_proj.weight, mixed, to_attended)
    of_weights, of_projected = [], torch.zeros_like(projected)
    for weight, part in zip(weights, parts, strict=True):
        to_weight, to_value = shared(torch.matmul, [weight, values[:, part]], to_mixed[:, part])
        of_weights.append(to_weight / 2)
        to_query, to_key = shared(lambda q, k: q @ k.T, [queries[:, part], keys[:, part]], to_weight / 2)
        of_projected[:, part] = to_query / 2
        of_projected[:, width:][:, part] = to_key / 2
        of_projected[:, 2 * width :][:, part] = to_value / 2
    return to_tokens + dense(module.in_proj_weight, normed, of_projected), of_weights


def slow_transformer_attribution(net, image, target):
    weights, _, after = slow_pass(net, image)
    gradients = [torch.autograd.grad(value(net, after[-1], target), heads, retain_graph=True) for heads in weights]
    first = torch.cat([net.class_token, net._process_input(image[None])], dim=1)[0] + net.encoder.pos_embedding[0]
    before = [first, *after[:-1]]
    relevance = torch.zeros_like(first)
    start = torch.zeros(1, 3).index_fill_(1, torch.tensor([target]), 1.0)
    relevance[:1] = dense(net.heads[0].weight, net.encoder.ln(after[-1])[:1], start)
    steps = []
    for block, tokens, of_heads in zip(reversed(net.encoder.layers), before[::-1], gradients[::-1], strict=True):
        relevance, of_weights = slow_block_back(block, tokens, relevance)
        steps.append(sum((g * r).clamp(min=0) for g, r in zip(of_heads, of_weights, strict=True)) / len(of_weights))
    rolled = torch.eye(17)
    for step in reversed(steps):
        rolled = (torch.eye(17) + step) @ rolled
    return rolled[0, 1:]


def test_transformer_attribution_equals_the_slow_transcription(images):
    net = transformer(layers=2).double()
    torch.set_default_dtype(torch.float64)
    try:
        pairs = enumerate(images.double())
        expected = torch.stack([slow_transformer_attribution(net, image, k).view(1, 4, 4) for k, image in pairs])
    finally:
        torch.set_default_dtype(torch.float32)
    found = salgen.explain(net, images.double(), [0, 1, 2], method="transformer-attribution", reduce=None).values
    expected = upsampled(expected.detach())
    assert expected.std() > 0
    torch.testing.assert_close(found.double(), expected, rtol=1e-3, atol=1e-5 * float(expected.max()))
