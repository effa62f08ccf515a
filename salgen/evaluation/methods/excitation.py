"""Excitation backpropagation: the chance that a winner-take-all walk from the class down passes a place."""

from dataclasses import dataclass
from functools import cache
from torch import Tensor, nn
from salgen.errors import SalgenError
from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.attribution.propagation.relevance_network import RelevanceNetwork, Rules
from salgen.evaluation.attribution.relevance import last_mixing, relevance_network, stabilised
from salgen.evaluation.methods.lrp import RelevanceMethod
from salgen.evaluation.models.inspection.layers import find_layer, layer_grid, say_layer
from salgen.evaluation.models.inspection.model_view import ModelView, NetworkCache
from salgen.evaluation.models.inspection.network_trace import NetworkTrace
from salgen.parameters import param

INPUT = "input"

POOLS = (nn.MaxPool2d, nn.AvgPool2d, nn.AdaptiveMaxPool2d, nn.AdaptiveAvgPool2d)
UNCHANGED = (nn.Flatten, nn.Identity, nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout)


@dataclass(frozen=True)
class ExcitationBackprop(RelevanceMethod):
    """Probability passed down in proportion to excitation: by positive values times positive weights.

    P(j) = sum_i P(i) a_j w+_ji / sum_j a_j w+_ji, from 1 at the target. a_j is a value's positive part. A margin starts
    with -1 at the best other class too. The map is summed over channels, then clamped at zero. An input below zero, as
    normalisation makes them, excites nothing. A batch norm that no linear map comes before is a map of one weight per
    value.

    The sum over a layer stays 1 but for the stabiliser. Probability ends at a unit that nothing excites: one that is on
    by its bias alone, say. Below a residual sum single values can be negative, since a term against the sum has a
    negative share.
    """

    name = "excitation-backprop"
    shows_image = True
    reference = "Zhang et al. 2018, Top-down neural attention by excitation backprop, doi:10.1007/s11263-017-1059-x"
    signed = False
    version = "2"
    resolution = "the layer's"

    layer: str | None = param(
        None, f"module whose output is read, or {INPUT}; default: the last pool before the CAM layer"
    )
    bias: bool = param(False, "let positive biases take their share")
    stabiliser: float = param(1e-6, "added to a denominator, with its sign", low=0.0)

    def check(self, model: ModelView, image: Tensor) -> None:
        """Refuse networks with other operations, and layers without excitation."""
        super().check(model, image)
        _layers_checked(self).of(self.name, model, image)

    def attribute(self, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w) at the layer's resolution."""
        network = relevance_network(context, self.name)
        layer = _layers_checked(self).of(self.name, context.model, context.inputs)
        excitation = self._excitation(context, network, place(network, layer))
        if layer != INPUT:
            excitation = layer_grid(context.model, context.inputs, layer).channels(excitation)
        return excitation.sum(dim=1, keepdim=True).clamp(min=0)  # channels of one pixel may differ in sign

    def _excitation(self, context: AttributionContext, network: RelevanceNetwork, target: Tensor) -> Tensor:
        """The excitation of a tensor of the network."""
        return network.propagate(self._rules(), network.output, context.start(network.output), target)

    def _check_layers(self, model: ModelView, network: RelevanceNetwork) -> str:
        default = default_layer(model, network)
        layer = default if self.layer is None else self.layer
        self._check_path(model, network, layer, network.output, "the logits", say_layer(default))
        if layer != INPUT:
            layer_grid(model, network.leaf.detach(), layer)
        return layer

    def _check_path(
        self, model: ModelView, network: RelevanceNetwork, layer: str, source: Tensor, source_name: str, other: str
    ) -> None:
        if layer != INPUT:
            find_layer(model, layer)
        if layer not in (INPUT, *network.outputs) or not network.connects(source, place(network, layer)):
            raise SalgenError(
                f"{self.name}: no excitation reaches layer {layer!r} from {source_name}: choose another, such as "
                f"{other}; of a merged convolution take its batch norm"
            )

    def _rules(self, negated: int | None = None) -> Rules:
        """In proportion to positive values times positive weights; `negated` is a map whose weights are negated."""
        from zennit.core import BasicHook, Stabilizer
        from zennit.rules import ClampMod, Norm

        stabiliser, zeroed = stabilised(self.stabiliser), None if self.bias else ["bias"]
        divisor = Stabilizer.ensure(stabiliser)

        def rule(weights: ClampMod) -> BasicHook:
            return BasicHook(
                input_modifiers=[lambda signal: signal.clamp(min=0)],
                param_modifiers=[weights],
                gradient_mapper=lambda probability, totals: [probability / divisor(totals[0])],
                reducer=lambda signals, gradients: signals[0] * gradients[0],
            )

        own, dual = rule(ClampMod(min=0.0, zero_params=zeroed)), rule(ClampMod(max=0.0, zero_params=zeroed))
        return Rules(lambda linear: dual if linear.position == negated else own, sharing=Norm(stabiliser))


