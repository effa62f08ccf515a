"""Attention maps against the papers' formulas, of attention that torch, timm and Hugging Face give."""

import math
import pytest
import timm
import torch
import transformers
from small_networks import batch_sizes
from torch import nn
from torchvision.models import VisionTransformer
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.attribution.batch_explainer import check_methods
from salgen.evaluation.attribution.explaining import explain
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.registry import METHODS as METHODS_BY_NAME
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


def slow_block(block, tokens, weights, scores):
    """A block of one image's tokens (T, E), noting each head's weights and scores (T, T)."""
    module, normed = block.self_attention, block.ln_1(tokens)
    queries, keys, values = (normed @ module.in_proj_weight.T + module.in_proj_bias).split(tokens.shape[1], dim=1)
    size, mixed = tokens.shape[1] // module.num_heads, []
    for head in range(module.num_heads):
        part = slice(head * size, (head + 1) * size)
        scores.append(queries[:, part] @ keys[:, part].T / math.sqrt(size))
        weights.append(torch.exp(scores[-1]) / torch.exp(scores[-1]).sum(dim=1, keepdim=True))
        mixed.append(weights[-1] @ values[:, part])
    tokens = tokens + module.out_proj(torch.cat(mixed, dim=1))
    return tokens + block.mlp(block.ln_2(tokens))


def slow_pass(net, image):
    """Weights and scores by block and head, and the tokens after each block."""
    tokens = torch.cat([net.class_token, net._process_input(image[None])], dim=1)[0] + net.encoder.pos_embedding[0]
    tokens, weights, scores, after = tokens.requires_grad_(), [], [], []
    for block in net.encoder.layers:
        weights.append([])
        scores.append([])
        tokens = slow_block(block, tokens, weights[-1], scores[-1])
        after.append(tokens)
    return weights, scores, after


def slow_rollout(attentions):
    rolled = torch.eye(len(attentions[0]))
    for attention in attentions:
        step = 0.5 * attention + 0.5 * torch.eye(len(attention))
        for row in step:
            row /= row.sum()
        rolled = step @ rolled
    return rolled


@pytest.mark.parametrize("method", METHODS)
def test_attention_is_that_of_each_head_by_hand(net, images, method):
    found = salgen.explain(net, images, 0, method=method, reduce=None)
    assert found.native_resolution == (4, 4)
    attentions = [[torch.stack(heads) for heads in slow_pass(net, image)[0]] for image in images]
    expected = torch.stack([oracle(of_blocks, method, CLASS, 1) for of_blocks in attentions])
    assert expected.std() > 1e-3
    torch.testing.assert_close(found.values, upsampled(expected[:, None]), rtol=1e-4, atol=1e-6)


def upsampled(maps):
    return nn.functional.interpolate(maps, (32, 32), mode="bilinear", align_corners=False)


def test_attention_methods_share_a_forward_pass(images):
    net = transformer()
    passes = batch_sizes(net)

    def count(methods):
        passes.clear()
        explain(net, images, 0, method=methods)
        return len(passes)

    layer = "grad-cam:layer=encoder.layers.encoder_layer_1.ln_1"
    assert count([layer, *METHODS]) == count([layer]) + 2  # one look at the tokens, and one pass for both


class Answer(nn.Module):
    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, x):
        return self.network(pixel_values=x).logits


def hugging_face(kind, kernel="eager", **options):
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = getattr(transformers, kind.partition("For")[0] + "Config")(
        **sizes, image_size=32, patch_size=8, num_labels=3, attn_implementation=kernel, initializer_range=0.5, **options
    )
    torch.manual_seed(0)
    return getattr(transformers, kind)(config).eval()


CLASS, BOTH, POOLED = [0], [0, 1], slice(1, None)
HUGGING_FACE = {  # to the tokens that the logits read, and the number of tokens that are no patch
    "ViTForImageClassification": (CLASS, 1),
    "DeiTForImageClassification": (CLASS, 2),
    "DeiTForImageClassificationWithTeacher": (BOTH, 2),
    "BeitForImageClassification": (POOLED, 1),
    "Dinov2ForImageClassification": (CLASS, 1),  # and the mean of patches beside it
    "Dinov2WithRegistersForImageClassification": (CLASS, 5),
}


def oracle(attentions, method, read, prefix):
    """The map of one image (h, w) from attentions (heads, T, T) in order."""
    mean = [heads.mean(dim=0).detach() for heads in attentions]
    mixed = mean[-1] if method == "raw-attention" else slow_rollout(mean)
    return mixed[read].mean(dim=0)[prefix:].view(4, 4)


