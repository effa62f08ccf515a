"""Run folders as `salgen evaluate` leaves them, made up: known skill of each method, no model."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

METHODS = {
    "gradient": 0.62,
    "smoothgrad": 0.70,
    "input-x-gradient": 0.55,
    "integrated-gradients": 0.66,
    "guided-backprop": 0.80,
    "deconvnet": 0.30,
    "lrp-z": 0.58,
    "lrp-alpha-beta": 0.78,
    "lrp-alpha-beta:alpha=1,beta=0": 0.76,
    "deep-taylor": 0.74,
    "grad-cam": 0.50,
}
CONTROLS = {
    "random": 0.0,
    "constant": 0.0,
    "center": 0.10,
    "sobel": 0.40,
    "intensity": 0.35,
    "all-ones": 0.0,
    "untrained": 0.15,
    "oracle": 1.0,
    "oracle-7x7": 0.85,
}
METRICS = {
    "roc-auc": (0.5, 1.0),
    "average-precision": (0.04, 1.0),
    "prec99": (0.04, 0.6),
    "m-gt": (0.04, 1.0),
    "relevance-mass": (0.04, 1.0),
    "pointing-game": (0.04, 1.0),
}
MORE_METRICS = {
    "mae": (0.5, 0.0),
    "iou:threshold=0.25": (0.04, 0.7),
    "iou": (0.04, 0.8),
    "iou:threshold=0.75": (0.04, 0.6),
    "dice": (0.08, 0.9),
    "insertion-auc": (0.3, 0.9),
    "insertion-auc:variant=li2020": (0.3, 0.9),
    "edge-correlation": (0.0, 0.2),
    "prec99:compat=authors_exact": (0.04, 0.6),
    "average-drop:compat=aabid": (0.9, 0.1),
}
LI2020_METRICS = {
    "g-cf:of=paired": (0.0, 0.3),
    "g-cf": (0.0, 0.7),
    "mcs": (0.0, 0.4),
    "iosr": (0.04, 0.9),
    "class-sensitivity": (1.0, 0.0),
    "max-sensitivity:norm=rms": (0.2, 0.0),
}
ON_THE_IMAGE = ("insertion-auc", "average-drop")
SIGNED = {"input-x-gradient", "integrated-gradients", "lrp-z", "lrp-alpha-beta", "lrp-alpha-beta:alpha=1,beta=0"}
CAMS = {"grad-cam", "oracle-7x7"}
VARIANTS = ("region:brain", "region:image")


def make_run(
    path: Path,
    *,
    name: str = "perlin-lesions",
    methods: Sequence[str] = (*METHODS, *CONTROLS),
    metrics: Sequence[str] = tuple(METRICS),
    variants: Sequence[str] = VARIANTS,
    samples: int = 100,
    seeds: int = 1,
    accuracy: Sequence[float] = (0.9925, 0.9975, 0.985, 1.0, 0.99),
    pictures: int = 6,
    size: int = 64,
    shift: float = 0.0,
    undefined: bool = True,
    model: str = "lesion-cnn",
    random_seed: int = 0,
    coverage: float | None = None,
    per_cluster: int = 1,
) -> Path:
    """A run folder; `shift` moves every method's skill, `undefined` makes some scores so.

    The first `coverage` of the samples are certified, where it is given; each `per_cluster` samples form a cluster.
    """
    path.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(random_seed)
    tables = [
        _scores(rng, call, metric, variant, samples, seed, shift, undefined, name, model, coverage, per_cluster)
        for seed in range(seeds)
        for call in methods
        for metric in metrics
        for variant in _variants(metric, variants)
    ]
    pq.write_table(pa.concat_tables(tables), path / "scores.parquet")
    record = _record(name, methods, metrics, variants, samples, accuracy[:seeds], size, model, coverage)
    _write_predictions(path / "predictions.parquet", samples, seeds, model)
    (path / "run.json").write_text(json.dumps(record))
    if pictures:
        np.savez_compressed(path / "gallery.npz", **_pictures(rng, name, methods, pictures, size))
    return path


@contextmanager
def edited_record(run: Path) -> Iterator[dict[str, Any]]:
    """The entries of a run's ``run.json``, which are written back as they were changed."""
    record = json.loads((run / "run.json").read_text(encoding="utf-8"))
    yield record
    (run / "run.json").write_text(json.dumps(record), encoding="utf-8")


