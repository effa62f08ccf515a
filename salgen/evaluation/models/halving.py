"""Checks shared by networks that make the image smaller."""

from salgen.errors import SalgenError


def check_widths(name: str, widths: tuple[int, ...], example: tuple[int, ...]) -> None:
    """Raise a SalgenError if there is no block."""
    if not widths:
        text = ",".join(map(str, example))
        raise SalgenError(f"{name}: widths is empty; it takes one number of channels per block, e.g. {text}")


def check_size(name: str, smallest: int, image_size: tuple[int, int]) -> None:
    """Raise a SalgenError if nothing would be left of an image at the network's end."""
    if min(image_size) < smallest:
        size = "x".join(map(str, image_size))
        raise SalgenError(f"image size {size} is too small for {name}: each side must be at least {smallest}")
