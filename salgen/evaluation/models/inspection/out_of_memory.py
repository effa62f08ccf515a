"""Errors that mean out of memory."""

import torch


def is_out_of_memory(error: BaseException) -> bool:
    """True if an error says that a device or the machine had too little memory."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    return isinstance(error, RuntimeError) and "can't allocate memory" in str(error)
