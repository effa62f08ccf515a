"""The worlds of salgen-bench 2, drawn once: ``python -m benchmarks.draw_worlds`` writes salgen-bench-2.json.

The distribution is ``worlds.toml``. What was drawn is frozen in the package, so that a later change here changes no
world.
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from salgen.evaluation.bench.worlds import RECIPES
from salgen.registry import METHODS
from salgen.seeding import Stream

DISTRIBUTION = Path(__file__).with_name("worlds.toml")


def draw(distribution: Mapping[str, Any]) -> dict[str, Any]:
    """What ``salgen-bench-2.json`` holds. Worlds of different families take turns, so that parts are alike."""
    stated = ("accuracy", "certified", "metrics", "scale")
    families, architectures = distribution["families"], distribution["architectures"]
    worlds, kept = [], []
    for number in range(distribution["worlds"]):
        for place, family in enumerate(families):
            if number >= family.get("worlds", distribution["worlds"]):
                continue
            name = f"{family['name']}-{number + 1}"
            streams = (
                Stream("salgen-bench", distribution["seed"], name, tried) for tried in range(distribution["recipes"])
            )
            recipes = [
                {**recipe(stream, family, architectures), "images": distribution["images"], "tests": family["tests"]}
                for stream in streams
            ]
            worlds.append({"name": name, "family": family["name"], "recipes": recipes})
            if (number + place) % distribution["kept"] == 0:
                kept.append(name)
    methods = [
        name for name in METHODS.names() if not METHODS.load(name).control and name not in distribution["too_dear"]
    ]
    return {**{key: distribution[key] for key in stated}, "methods": methods, "kept": kept, "worlds": worlds}


def recipe(stream: Stream, family: Mapping[str, Any], architectures: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The generator, its parameters, the network, its settings, and the seed of all."""
    architecture = one(stream, architectures)
    return {
        "generator": one(stream, family["generators"]),
        "parameters": {name: one(stream, values) for name, values in family["parameters"].items()},
        "model": architecture["model"],
        "settings": {name: one(stream, values) for name, values in architecture["settings"].items()},
        "seed": int(stream.integers(1_000_000, 1)[0]),
    }


def one(stream: Stream, values: Sequence[Any]) -> Any:
    """One of several values, each alike."""
    return values[int(stream.integers(len(values), 1)[0])]


def main() -> None:
    """Write the frozen worlds."""
    drawn = draw(tomllib.loads(DISTRIBUTION.read_text()))
    RECIPES.write_text(json.dumps(drawn, indent=1) + "\n")
    print(f"{RECIPES}: {len(drawn['worlds'])} worlds")


if __name__ == "__main__":
    main()