@contextmanager
def edited_scores(run: Path) -> Iterator[list[dict[str, Any]]]:
    """The rows of a run's ``scores.parquet``, which are written back as they were changed."""
    table = pq.read_table(run / "scores.parquet")
    rows = table.to_pylist()
    yield rows
    pq.write_table(pa.Table.from_pylist(rows, table.schema), run / "scores.parquet")


@contextmanager
def edited_gallery(run: Path) -> Iterator[dict[str, np.ndarray]]:
    """The arrays of a run's ``gallery.npz``, which are written back as they were changed."""
    with np.load(run / "gallery.npz") as file:
        arrays = dict(file)
    yield arrays
    np.savez(run / "gallery.npz", **arrays)


def _variants(metric, variants):
    return ("region:image",) if metric.startswith(ON_THE_IMAGE) else variants


def _write_predictions(path, samples, seeds, model):
    right = {"model": model, "label": 1, "predicted": 1, "probabilities": [0.02, 0.98]}
    wrong = {**right, "predicted": 0, "probabilities": [0.9, 0.1]}
    rows = [
        {**(wrong if i == 3 else right), "training_seed": seed, "sample_id": f"test-{i:06d}"}
        for seed in range(seeds)
        for i in range(samples)
    ]
    pq.write_table(pa.Table.from_pylist(rows), path)


def _skill(call, shift):
    return CONTROLS[call] if call in CONTROLS else float(np.clip(METHODS[call] + shift, 0.0, 1.0))


def _scores(rng, call, metric, variant, samples, seed, shift, undefined, name, model, coverage, per_cluster):
    floor, ceiling = (METRICS | MORE_METRICS | LI2020_METRICS)[metric]
    skill = _skill(call, shift) + (0.0 if call in CONTROLS else 0.03 * np.sin(7 * seed + len(call)))
    value = floor + (ceiling - floor) * np.clip(skill + rng.normal(0, 0.12, samples) * (skill not in (0, 1)), 0, 1)
    if metric == "pointing-game":
        value = (rng.random(samples) < value).astype(float)
    worst, reason = value.copy(), np.array([""] * samples, dtype=object)
    if undefined:
        if call == "lrp-z" and metric == "relevance-mass":
            value[:5], worst[:5], reason[:5] = np.nan, 0.0, "zero_energy"
        if variant == "region:brain":
            value[-2:], worst[-2:], reason[-2:] = np.nan, np.nan, "empty_mask"
    constants = {"dataset": name, "dataset_fingerprint": "f" * 64, "split": "test", "task": "label", "model": model}
    constants |= {"method": call, "method_parameters": "{}", "reduction": "sum" if call in SIGNED else "max_abs"}
    constants |= {"native_resolution": "8x8" if call in CAMS else "64x64", "metric": metric, "variant": variant}
    columns = {key: [text] * samples for key, text in constants.items()}
    columns |= {
        "sample_id": [f"test-{i:06d}" for i in range(samples)],
        "cluster": [f"object-{i // per_cluster:06d}" for i in range(samples)],
        "target": np.ones(samples, dtype=np.int64),
        "correct": np.arange(samples) != 3,
        "certified": pa.nulls(samples, pa.bool_()) if coverage is None else np.arange(samples) < coverage * samples,
        "training_seed": np.full(samples, seed),
        "value": value,
        "value_worst_case": worst,
        "reason": reason,
    }
    return pa.table(columns)