@pytest.mark.parametrize("kind", HUGGING_FACE)
def test_attention_is_what_hugging_face_gives(kind, images):
    net, fused = hugging_face(kind), Answer(hugging_face(kind, "sdpa"))
    shown = net(pixel_values=images, output_attentions=True).attentions
    for method in METHODS:
        expected = torch.stack(
            [oracle([layer[i] for layer in shown], method, *HUGGING_FACE[kind]) for i in range(len(images))]
        )
        for network in (Answer(net), fused):
            found = salgen.explain(network, images, 0, method=method, reduce=None)
            assert found.native_resolution == (4, 4)
            torch.testing.assert_close(found.values, upsampled(expected[:, None]), rtol=1e-4, atol=1e-6)


def of_timm(kind, **options):
    torch.manual_seed(0)
    sizes = {"img_size": 32, "patch_size": 8, "depth": 2, "embed_dim": 24, "num_heads": 2}
    net = timm.create_model(kind, num_classes=3, **sizes, **options)
    for parameter in net.parameters():
        nn.init.normal_(parameter, std=0.3)
    return net.eval()


TIMM = {
    "vit_tiny_patch16_224": ({}, CLASS, 1),
    "deit_tiny_distilled_patch16_224": ({}, BOTH, 2),
    "vit_base_patch14_reg4_dinov2": ({"qk_norm": True}, CLASS, 5),
    "vit_medium_patch16_reg4_gap_256": ({}, slice(4, None), 4),
    "beit_base_patch16_224": ({}, POOLED, 1),
    "eva02_tiny_patch14_224": ({"global_pool": "token"}, CLASS, 1),
    "vit_small_patch16_dinov3": ({}, slice(5, None), 5),
}


@pytest.mark.parametrize("kind", TIMM)
def test_attention_is_what_timm_drops_out(kind, images):
    options, read, prefix = TIMM[kind]
    net = of_timm(kind, **options)
    fused = {method: salgen.explain(net, images, 0, method=method, reduce=None).values for method in METHODS}
    written = []
    for block in net.blocks:
        assert block.attn.fused_attn
        block.attn.fused_attn = False
        block.attn.attn_drop.register_forward_hook(lambda _, inputs, __: written.append(inputs[0]))
    net(images)
    shown = written[:]
    for method in METHODS:
        expected = torch.stack([oracle([layer[i] for layer in shown], method, read, prefix) for i in range(3)])
        found = salgen.explain(net, images, 0, method=method, reduce=None).values
        for values in (fused[method], found):
            torch.testing.assert_close(values, upsampled(expected[:, None]), rtol=1e-4, atol=1e-6)


class Block(nn.Module):
    """A network of one attention or two, which can be computed in several ways."""

    def __init__(self, kind=""):
        super().__init__()
        torch.manual_seed(3)
        self.embed, self.norm = nn.Conv2d(3, 8, 8, 8), nn.LayerNorm(8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=kind == "module")
        self.head = nn.Linear(8, 2)
        self.attend, self.project = nn.Softmax(dim=-1), nn.Linear(8, 24)
        self.kind = kind

    def forward(self, x):
        tokens = self.embed(x).flatten(2).transpose(1, 2)
        if self.kind == "pooled":
            mixed = self.mix(self.norm(tokens))
            return self.head(mixed.mean(dim=1))
        tokens = torch.cat([tokens.mean(dim=1, keepdim=True), tokens], dim=1)
        if self.kind == "module":
            normed = self.norm(tokens)
            return self.head((tokens + self.attention(normed, normed, normed)[0])[:, 0])
        if self.kind == "tokens first":
            tokens = tokens.transpose(0, 1)
            normed = self.norm(tokens)
            return self.head((tokens + self.attention(normed, normed, normed)[0])[0])
        if self.kind == "last":
            return self.head(self.mix(tokens.flip(1))[:, -1])
        for _ in range(2 if self.kind == "twice" else 1):
            tokens = tokens + self.mix(self.norm(tokens))
        if self.kind == "beside":
            tokens = tokens + self.mix(self.embed(x).flatten(2).transpose(1, 2).repeat(1, 2, 1)[:, :17])
        if self.kind == "merged":
            tokens = self.mix(torch.cat([tokens[:, :1], tokens[:, 1::2]], dim=1))
        return self.head(tokens[:, 0])

    def mix(self, tokens):
        split = self.project(tokens).unflatten(2, (3, 2, 4)).permute(2, 0, 3, 1, 4)
        query, key, value = split
        if self.kind == "windows":
            query, key, value = (t[:, :, 1:].reshape(-1, 2, 4, 4) for t in split)
        if self.kind == "pooled keys":
            key, value = key[:, :, ::2], value[:, :, ::2]
        if self.kind == "channels":
            query, key, value = (t.transpose(-1, -2) for t in split)
        if self.kind == "heads in the batch":
            query, key, value = (t.flatten(0, 1) for t in split)
        if self.kind == "causal":
            mixed = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True, scale=2.0)
            return mixed.transpose(1, 2).flatten(2)
        weights = self.attend(query @ key.transpose(-1, -2))
        if self.kind == "talking":
            weights = weights * torch.tensor([0.3, 0.7])[:, None, None]
        mixed = (
            torch.einsum("b h i j, b h j d -> b i h d", weights, value) if self.kind == "einsum" else weights @ value
        )
        if self.kind == "windows":
            mixed = torch.cat([split[2][:, :, :1], mixed.reshape(len(tokens), 2, 16, 4)], dim=2)
        if self.kind == "heads in the batch":
            mixed = mixed.unflatten(0, (len(tokens), 2))
        if self.kind == "channels":
            mixed = mixed.transpose(-1, -2)
        return mixed.flatten(2) if self.kind == "einsum" else mixed.transpose(1, 2).flatten(2)


