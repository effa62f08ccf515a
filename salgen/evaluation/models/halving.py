"""Checks shared by networks whose blocks each halve the image."""

from salgen.errors import SalgenError


def check_widths(name: str, widths: tuple[int, ...], example: tuple[int, ...]) -> None:
    """Raise a SalgenError if there is no block."""
    if not widths:
        widths_text = ",".join(map(str, example))
        raise SalgenError(f"{name}: widths is empty; it takes one number of channels per block, e.g. {widths_text}")


def check_size(name: str, blocks: int, image_size: tuple[int, int]) -> None:
    """Raise a SalgenError if nothing would be left of the image after the last block."""
    smallest = 2**blocks
    if min(image_size) < smallest:
        raise SalgenError(
            f"image size {image_size[0]}x{image_size[1]} is too small for {name} with {blocks} blocks: each side must "
            f"be at least {smallest}; make the images larger or widths shorter"
        )
