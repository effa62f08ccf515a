"""Processor time of each protocol at scale demo, for the help and the docs."""

# Seconds (user and system) of `OMP_NUM_THREADS=1 \time -f '%U %S' salgen reproduce NAME --scale demo` on two cores that
# had other work too. None: not measured.
DEMO_SECONDS: dict[str, int | None] = {
    "aabid-sicre": 123,
    "budding2021": 113,
    "designed": 368,
    "li2020": 328,
    "saliency-bench": None,
    "szczepankiewicz2023": 160,
}


def demo_times() -> dict[str, str]:
    """A protocol's name to its time in words."""
    return {
        name: "not measured" if seconds is None else f"{seconds // 60} min {seconds % 60} s"
        for name, seconds in DEMO_SECONDS.items()
    }