def attention_of(net, tokens):
    query, key, _ = net.project(tokens).unflatten(2, (3, 2, 4)).permute(2, 0, 3, 1, 4)
    return (query @ key.mT).softmax(-1).mean(dim=1).detach()


def test_attention_may_be_written_in_other_ways(images):
    def first(kind, **options):
        return salgen.explain(Block(kind), images, 0, method="raw-attention", **options).values

    torch.testing.assert_close(first("einsum"), first(""))
    torch.testing.assert_close(first("tokens first"), first("module"))
    causal = first("causal", reduce=None)
    assert causal.abs().max() == 0  # the class token, which comes first, attends to itself alone
    net = Block("last")
    tokens = net.embed(images).flatten(2).mT
    attention = attention_of(net, torch.cat([tokens.mean(dim=1, keepdim=True), tokens], dim=1))
    torch.testing.assert_close(first("last", reduce=None), upsampled(attention[:, :1, 1:].reshape(3, 1, 4, 4)))


def test_where_the_patches_are_pooled_the_map_is_the_mean_over_their_rows(images):
    net = Block("pooled")
    attention = attention_of(net, net.norm(net.embed(images).flatten(2).mT))
    for method, expected in (("raw-attention", attention), ("attention-rollout", attention / 2 + torch.eye(16) / 2)):
        found = salgen.explain(net, images, 0, method=method, reduce=None).values
        torch.testing.assert_close(found, upsampled(expected.mean(dim=1).view(3, 1, 4, 4)))


def test_patches_need_not_be_a_square():
    net = Block()
    found = salgen.explain(net, torch.rand(2, 3, 32, 48), 0, method="attention-rollout")
    assert found.native_resolution == (4, 6)


REFUSED = {
    "windows": "attends within windows",
    "heads in the batch": "merges heads with the batch",
    "pooled keys": "attends from 17 tokens to 9",
    "channels": "attends over channels",
    "talking": "weights are changed between softmax and values",
    "merged": "has 9 tokens, but layer '' before it has 17",
    "beside": "attends beside layer '', not after it",
}


@pytest.mark.parametrize("method", METHODS)
def test_other_networks_are_refused(method, images):
    with pytest.raises(SalgenError, match=f"{method}: the network has no attention.*ViT"):
        salgen.explain(nn.Sequential(nn.Flatten(), nn.Linear(3072, 2)), images, 0, method=method)
    for kind, words in REFUSED.items():
        net = Block(kind)
        before = state_of(net)
        with pytest.raises(SalgenError, match=f"{method}: .*{words}.*DINOv2"):
            salgen.explain(net, images, 0, method=method)
        assert state_of(net) == before
    for kind in ("", "module", "twice"):
        net = Block(kind)
        check_methods(ModelView.of(net), {method: METHODS_BY_NAME.create(method, {})}, images[:1])
        salgen.explain(net, images, 0, method=method)
