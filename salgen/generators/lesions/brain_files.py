"""Choice of the brain volumes among a folder's files, by the naming rules of BIDS and of tools that write masks.

Names in BIDS (https://bids-specification.readthedocs.io) are entities ``key-label`` and a suffix, joined by
underscores: ``sub-01_ses-2_desc-brain_T1w.nii.gz``.
"""

import re
from collections import Counter
from collections.abc import Iterable

T1, MASK = "T1w", "mask"
OTHER_SUFFIXES = frozenset(
    (
        *("dseg", "probseg", "defacemask", "bold", "boldref", "sbref", "cbv", "dwi", "dwiref", "asl", "m0scan", "pet"),
        *("epi", "fieldmap", "phase", "phase1", "phase2", "phasediff", "magnitude", "magnitude1", "magnitude2", "xfm"),
        *("FLAIR", "T1map", "T2map", "T2star", "T2starmap", "T2starw", "T2w", "PD", "PDT2", "PDw", "UNIT1"),
        *("angio", "inplaneT1", "inplaneT2", "MP2RAGE"),
    )
)
HEAD = "whole head of a subject whose brain is there too"
TWICE = "image with the same mask as another"


def choose_brains(names: Iterable[str]) -> tuple[dict[str, str | None], dict[str, int]]:
    """The brain volumes among NIfTI files, each with its mask or None; and the reasons and numbers of those skipped.

    Names are paths relative to the folder, with ``/``. Where some are T1-weighted by their suffix, others are passed
    over; images of other kinds, segmentations and masks always are. A mask beside a volume, ``X_mask`` or in BIDS
    ``..._desc-brain_mask``, is its brain. Of a subject with a brain, by a mask or by ``desc-brain``, whole heads are
    passed over. Of images with one mask, the one that is ``desc-brain`` or the last by name is taken.
    """
    names = sorted(names)
    suffixes = {name: re.search(r"_([^_/-]*)\.nii(\.gz)?$", name, re.IGNORECASE) for name in names}
    kinds = {name: found[1] if found else "" for name, found in suffixes.items()}
    masks = [name for name in names if kinds[name] == MASK]
    images = [name for name in names if kinds[name] != MASK and kinds[name] not in OTHER_SUFFIXES]
    images = [name for name in images if kinds[name] == T1] or images
    owners = {name: mask_of(name, masks) for name in images}
    with_brain = {subject_of(name) for name in images if _is_brain(name, owners[name])}
    brains = [name for name in images if subject_of(name) not in with_brain or _is_brain(name, owners[name])]
    first = {owners[name] or name: name for name in sorted(brains, key=lambda name: "_desc-brain" in name)}
    chosen = {name: owners[name] for name in sorted(first.values())}
    used = {*images, *filter(None, chosen.values())}
    unused = [kinds[name] for name in names if name not in used]
    skipped = Counter(f"*_{kind}" if kind else "file of another kind" for kind in unused)
    skipped.update({HEAD: len(images) - len(brains), TWICE: len(brains) - len(chosen)})
    return chosen, {reason: count for reason, count in skipped.items() if count}


def subject_of(name: str) -> str:
    """The BIDS subject label in a name, or the name itself: scans of one subject are not independent."""
    label = re.search(r"(?:^|[/_])(sub-[A-Za-z0-9]+)", name)
    return label[1] if label else name


def mask_of(name: str, masks: Iterable[str]) -> str | None:
    """The mask of a volume's brain among some in its folder, or None."""
    beside = [mask for mask in masks if mask.rpartition("/")[0] == name.rpartition("/")[0]]
    own = [mask for mask in beside if _stem(mask) == f"{_stem(name)}_{MASK}"]
    same = [mask for mask in beside if _is_brain_mask(mask) and _entities(mask) == _entities(name)]
    return next(iter(own + same), None)


def _is_brain(name: str, mask: str | None) -> bool:
    return mask is not None or "_desc-brain" in name


def _is_brain_mask(name: str) -> bool:
    """True for a BIDS mask of the brain, not of a lesion or a tissue."""
    stem = _stem(name)
    return stem.startswith("sub-") and ("_desc-" not in stem or "_desc-brain" in stem) and "_label-" not in stem


def _entities(name: str) -> list[str]:
    """The entities of a name but its description, without the suffix."""
    return [part for part in _stem(name).split("_")[:-1] if not part.startswith("desc-")]


def _stem(name: str) -> str:
    return re.sub(r"\.nii(\.gz)?$", "", name.rpartition("/")[2], flags=re.IGNORECASE)
