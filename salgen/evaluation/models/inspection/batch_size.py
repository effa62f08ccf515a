"""The number of images that pass through a network at once: by a memory budget, halved when memory runs out."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
import torch
from torch import Tensor
from salgen.errors import SalgenError, warn
from salgen.evaluation.models.inspection.memory import is_out_of_memory
from salgen.evaluation.models.inspection.model_view import ModelView, check_logits
from salgen.evaluation.models.inspection.network_trace import forward_pass
from salgen.evaluation.models.inspection.probe import counted

T = TypeVar("T")

WITH_GRADIENT = 3  # memory of a backward pass, in forward passes: activations, gradients, working space
SHARE_OF_FREE = 0.5
CPU_BYTES = 2**23  # largest tensor: larger ones leave the cache, and passes take up to a tenth longer
CPU_LEAST = 8  # images, even where their tensors are larger: passes of two large images took a sixth longer


@dataclass
class MicroBatches:
    """Work in parts of at most `size`; a part that does not fit into memory is halved, and so are those after it."""

    size: int

    def over(self, count: int, work: Callable[[slice], T]) -> list[T]:
        """The results of `work` on consecutive parts of ``range(count)``."""
        done: list[T] = []
        start = 0
        while start < count:
            part = slice(start, min(start + self.size, count))
            try:
                done.append(work(part))
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
                failed = part.stop - part.start
                if failed == 1:
                    raise MemoryError("one image does not fit") from error
                self.size = failed // 2
                if torch.cuda.is_available():
                    torch.cuda.empty_cache()
                warn(f"out of memory with {failed} images at once: going on with {self.size} (max_memory sets a limit)")
            else:
                start = part.stop
        return done

    def values(
        self,
        view: ModelView,
        count: int,
        inputs: Callable[[slice], Tensor],
        value: Callable[[Tensor, slice], Tensor] = lambda logits, _: logits,
    ) -> Tensor:
        """The value (count, ...) of many changed images, or their logits (count, K), without gradient; `count` > 0.

        `inputs` makes the normalised images (m, C, h, w) of a part of ``range(count)``. `value` is of their checked
        logits (m, K) and the part. Images and logits are kept for one part at a time.
        """

        def work(part: slice) -> Tensor:
            def forward() -> Tensor:
                made = inputs(part)
                with view.failures(made):
                    logits = view.forward(made)
                return check_logits(logits, len(made))

            return value(counted(part.stop - part.start, forward), part)

        with torch.inference_mode(False), torch.no_grad():
            return torch.cat(self.over(count, work))


def images_at_once(view: ModelView, image: Tensor, most: int, budget: float, passes: int) -> int:
    """Batch size up to `most` for images (1, C, h, w): what fits the budget in bytes and, on a CPU, the cache."""
    of_one = forward_pass(view, image)
    if image.device.type == "cpu":
        most = min(most, max(CPU_LEAST, CPU_BYTES // max(1, of_one.largest)))
    return max(1, min(most, int(budget // max(1, passes * of_one.bytes))))


def memory_budget(device: torch.device, max_memory: float | None) -> float:
    """Bytes that may be used: `max_memory` (GB), or half of what is free."""
    if max_memory is None:
        return SHARE_OF_FREE * _free_bytes(device)
    if not 0 < max_memory < math.inf:
        raise SalgenError(f"max_memory = {max_memory!r}: must be a positive number of GB")
    return max_memory * 1e9


def _free_bytes(device: torch.device) -> float:
    """Free memory of a device, or infinity where the platform does not say."""
    if device.type == "cuda":
        return float(torch.cuda.mem_get_info(device)[0])
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return math.inf
    available = next(line for line in lines if line.startswith("MemAvailable"))
    return float(available.split()[1]) * 1024
