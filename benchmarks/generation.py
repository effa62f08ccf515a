"""Generation: Perlin fields, PNG and whole samples, at 140x192 with a 5x8 lattice."""

import io
import tempfile
from pathlib import Path
import cv2
import imagecodecs
import numpy as np
from perlin_numpy import generate_perlin_noise_2d
from PIL import Image
from benchmarks.timing import Row, medians_us
from salgen.datasets.format import png
from salgen.datasets.format.manifest import describe
from salgen.datasets.format.shards import Shard, write_shard
from salgen.generators.factory import generator
from salgen.generators.lesions.perlin import lattice_gradients, perlin_fields

try:
    from noise import pnoise2
except ImportError:  # it needs a C compiler
    pnoise2 = None

SIZE, LATTICE = (140, 192), (5, 8)
BATCH = 32
SHARD = 128


def rows() -> list[Row]:
    """Every comparison of generation."""
    return [*_fields(), *_images(), *_masks(), *_samples()]


def _fields() -> list[Row]:
    gradients = np.stack([lattice_gradients(key, LATTICE) for key in range(BATCH)])
    (height, width), (rows_, columns) = SIZE, LATTICE

    def by_pixel() -> object:
        return [[pnoise2(r * rows_ / height, c * columns / width) for c in range(width)] for r in range(height)]

    work = {
        **({"noise.pnoise2, a call per pixel": by_pixel} if pnoise2 else {}),
        "perlin-numpy": lambda: generate_perlin_noise_2d(SIZE, LATTICE),
        "salgen": lambda: perlin_fields(gradients, SIZE),
    }
    times = medians_us(work, 9, {"salgen": 5})
    ours = times.pop("salgen") / BATCH
    goals = {"noise.pnoise2, a call per pixel": "≥ 500", "perlin-numpy": "≥ 100"}
    held = "nine tenths of ours are products of small matrices"
    return [Row("Perlin field", peer, took, ours, goals[peer], held) for peer, took in times.items()]


def _sample() -> tuple[np.ndarray, np.ndarray]:
    sample = generator("perlin-lesions", scale="full").sample(0, "train", 1)
    return sample.image, sample.regions["lesions"]


def _pillow(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(array).save(buffer, format="PNG")
    return buffer.getvalue()


def _images() -> list[Row]:
    image, _ = _sample()
    grey = image[..., 0]
    work = {
        "Pillow, default": lambda: _pillow(grey),
        "cv2, level 1": lambda: cv2.imencode(".png", grey, [cv2.IMWRITE_PNG_COMPRESSION, 1]),
        "imagecodecs, level 1": lambda: imagecodecs.png_encode(grey, level=1),
        "salgen": lambda: png.encode(image),
    }
    times = medians_us(work, 15, dict.fromkeys(work, 20))
    ours = times.pop("salgen")
    size = f"image to PNG ({len(png.encode(image)):,} bytes; Pillow {len(_pillow(grey)):,})"
    goals = {"Pillow, default": "≥ 10"}
    return [Row(size, peer, took, ours, goals.get(peer, "")) for peer, took in times.items()]


def _masks() -> list[Row]:
    _, mask = _sample()
    encode = png._encode_bits.__wrapped__  # without the cache of masks seen lately

    def ours() -> bytes:
        return encode(np.packbits(mask, axis=1).tobytes(), mask.shape[1], mask.shape[0])

    eight_bits = mask.astype(np.uint8) * 255
    work = {
        "Pillow, default, 8 bits": lambda: _pillow(eight_bits),
        "Pillow, default, 1 bit": lambda: _pillow(mask),
        "salgen": ours,
    }
    times = medians_us(work, 15, dict.fromkeys(work, 20))
    took = times.pop("salgen")
    size = f"mask to 1-bit PNG ({len(ours())} bytes; Pillow {len(_pillow(mask))})"
    held = "fixed costs of calls; zlib-ng and packing are three fifths"
    return [Row(size, peer, time, took, "≥ 8", held) for peer, time in times.items()]


def _samples() -> list[Row]:
    """A whole shard to disk, against the same fields and PNGs made the usual way into loose files."""
    made = generator("perlin-lesions", scale="full")
    spec = made.spec({"train": SHARD}, 0)
    shard = Shard("train", 0, 1, 0, SHARD)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "data").mkdir()

        manifests = {twins: describe(made, spec, twins=twins) for twins in (False, True)}

        def write(twins: bool) -> None:
            write_shard(made, manifests[twins], folder, shard)

        mask = np.zeros(SIZE, dtype=bool)

        def usual() -> None:
            for index in range(8):
                field = generate_perlin_noise_2d(SIZE, LATTICE)
                levels = np.rint((field - field.min()) / np.ptp(field) * 255).astype(np.uint8)
                (folder / f"{index}.png").write_bytes(_pillow(levels))
                (folder / f"{index}-mask.png").write_bytes(_pillow(mask))

        times = medians_us({"usual": usual, "salgen": lambda: write(False), "twins": lambda: write(True)}, 7)
    peer = times["usual"] / 8
    ours, with_twins = times["salgen"] / SHARD, times["twins"] / SHARD
    name = "perlin-numpy, Pillow default, loose files"
    return [
        Row(f"sample to disk, without twins ({1e6 / ours:,.0f} images per CPU-second)", name, peer, ours, "≥ 8"),
        Row(f"sample to disk, with twins ({1e6 / with_twins:,.0f} images per CPU-second)", name, peer, with_twins, ""),
    ]
