"""What a computation costs on any machine: its convolutions and matrix products, forwards and backwards."""

from typing import Any
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry


class Flops(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts operations of convolutions and matrix products; PyTorch's own counter breaks captum's DeepLift."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        if formula := flop_registry.get(func._overloadpacket):
            self.count += formula(*args, **kwargs, out_val=result)
        return result
