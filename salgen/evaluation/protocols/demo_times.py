"""Processor time of each protocol at scale demo, for the help and the docs."""

# Seconds (user and system) of `OMP_NUM_THREADS=1 \time -f '%U %S' salgen reproduce NAME --scale demo` on two cores that
# had other work too.
DEMO_SECONDS = {
    "aabid-sicre": 123,
    "budding2021": 113,
    "designed": 368,
    "li2020": 328,
    "saliency-bench": 1236,
    "szczepankiewicz2023": 160,
}


def demo_times() -> dict[str, str]:
    """A protocol's name to its time in words."""
    return {name: f"{seconds // 60} min {seconds % 60} s" for name, seconds in DEMO_SECONDS.items()}