def _record(name, methods, metrics, variants, samples, accuracy, size, model, coverage):
    shares = {"coverage": coverage, "uses_feature": 0.9, "ignores_background": coverage}
    needed = {"lesion_1": 0.45, "lesion_2": 0.125}
    names = [{"name": model, "seed": i, "samples": samples} for i in range(len(accuracy))]
    return {
        "salgen": "0.1.0",
        "command": ["salgen", "evaluate", name, "--n-trainings", str(len(accuracy))],
        "created": "2025-03-01T12:00:00+00:00",
        "versions": {"python": "3.11.9", "numpy": "2.4.0", "torch": "2.15.0", "captum": "0.9.0", "zennit": "0.5.1"},
        "device": "cpu",
        "dataset": {
            "name": name,
            "fingerprint": "0123456789abcdef" * 4,
            "generator": name,
            "split": "test",
            "image_size": [size, size],
            "tasks": {"label": ["no_lesions", "lesions"]},
            "source": None,
            "valid_region": "brain",
        },
        "models": [
            {"name": model, "seed": i, "accuracy": a, "n_images": 400, "chance": 0.5, "checkpoint": f"seed-{i}"}
            for i, a in enumerate(accuracy)
        ],
        "methods": [
            {
                "call": call,
                "name": call.partition(":")[0],
                "reference": f"Somebody et al. 2015, *A paper about {call}* (arXiv 1500.00000)",
                "reduction": "sum" if call in SIGNED else "max_abs",
                "signed": call in SIGNED,
                "class_dependent": call not in CONTROLS,
                "native_resolution": "8x8" if call in CAMS else f"{size}x{size}",
                "seconds": 0.4 + 0.3 * len(call),
                "control": call in CONTROLS,
            }
            for call in methods
        ],
        "metrics": list(metrics),
        "variants": list(variants),
        "headline_variant": variants[0],
        "conventions": {"limit": 200, "target": "label", "reduce": "native", "score": "logit", "seed": 0},
        "samples": {"split_total": 400, "considered": 2 * samples, "with_mask": samples, "without_mask": samples},
        "certificates": {
            "models": [{**one, **shares, "needed": needed} for one in names] if coverage is not None else [],
            "reason": "" if coverage is not None else "the samples cannot be rendered again: no recipes",
        },
        "timings": {"evaluate_seconds": 83.4},
        "notes": ["One anatomy: all slices come from one volume, and splits are not by subject."],
    }


def _pictures(rng, name, methods, pictures, size):
    rows, columns = np.mgrid[:size, :size] / size
    brain = ((rows - 0.5) / 0.45) ** 2 + ((columns - 0.5) / 0.36) ** 2 < 1
    images, masks = np.zeros((pictures, size, size, 1), np.uint8), np.zeros((pictures, size, size), bool)
    positive = np.arange(pictures) < (pictures + 1) // 2
    for g in range(pictures):
        field = _smooth(rng.normal(size=(size, size)), 6 if "perlin" in name else 3)
        field = (field - field.min()) / np.ptp(field)
        depth = np.zeros((size, size))
        for _ in range(2 if positive[g] else 0):
            r, c = rng.integers(size // 4, size // 2), rng.integers(size // 3, 2 * size // 3)
            disc = (rows * size - r) ** 2 + (columns * size - c) ** 2
            depth = np.maximum(depth, np.where(disc <= (size / 12) ** 2, 0.7 * np.exp(-disc / (size / 12) ** 2), 0))
        masks[g] = (depth > 0) & brain
        images[g, ..., 0] = np.rint(255 * field * brain * (1 - depth))
    maps = np.stack(
        [np.stack([_map(rng, call, masks[g], images[g, ..., 0], brain) for g in range(pictures)]) for call in methods]
    )
    return {
        "ids": np.array([f"test-{g:06d}" for g in range(pictures)]),
        "images": images,
        "masks": masks,
        "labels": positive.astype(np.int64),
        "predicted": np.where(np.arange(pictures) == 1, 0, positive).astype(np.int64),
        "methods": np.array(list(methods)),
        "maps": maps.astype(np.float32),
        "class_names": np.array(["no_lesions", "lesions"]),
    }


def _map(rng, call, mask, image, brain):
    if call == "oracle":
        return mask.astype(float)
    if call in ("constant", "all-ones"):
        return np.ones(mask.shape)
    if call == "intensity":
        return image / 255.0
    noise = rng.normal(size=mask.shape)
    if call in CAMS:
        return np.maximum(_smooth(mask + 0.05 * noise, mask.shape[0] // 8), 0)
    skill = _skill(call, 0.0)
    signed = skill * 3 * _smooth(mask.astype(float), 2) * (1 + noise) + (1 - skill) * 0.4 * noise * brain
    return signed if call in SIGNED else np.abs(signed)


def _smooth(array, width):
    from scipy.ndimage import gaussian_filter

    return gaussian_filter(array, width / 2)
