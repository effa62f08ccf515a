"""What a large data set costs: made at two sizes on this machine, and extrapolated.

    python -m benchmarks.scale --generator ebam --scale full --sizes 5000 50000 --images 2646328

A size is made in a process of its own. What the generator prepares once (libraries of pictures, slices of a volume) is
made before the clock starts, and timed by itself.
"""

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path
from typing import Any
from benchmarks.processes import in_a_process, peak_mb, watching

WARM = 64  # images that are made first


def measure(options: argparse.Namespace, size: int) -> dict[str, Any]:
    """What one size takes, in a process of its own."""
    given = [word for pair in options.pairs for word in ("--set", pair)]
    given += ["--recipes-only"] if options.recipes_only else []
    given += ["--generator", options.generator, "--scale", options.scale, "--executor", options.executor]
    given += ["--workers", str(options.workers), "--within", options.within]
    return in_a_process("benchmarks.scale", "--size", str(size), *given)


def table(found: list[dict[str, Any]]) -> list[str]:
    """A row for each size."""
    lines = [
        "| images | s | images/s | CPU ms per image | peak MB, parent | peak MB, worker | bytes per image "
        "| preparing, s |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    return lines + [
        f"| {one['images']:,} | {one['seconds']:,.1f} | {one['images'] / one['seconds']:,.0f} "
        f"| {one['cpu_seconds'] / one['images'] * 1e3:,.2f} | {one['parent_mb']:,.0f} | {one['worker_mb']:,.0f} "
        f"| {one['bytes'] / one['images']:,.0f} | {one['preparing']:,.1f} |"
        for one in found
    ]


def extrapolated(found: list[dict[str, Any]], images: int) -> list[str]:
    """What many images take if each costs what one of the largest size does, and how flat that cost was."""
    few, many = found[0], found[-1]
    cost = {name: many[name] / many["images"] for name in ("seconds", "cpu_seconds", "bytes")}
    flat = {name: cost[name] / (few[name] / few["images"]) for name in cost}
    return [
        f"{images:,} images: {cost['cpu_seconds'] * images / 3600:,.1f} hours of one processor, "
        f"{cost['seconds'] * images / 3600:,.1f} hours as here, {cost['bytes'] * images / 1e9:,.2f} GB.",
        f"An image of {many['images']:,} costs {flat['seconds']:.2f} times the time, {flat['cpu_seconds']:.2f} times "
        f"the processor time and {flat['bytes']:.2f} times the bytes of one of {few['images']:,}.",
    ]


def _make(options: argparse.Namespace, size: int, folder: Path) -> dict[str, Any]:
    from salgen.datasets.making import make
    from salgen.parameters import parse_pairs

    parameters = parse_pairs(tuple(options.pairs))
    source = parameters.pop("source", None)
    given: dict[str, Any] = {"parameters": parameters, "source": source, "scale": options.scale}
    given |= {"recipes_only": True} if options.recipes_only else {}
    started = time.perf_counter()
    make(options.generator, folder / "warm", splits={"train": WARM}, workers=1, **given)
    preparing = time.perf_counter() - started
    before, started = _cpu(resource.RUSAGE_SELF), time.perf_counter()
    how = {"workers": options.workers, "executor": options.executor}
    with watching() as seen:
        made = make(options.generator, folder / "data", splits={"train": size}, **how, **given)
    seconds = time.perf_counter() - started
    return {
        "images": size,
        "seconds": seconds,
        "cpu_seconds": _cpu(resource.RUSAGE_SELF) - before + sum(seen.cpu_s.values()),
        "parent_mb": peak_mb(),
        "worker_mb": max(seen.peaks_mb.values(), default=0.0),
        "bytes": sum(path.stat().st_size for path in made.rglob("*") if path.is_file()),
        "preparing": preparing,
    }


def _cpu(whose: int) -> float:
    used = resource.getrusage(whose)
    return used.ru_utime + used.ru_stime


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description="What a large data set costs.")
    parser.add_argument("--generator", default="ebam")
    parser.add_argument("--scale", default="full", help="of the generator's defaults")
    parser.add_argument("--set", dest="pairs", metavar="KEY=VALUE", action="append", default=[])
    parser.add_argument("--sizes", type=int, nargs=2, default=(5_000, 50_000), metavar="N")
    parser.add_argument("--images", type=int, default=2_646_328, help="to extrapolate to")
    parser.add_argument("--recipes-only", action="store_true")
    parser.add_argument("--executor", choices=("local", "ray"), default="local")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--within", default=tempfile.gettempdir(), help="folder for the data sets, which are removed")
    parser.add_argument("--size", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    """Measure two sizes and print what they say, or measure one in this process."""
    options = _options()
    if options.size is not None:
        with tempfile.TemporaryDirectory(dir=options.within) as place:
            print(json.dumps(_make(options, options.size, Path(place))))
        return
    found = [measure(options, size) for size in sorted(options.sizes)]
    print("\n".join([*table(found), "", *extrapolated(found, options.images)]))


if __name__ == "__main__":
    main()
