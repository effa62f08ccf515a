"""The layers of a network by name, and their outputs as channels of an image."""

from torch import Tensor, nn
from salgen.errors import SalgenError, unknown_name
from salgen.evaluation.models.inspection.gradient_check import check_gradient
from salgen.evaluation.models.inspection.grid import Grid
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.inspection.network_trace import NetworkTrace


def find_layer(view: ModelView, name: str) -> nn.Module:
    """The module of the network with that dotted name."""
    modules: dict[str, nn.Module] = dict(view.network.named_modules())
    if name not in modules:
        raise unknown_name("layer", name, modules)
    return modules[name]


def layer_grid(view: ModelView, image: Tensor, name: str) -> Grid:
    """The arrangement of a layer's output as channels of images (n, C, h, w) like this one.

    Channels may stand first or last, and pixels as rows and columns, windows or tokens, beside a class token or not.
    """
    find_layer(view, name)
    trace = NetworkTrace.of(view, image[:1])
    shape = trace.outputs.get(name)
    if shape is None:
        fault = "does not run when the model does"
    elif isinstance(shape, str):
        fault = f"gives {shape}, not one tensor"
    elif name not in trace.grids:
        fault = f"gives {shape}, which has no known axes of channels and of an image's pixels"
    elif name in trace.unread:
        fault = f"gives {shape}, of which the logits read no pixel, only the class token"
    else:
        return trace.grids[name]
    other = _working_layer(view, trace)
    advice = f"choose another, such as {say_layer(other)}" if other else _NO_LAYER
    raise SalgenError(f"layer {name!r} {fault}: {advice}")


def default_layer(view: ModelView, inputs: Tensor) -> str:
    """The layer that the model names, unless it is one pixel at this size of image; else the last spatial layer."""
    if view.cam_layer and NetworkTrace.of(view, inputs[:1]).pixels(view.cam_layer) != 1:
        return view.cam_layer
    found = last_spatial_layer(view, inputs)
    try:
        check_gradient(_DEFAULT, view, inputs)
    except SalgenError as error:  # paths without gradient were not seen
        raise SalgenError(f"{error}; or name a layer, such as {say_layer(found)}") from None
    return found


def last_spatial_layer(view: ModelView, inputs: Tensor) -> str:
    """The module of the last map that every path from the image to the logits passes through.

    So ``layer4`` of a ResNet, ``features.29`` of VGG-16, and the last block but one of a ViT, after which
    only the class token counts: never a branch, a map inside a residual block, or a pool.
    """
    trace = NetworkTrace.of(view, inputs[:1])
    if trace.bottleneck is not None:
        return trace.bottleneck
    if name := _working_layer(view, trace):
        raise SalgenError(
            "the model has no layer of more than one pixel through which every path from the image to the logits "
            f"goes: name one with layer=, such as {say_layer(name)}"
        )
    check_gradient(_DEFAULT, view, inputs)  # without gradients no layer is seen
    raise SalgenError(
        "the model has no layer whose numbers have a place in the image each, or hides its layers, as "
        f"scripted, traced and exported code does: {_NO_LAYER}"
    )


def last_map(view: ModelView, inputs: Tensor) -> str | None:
    """The last module whose channels have more than one pixel: the input of a global pool."""
    trace = NetworkTrace.of(view, inputs[:1])
    return next((name for name in reversed(trace.outputs) if trace.pixels(name) > 1), None)


_DEFAULT = "by default the layer is the last on all paths"
_NO_LAYER = "choose a method that needs no layer, such as occlusion"


def say_layer(name: str) -> str:
    """A layer, and how it is given to a method."""
    return f"{name!r} (layer={name!r} from Python, METHOD:layer={name} on the command line)"


def _working_layer(view: ModelView, trace: NetworkTrace) -> str | None:
    """The model's own choice of a layer, or else the default, or else the last; of those that have a grid."""
    names = (view.cam_layer, trace.bottleneck, *reversed(trace.outputs))
    return next((name for name in names if name and name not in trace.unread and trace.pixels(name) > 1), None)