@dataclass(frozen=True)
class ContrastiveExcitationBackprop(ExcitationBackprop):
    """Excitation of the class minus that of its dual unit, whose weights are the class's negated.

    Both start with 1 at the output. The difference at the contrast layer is passed on to the map's layer like any
    excitation, summed over channels, then clamped at zero. Any contrast layer that all excitation goes through gives
    the same map.

    The dual stands for what speaks against the class. The map is zero where class and dual excite the same units below
    in the same measure. Classes of equal weights have equal maps, which are zero under ``score=margin``.
    """

    name = "contrastive-excitation-backprop"

    contrast: str | None = param(
        None, f"where the dual is subtracted, or {INPUT}; default: before the last linear layer"
    )

    def _excitation(self, context: AttributionContext, network: RelevanceNetwork, target: Tensor) -> Tensor:
        start, contrast = context.start(network.output), place(network, self._contrast(context.model, network))
        excited = network.propagate(self._rules(), network.output, start, contrast)
        opposed = network.propagate(self._rules(negated=last_mixing(network)), network.output, start, contrast)
        return network.propagate(self._rules(), contrast, excited - opposed, target)

    def _contrast(self, model: ModelView, network: RelevanceNetwork) -> str:
        return default_contrast(model, network) if self.contrast is None else self.contrast

    def _check_layers(self, model: ModelView, network: RelevanceNetwork) -> str:
        layer, contrast = super()._check_layers(model, network), self._contrast(model, network)
        other = f"contrast={default_contrast(model, network)!r}"
        self._check_path(model, network, contrast, network.output, "the logits", other)
        self._check_path(model, network, layer, place(network, contrast), f"contrast layer {contrast!r}", other)
        return layer


def default_layer(model: ModelView, network: RelevanceNetwork) -> str:
    """The map's layer: ``features.23`` of a VGG-16, ``layer3`` of a ResNet, ``block3`` of four blocks.

    Levels are walked from the root to the CAM layer. Of the first level at which a pool or a module of several parts
    ran before, it is the last. It is the CAM layer if that is more than twice as fine, and the input if excitation
    reaches none of several pixels.
    """
    modules, trace = dict(model.network.named_modules()), NetworkTrace.of(model, network.leaf.detach())
    maps = [name for name in network.outputs if trace.pixels(name) > 1]
    convolutions = [name for name in maps if isinstance(modules[name], nn.Conv2d)]
    reached = model.cam_layer if model.cam_layer in maps else (convolutions or [""])[-1]
    path, stages = str(reached).split("."), list[str]()
    for depth in range(len(path)):
        siblings = [name for name in network.outputs if name and name.split(".")[:-1] == path[:depth]]
        name = ".".join(path[: depth + 1])
        before = siblings[: siblings.index(name)] if name in siblings else []
        stages = stages or [n for n in before if isinstance(modules[n], POOLS) or any(modules[n].children())]
    near = [name for name in stages if 1 < trace.pixels(name) <= 4 * trace.pixels(reached)]
    choices = (*near[-1:], model.cam_layer, trace.bottleneck, *reversed(maps))
    reachable = (n for n in choices if n in maps and network.connects(network.output, network.outputs[n]))
    return next(reachable, INPUT)


def default_contrast(model: ModelView, network: RelevanceNetwork) -> str:
    """The contrast layer, at which the dual is subtracted: ``classifier.4`` of a VGG-16, ``avgpool`` of a ResNet.

    The module that finished last before the last linear map began, other than dropout and flatten;
    the input if there is none.
    """
    modules = dict(model.network.named_modules())
    return next((n for n in reversed(network.before_last_map) if not isinstance(modules[n], UNCHANGED)), INPUT)


def place(network: RelevanceNetwork, layer: str) -> Tensor:
    """A module's output, or the network's input."""
    return network.leaf if layer == INPUT else network.outputs[layer]


@cache
def _layers_checked(method: ExcitationBackprop) -> NetworkCache[str]:
    """The method's layer, which excitation reaches; found once per network and size."""

    def check(_name: str, view: ModelView, image: Tensor) -> str:
        network = RelevanceNetwork.forward(method.name, view, image)
        try:
            return method._check_layers(view, network)
        finally:
            network.release()

    return NetworkCache(check)
