"""Run by the tests as a program of its own: the plug-ins of docs/extending.md, used as salgen's own are."""

import sys
from pathlib import Path
import numpy as np
import pyarrow.parquet as pq
import test_my_package
import torch
from PIL import Image
import salgen
from salgen.cli.main import main
from salgen.registry import MODELS, PROTOCOLS

METHODS, METRICS = ["scaled-gradient", "mean-activation"], ["median-hit", "confidence", "best-threshold"]
COUNTS = {"train": 8, "val": 4, "test": 4}


def make_leaves(copy: Path, out: Path) -> None:
    """Pictures on the disk become a data set with the same masks."""
    random = np.random.default_rng(0)
    for split in COUNTS:
        for species in ("maple", "oak"):
            (copy / split / species).mkdir(parents=True)
            for number in range(2):
                mask = np.zeros((24, 24), dtype=np.uint8)
                mask[4:16, 6:18] = 255
                picture = random.integers(0, 256, (24, 24, 3), dtype=np.uint8)
                Image.fromarray(picture).save(copy / split / species / f"{number}.png")
                Image.fromarray(mask).save(copy / split / species / f"{number}.mask.png")
    make = ["make", "leaves", str(out), "--set", f"source={copy}", "--set", "image_size=24x24", "--workers", "1"]
    assert main(make) == 0
    dataset = salgen.load(out, split="test")
    assert len(dataset) == 4
    assert sorted(dataset[index]["label"] for index in range(4)) == [0, 0, 1, 1]
    assert all(np.array_equal(dataset[index]["mask"], mask > 0) for index in range(4))


def check_model() -> None:
    """The network starts as it was built, and its layer for CAMs is the ReLU."""
    plugin = MODELS.create("one-layer", MODELS.load("one-layer").quick)
    network = plugin.build(1, 2, (32, 32))
    before = {key: tensor.clone() for key, tensor in network.state_dict().items()}
    plugin.load_weights(network)
    assert all(torch.equal(tensor, before[key]) for key, tensor in network.state_dict().items())
    assert network(plugin.normalise(1)(torch.rand(2, 1, 32, 32))).shape == (2, 2)
    assert isinstance(network.get_submodule(plugin.cam_layer(network)), torch.nn.ReLU)


def check_scores() -> None:
    """The metrics' values are those of other ways to compute them."""
    random = np.random.default_rng(0)
    maps, images = random.normal(size=(4, 12, 13)).astype(np.float32), random.random((4, 1, 12, 13)).astype(np.float32)
    masks, targets = random.random((4, 12, 13)) < 0.2, np.array([0, 1, 2, 0])
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(12 * 13, 3))
    with torch.no_grad():
        expected = model(torch.from_numpy(images)).softmax(1).numpy()[range(4), targets]
    scores = salgen.score(maps, masks, METRICS, model=model, images=images, targets=targets)
    assert np.allclose(scores["confidence"], expected, atol=1e-6)
    values = [salgen.score(maps, masks, f"iou:threshold={t}").popitem()[1] for t in (0.25, 0.5, 0.75)]
    assert np.array_equal(scores["best-threshold"], max(values, key=np.mean))
    medians = [np.sort(values[~mask])[(~mask).sum() // 2] for values, mask in zip(maps, masks, strict=True)]
    hits = [(values[mask] > cut).mean() for values, mask, cut in zip(maps, masks, medians, strict=True)]
    assert np.allclose(scores["median-hit"], hits)


def check_run(folder: Path) -> None:
    """A data set is made, a model trained, and every method scored by every metric."""
    data = salgen.make("discs", folder / "discs", splits=COUNTS, parameters={"image_size": (32, 32)}, workers=1)
    run = salgen.evaluate(
        data,
        model="one-layer",
        methods=METHODS,
        metrics=METRICS,
        settings={"epochs": 1, "filters": 4},
        out=folder / "run",
    )
    rows = pq.read_table(run / "scores.parquet").to_pylist()
    scored = {(row["method"], row["metric"]) for row in rows if np.isfinite(row["value"])}
    assert scored >= {(method, metric) for method in METHODS for metric in METRICS}, scored


def check_protocol() -> None:
    """The protocol evaluates what its table takes: each method on its figures, by the metrics of its rows."""
    protocol = PROTOCOLS.create("somebody2026", {"limit": 3})
    (experiment,) = protocol.experiments("demo")
    assert protocol.datasets() == {"drawn-figures": {}}
    assert experiment.arguments == {"limit": 3}
    assert {row.metric for table in protocol.tables for row in table.rows} == {"pointing-game", "mae"}


if __name__ == "__main__":
    place = Path(sys.argv[1])
    assert main(["list"]) == 0
    make_leaves(place / "some-leaves", place / "leaves")
    check_model()
    check_scores()
    check_run(place)
    check_protocol()
    test_my_package.test_plug_ins_keep_the_rules()
