"""Attention maps against loops over heads and tokens, written from the papers."""

import math

import pytest
import torch
from torch import nn
from torchvision.models import VisionTransformer

import salgen
from salgen.errors import SalgenError
from salgen.evaluation.attribution.explaining import explain_all
from salgen.testing.methods import state_of

METHODS = ["raw-attention", "attention-rollout"]


def transformer(channels=3, layers=2, size=32):
    torch.manual_seed(0)
    net = VisionTransformer(size, 8, layers, num_heads=2, hidden_dim=16, mlp_dim=32, num_classes=3)
    if channels != 3:
        net.conv_proj = nn.Conv2d(channels, 16, 8, 8)
    for parameter in net.parameters():
        nn.init.normal_(parameter, std=0.3)  # the class token and the head start at zero
    return net.eval()


@pytest.fixture(scope="module")
def net():
    return transformer()


@pytest.fixture(scope="module")
def images():
    return torch.rand(3, 3, 32, 32, generator=torch.Generator().manual_seed(1))


def slow_attentions(net, image):
    """Per block the attention (T, T) of one image, by loops over heads and tokens."""
    tokens = net._process_input(image[None])
    tokens = torch.cat([net.class_token, tokens], dim=1) + net.encoder.pos_embedding
    found = []
    for block in net.encoder.layers:
        found.append(slow_attention(block.self_attention, block.ln_1(tokens)[0].detach()))
        tokens = block(tokens)
    return found


def slow_attention(module, tokens):
    count, width = tokens.shape
    queries, keys, _ = (tokens @ module.in_proj_weight.T + module.in_proj_bias).detach().split(width, dim=1)
    size = width // module.num_heads
    mean = torch.zeros(count, count)
    for head in range(module.num_heads):
        part = slice(head * size, (head + 1) * size)
        for i in range(count):
            logits = [float(queries[i, part] @ keys[j, part]) / math.sqrt(size) for j in range(count)]
            total = sum(math.exp(value) for value in logits)
            for j in range(count):
                mean[i, j] += math.exp(logits[j]) / total / module.num_heads
    return mean


def slow_rollout(attentions):
    rolled = torch.eye(len(attentions[0]))
    for attention in attentions:
        step = 0.5 * attention + 0.5 * torch.eye(len(attention))
        for row in step:
            row /= row.sum()
        rolled = step @ rolled
    return rolled


def test_raw_attention_is_the_class_tokens_row_of_the_last_block(net, images):
    found = salgen.explain(net, images, 0, method="raw-attention", reduce=None)
    assert found.native_resolution == (4, 4)
    expected = torch.stack([slow_attentions(net, image)[-1][0, 1:].view(1, 4, 4) for image in images])
    assert expected.std() > 1e-3
    torch.testing.assert_close(found.values, upsampled(expected), rtol=1e-4, atol=1e-6)


def test_rollout_is_the_product_over_blocks(net, images):
    found = salgen.explain(net, images, 0, method="attention-rollout", reduce=None).values
    expected = torch.stack([slow_rollout(slow_attentions(net, image))[0, 1:].view(1, 4, 4) for image in images])
    torch.testing.assert_close(found, upsampled(expected), rtol=1e-4, atol=1e-6)


def upsampled(maps):
    return nn.functional.interpolate(maps, (32, 32), mode="bilinear", align_corners=False)


def test_one_block_rolled_out_is_half_of_its_attention(images):
    net = transformer(layers=1)
    raw, rolled = (salgen.explain(net, images, 0, method=method).values for method in METHODS)
    torch.testing.assert_close(rolled, raw / 2)


def test_attention_shares_the_forward_pass(images):
    net, passes = transformer(), []
    net.register_forward_hook(lambda *_: passes.append(1))

    def count(methods):
        passes.clear()
        explain_all(net, images, 0, methods=methods)
        return len(passes)

    layer = "grad-cam:layer=encoder.layers.encoder_layer_1.ln_1"
    assert count([layer, *METHODS]) == count([layer]) + 1  # one look finds the blocks


@pytest.mark.parametrize("method", METHODS)
def test_tokens_may_come_before_the_batch(method, images):
    class Plain(nn.Module):
        def __init__(self, batch_first):
            super().__init__()
            torch.manual_seed(3)
            self.embed, self.norm = nn.Linear(48, 8), nn.LayerNorm(8)
            self.attention = nn.MultiheadAttention(8, 2, batch_first=batch_first)
            self.head, self.batch_first = nn.Linear(8, 2), batch_first

        def forward(self, x):
            tokens = nn.functional.unfold(x, 4, stride=4).transpose(1, 2)
            tokens = self.embed(torch.cat([tokens.mean(dim=1, keepdim=True), tokens], dim=1))
            tokens = self.norm(tokens if self.batch_first else tokens.transpose(0, 1))
            mixed, _ = self.attention(tokens, tokens, tokens)
            return self.head(mixed[:, 0] if self.batch_first else mixed[0])

    first, second = (salgen.explain(Plain(order), images, 0, method=method).values for order in (True, False))
    assert first.std() > 0
    torch.testing.assert_close(first, second)


class Block(nn.Module):
    """A network of one block, which can be wrong in several ways."""

    def __init__(self, flaw):
        super().__init__()
        self.embed, self.norm = nn.Conv2d(3, 8, 8, 8), nn.LayerNorm(8)
        self.attention, self.head = nn.MultiheadAttention(8, 2, batch_first=True), nn.Linear(8, 2)
        self.flaw = flaw

    def forward(self, x):
        tokens = self.embed(x).flatten(2).transpose(1, 2)
        if self.flaw != "no class token":
            tokens = torch.cat([tokens.mean(dim=1, keepdim=True), tokens], dim=1)
        for _ in range(2 if self.flaw == "twice" else 1):
            normed = self.norm(tokens)
            keys = tokens if self.flaw == "other keys" else normed
            if self.flaw == "no norm":
                normed = keys = tokens
            tokens = tokens + self.attention(normed, keys, keys)[0]
        return self.head(tokens[:, 0])


REFUSED = {
    "no class token": "16 tokens are no class token and a square",
    "twice": "runs more than once",
    "other keys": "'attention' is no self-attention over a layer norm",
    "no norm": "'attention' is no self-attention over a layer norm",
}


@pytest.mark.parametrize("method", METHODS)
def test_other_networks_are_refused(method, images):
    with pytest.raises(SalgenError, match=f"{method}: the network has no attention.*vit-b-16"):
        salgen.explain(nn.Sequential(nn.Flatten(), nn.Linear(3072, 2)), images, 0, method=method)
    for flaw, words in REFUSED.items():
        net = Block(flaw)
        before = state_of(net)
        with pytest.raises(SalgenError, match=f"{method}: .*{words}"):
            salgen.explain(net, images, 0, method=method)
        assert state_of(net) == before
    salgen.explain(Block(None), images, 0, method=method)
