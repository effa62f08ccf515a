"""The split of each of a user's images: the one that is stated, else by shares of each class."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from salgen.errors import SalgenError

Shares = tuple[float, float, float]  # shares of train, val and test


def assign_splits(
    stated: Mapping[str, str | None], main: Mapping[str, int], clusters: Mapping[str, str], shares: Shares, seed: int
) -> dict[str, str]:
    """Item to split: the stated one, else by shares of each class; images of a cluster stay together."""
    members: dict[str, list[str]] = defaultdict(list)
    for item, cluster in clusters.items():
        members[cluster].append(item)
    splits: dict[str, str] = {}
    free: dict[int, list[str]] = defaultdict(list)
    for cluster, items in members.items():
        known = sorted({split for item in items if (split := stated[item])})
        if len(known) > 1:
            raise SalgenError(f"cluster {cluster!r} has images in {' and '.join(known)}: keep it in one split")
        if known:
            splits |= dict.fromkeys(items, known[0])
        else:
            free[main[min(items)]].append(cluster)
    for cluster, split in by_shares(free, shares, seed).items():
        splits |= dict.fromkeys(members[cluster], split)
    return splits


def by_shares(free: Mapping[int, Sequence[str]], shares: Shares, seed: int) -> dict[str, str]:
    """Cluster to split, in an order fixed by seed and names; `free` has the clusters of each class number.

    Counts are rounded over all classes up to each, so that small classes give each split its share together.
    """
    _, val, test = (share / sum(shares) for share in shares)
    splits, before = {}, 0
    for number in sorted(free):
        names = sorted(free[number], key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())
        after = before + len(names)
        tested, validated = (int(share * after + 0.5) - int(share * before + 0.5) for share in (test, val))
        for place, name in enumerate(names):
            splits[name] = "test" if place < tested else "val" if place < tested + validated else "train"
        before = after
    return splits


def about_splits(stated: Mapping[str, str | None], shares: Shares) -> str:
    """A sentence on where the splits come from, for the data set's card."""
    if all(stated.values()):
        return "Splits are those of the user."
    train, val, test = (f"{100 * share / sum(shares):.3g} %" for share in shares)
    return (
        f"Splits that the user did not state were assigned: of each class {train} to train, {val} to val and {test} to "
        "test, in an order fixed by the names."
    )
