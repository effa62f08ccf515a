"""The report says what the scores say, stands alone, and survives runs that lack something."""

import base64
import io
import json
import re
from collections import Counter
from html.parser import HTMLParser
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image
from run_folders import METRICS, edited_record, edited_scores, make_run
from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.metric import UNUSABLE_SAMPLE
from salgen.evaluation.report import console_summary, report
from salgen.evaluation.report.gallery import LEVELS, LONGEST, UNDEFINED_COLOUR, gallery, image_url, map_url, outline
from salgen.evaluation.report.runs import read_runs
from salgen.evaluation.report.tables import means_table
from salgen.evaluation.report.undefined import DROPPED, KEPT, MEANINGS, WORST, undefined_lines
from salgen.evaluation.report.verdicts import verdict
from salgen.evaluation.statistics.mean_intervals import NOTE

SMALL = {"samples": 12, "pictures": 2, "size": 16, "metrics": ("roc-auc", "prec99")}
VOID = {"meta", "img", "br", "hr", "link", "input", "line", "circle", "rect", "path", "use", "image"}


class Page(HTMLParser):
    """Tags, attributes and text of a page; fails on tags that are not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.words, self.titles = [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "title":
            self.titles.append(self.open[-1])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("style", "script"):
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).replace("\N{NO-BREAK SPACE}", " ").split())


def read(path):
    return Page(path.read_text(encoding="utf-8"))


def check_accessible(page):
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for tag, attributes in page.tags:
        if tag == "th":
            assert attributes.get("scope") in ("col", "row", "rowgroup")
        if tag == "img":
            assert attributes.get("alt")
        if tag == "svg":
            assert attributes.get("aria-label") or attributes.get("aria-hidden")
        if tag in ("a", "use"):
            assert attributes["href"][1:] in ids


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    folder = tmp_path_factory.mktemp("full")
    other = {"name": "mri-lesions", "shift": -0.15, "accuracy": (0.99, 0.53, 0.97), "random_seed": 1}
    runs = [make_run(folder / "perlin", seeds=3), make_run(folder / "mri", seeds=3, **other)]
    return runs, report(runs)


@pytest.fixture(scope="module")
def loaded(full):
    return read_runs(full[0])


def test_page_of_two_runs_stands_alone_is_accessible_and_begins_with_the_answer(full):
    runs, path = full
    text = path.read_text()
    assert path == runs[0].parent / "report.html"
    assert len(text) < 3_000_000
    assert not re.search(r"@import|url\(|fetch\(|https?://(?!www\.w3\.org)", text)
    assert report(runs).read_text() == text
    page = read(full[1])
    tags = Counter(tag for tag, _ in page.tags)
    assert tags["h1"] == tags["main"] == page.titles.count("head") == 1
    assert dict(page.tags[:1])["html"] == {"lang": "en"}
    check_accessible(page)
    order = [attributes["id"] for tag, attributes in page.tags if tag == "section"]
    assert [name for name in order if "lesion" not in name] == [
        *("answer", "reliance", "scores", "ranks", "distributions", "gallery", "undefined", "made")
    ]
    places = [page.text.index(words) for words in ("guided-backprop", "What does the model use?", "99.2 % of 400")]
    assert places == sorted(places)
    text = read(full[1]).text
    for words in ("evaluate perlin-lesions --n-trainings 3", "0123456789abcdef" * 4, "captum 0.9.0", "evaluate 83 s"):
        assert words in text
    for words in ("the true class, by its logit", "Somebody et al. 2015", "of the 400 images of the test split"):
        assert words in text
    assert text.count("One anatomy") == 1


def test_lower_is_better_turns_the_table_and_a_method_does_not_gain_by_failing(tmp_path):
    path = make_run(tmp_path / "run", metrics=("mae", "roc-auc"), samples=40, pictures=0)
    run = read_runs([path])[0]
    table = means_table(run, "lesion-cnn", "region:brain")
    means = {line.label: line.cells["mae"].row.mean for line in table.groups["method"]}
    assert run.headline == "mae"
    found = verdict(run, "lesion-cnn", "mae")
    assert found.best[0] == min(means, key=means.get)
    assert found.floor[0] == "sobel"
    assert set(found.below_floor) == {("deconvnet", "max_abs"), ("lrp-z", "sum")}
    text = read(report([path])).text
    assert "less is better" in text
    assert "has the lowest, which is the best, mean mae" in text
    path = make_run(tmp_path / "run", metrics=("relevance-mass",), samples=10, pictures=0)
    run = read_runs([path])[0]
    cell = next(line for line in means_table(run, "lesion-cnn", "region:brain").lines if line.label == "lrp-z")
    row = cell.cells["relevance-mass"].row
    assert row.n_invalid_maps == 5
    assert row.n_excluded_masks == 2
    assert row.mean_worst_case == pytest.approx(row.mean * 3 / 8)
    assert cell.rank == len(means_table(run, "lesion-cnn", "region:brain").groups["method"])
    assert "with 5 failed" in read(report([path])).text


def test_headline_and_console_say_what_the_tests_separate(full, loaded):
    found, text = verdict(loaded[0], "lesion-cnn", "roc-auc"), read(full[1]).text
    assert found.labels([found.best, found.floor]) == ["guided-backprop", "sobel"]
    assert found.labels(found.tied) == ["lrp-alpha-beta", "lrp-alpha-beta:alpha=1,beta=0", "deep-taylor"]
    assert found.labels(found.below_floor) == ["deconvnet"]
    assert "Over 3 trainings, guided-backprop has the highest mean roc-auc :" in text
    tied = "lrp-alpha-beta , lrp-alpha-beta:alpha=1,beta=0 and deep-taylor ."
    assert f"Not significantly different from it: {tied}" in text
    assert not re.search(r"[.;][A-Z]", text.partition("How it was made")[0].partition("Scores")[0])
    (said,) = found.against_floors
    assert said.startswith("every method but deconvnet is significantly better than sobel, the strongest floor and")
    assert f"E{said[1:]}. A floor is a map that knows nothing of the network." in text
    pairs = 18 * 17 // 2
    assert "(9,999 random sign patterns), at a family-wise level of 5 %" in text
    assert f"by Holm's correction over the {pairs} pairs of 18 methods" in text
    assert "with the variation between trainings" in text
    text = console_summary(full[0])
    lines = text.splitlines()
    assert lines[0].startswith("perlin-lesions, lesion-cnn: test accuracy 99.2% (seed 0)")
    assert "WARNING: mri-lesions, lesion-cnn seed 1 is near chance (53.0% against 50.0%)" in text
    row = loaded[0].row("lesion-cnn", ("smoothgrad", "max_abs"), "m-gt", "region:brain")
    (line,) = [line for line in lines[: len(lines) // 2] if line.startswith("smoothgrad ")]
    assert line.split()[4] == f"{row.mean:.3f}"
    assert re.search(r"^guided-backprop +0\.\d{3}\*", text, re.MULTILINE)
    assert re.search(r"^deconvnet +0\.\d{3}<", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("seeds", "words"),
    [
        (1, "intervals and tests are about this one trained model on other images"),
        (2, "2 trainings, too few to say anything about others: intervals are about these trained models on"),
        (3, f"{NOTE}. They are about other trainings too: where a method fails in one training of four"),
        (5, "5 trainings: intervals and tests are about other trainings and other images."),
    ],
)
def test_page_says_what_the_intervals_cover(tmp_path, seeds, words):
    path = make_run(tmp_path / "run", seeds=seeds, **SMALL)
    text = read(report([path])).text
    assert words in text
    assert ("Each training seed on its own" in text) == (seeds > 1)
    assert ("They are about other trainings too" in text) == (seeds > 2)
    assert ("sign-flip" in text) == (seeds != 2)
    assert ("two trainings are too few to tell methods apart" in console_summary([path])) == (seeds == 2)


def test_undefined_scores_are_counted_with_their_reasons(full, loaded, tmp_path):
    lines = undefined_lines(loaded[0])
    found = {(line.reason, line.variant): line for line in lines}
    masks, maps = found["empty_mask", "region:brain"], found["zero_energy", "region:image"]
    assert (masks.methods, masks.metrics, masks.count, masks.total) == ("all 20 methods", "all 6 metrics", 6, 300)
    assert masks.consequence == DROPPED
    assert (maps.methods, maps.metrics, maps.count, maps.consequence) == ("lrp-z", "relevance-mass", 15, WORST)
    assert len(lines) == 3
    assert "the scored region holds no ground-truth pixel" in read(full[1]).text
    path = make_run(tmp_path / "run", methods=("gradient", "random"), undefined=False, **SMALL)
    _rewrite_scores(path, "trivial_full_mask", metric="prec99", value=1.0)
    _rewrite_scores(path, "trivial_full_mask", metric="roc-auc", value=float("nan"), value_worst_case=float("nan"))
    lines = {line.metrics: line for line in undefined_lines(read_runs([path])[0]) if line.variant == "region:brain"}
    assert (lines["prec99"].consequence, lines["roc-auc"].consequence) == (KEPT, DROPPED)
    assert (lines["prec99"].count, lines["prec99"].methods) == (12, "all 2 methods")
    assert set(MEANINGS) >= UNUSABLE_SAMPLE


LACKING = {
    "one metric": {"metrics": ("m-gt",)},
    "one variant": {"variants": ("region:image",)},
    "no controls": {"methods": ("gradient", "lrp-z")},
    "controls only": {"methods": ("random", "sobel", "oracle")},
    "one method": {"methods": ("gradient",)},
    "one sample": {"samples": 1, "undefined": False},
    "no gallery": {"pictures": 0},
    "every metric": {"metrics": tuple(METRICS)},
}


@pytest.mark.parametrize("lacking", LACKING)
def test_page_of_a_run_that_lacks_something(tmp_path, lacking):
    path = make_run(tmp_path / "run", **(SMALL | LACKING[lacking]))
    page = read(report([path]))
    assert "nan" not in page.text.lower().split()
    assert ("not hand-picked" in page.text) == (lacking != "no gallery")
    if lacking in ("no controls", "one method"):
        assert "norm" not in {attributes.get("class") for _, attributes in page.tags}
        assert "strongest floor is" not in page.text
        assert "edge filter" not in page.text
    if lacking == "one sample":
        assert "no interval, as there are too few clusters of images" in page.text
    assert "perlin-lesions" in console_summary([path])


def test_method_without_any_defined_score(tmp_path, monkeypatch):
    path = make_run(tmp_path / "run", **SMALL)
    _rewrite_scores(path, "non_finite_map", method="gradient", value=float("nan"), value_worst_case=0.0)
    page = read(report([path]))
    assert "undefined for every sample" in page.text
    assert "0.000 with 12 failed maps" in page.text
    assert "the map holds NaN or infinity" in page.text
    _rewrite_scores(path, "empty_mask", value=float("nan"), value_worst_case=float("nan"))
    page = read(report([path]))
    assert "no method has a defined score" in page.text
    assert "all 20 methods" in page.text
    assert "empty_mask" in page.text


def _rewrite_scores(path, reason, method=None, metric=None, **values):
    """Give the chosen rows a reason and other values."""
    with edited_scores(path) as rows:
        for row in rows:
            if method in (None, row["method"]) and metric in (None, row["metric"]):
                row |= {**values, "reason": reason}


def test_the_first_screen_has_pictures_and_the_methods_that_were_left_out(tmp_path):
    path = make_run(tmp_path / "run", **SMALL)
    with edited_record(path) as record:
        record["left_out"] = {"rise:n=4": "it takes <32> GiB"}
    page = read(report([path]))
    answer = page.text.partition("Short answer")[2].partition("What does the model use?")[0]
    assert "best: guided-backprop habit: grad-cam worst: deconvnet" in answer
    assert "99.2 %" in answer
    assert "Left out rise: n=4 it takes <32> GiB" in answer
    alone = make_run(tmp_path / "alone", **(SMALL | {"methods": ("gradient", "sobel")}))
    assert "best: " not in read(report([alone])).text


def test_runs_of_one_data_set_are_told_apart_by_their_folders_and_reports_have_default_paths(tmp_path):
    runs = [make_run(tmp_path / name, **SMALL) for name in ("first", "second")]
    assert [run.label for run in read_runs(runs)] == ["perlin-lesions (first)", "perlin-lesions (second)"]
    paths = [make_run(tmp_path / name / "run", **SMALL) for name in "ab"]
    assert [run.label for run in read_runs(paths)] == [f"perlin-lesions ({path})" for path in paths]
    check_accessible(read(report(paths)))
    run = make_run(tmp_path / "run", **SMALL)
    assert report([run]) == run / "report.html"
    assert report([str(run)], tmp_path / "new" / "page.html") == tmp_path / "new" / "page.html"
    (tmp_path / "file").touch()
    for wrong in (tmp_path, tmp_path / "file" / "page.html"):
        with pytest.raises(OSError, match=tmp_path.name):
            report([run], wrong)
    assert not list(tmp_path.rglob("*.part"))


def test_faults_of_a_run_name_the_file(tmp_path):
    with pytest.raises(SalgenError, match="no run folder was given"):
        report([])
    with pytest.raises(SalgenError, match="nowhere is not a run folder"):
        report([tmp_path / "nowhere"])
    path = make_run(tmp_path / "run", **SMALL)
    for call in (report, console_summary):
        with pytest.raises(SalgenError, match=r"run folder .*run was given 2 times: name each folder once"):
            call([path, tmp_path / "nowhere" / ".." / "run"])
    record = json.loads((path / "run.json").read_text())
    faults = {
        "run.json is no record of a run (Out of range float": record | {"timings": {"wall_seconds": float("nan")}},
        "no entry 'models.accuracy'": record | {"models": [{"name": "x", "seed": 0}]},
        "unknown metric 'roc-auk': did you mean 'roc-auc'": record | {"metrics": ["roc-auk", "roc-auc"]},
    }
    for message, content in faults.items():
        (path / "run.json").write_text(json.dumps(content))
        with pytest.raises(SalgenError, match=re.escape(message)):
            report([path])
    (path / "run.json").unlink()
    with pytest.raises(SalgenError, match=r"run\.json is missing"):
        report([path])
    (path / "run.json").write_text(json.dumps(record))
    (path / "scores.parquet").unlink()
    with pytest.raises(SalgenError, match=r"scores\.parquet is missing"):
        report([path])
    assert not (path / "report.html").exists()


def test_gallery_shows_every_sample_under_every_method(loaded):
    run = loaded[0]
    order = [line.label for line in means_table(run, "lesion-cnn", "region:brain").lines]
    shown = gallery(run, order)
    assert next(method for method, role, _ in shown.columns if role == "method") == "guided-backprop"
    assert [role for _, role, _ in shown.columns] == ["method"] * 11 + ["floor"] * 7 + ["ceiling"] * 2
    assert {method for method, _, signed in shown.columns if signed} >= {"lrp-z", "integrated-gradients"}
    assert [row.true_class for row in shown.rows] == ["lesions"] * 3 + ["no_lesions"] * 3
    assert [row.right for row in shown.rows] == [True, False, True, True, True, True]
    assert all(len(row.pictures) == 22 for row in shown.rows)
    assert [bool(row.contour) for row in shown.rows] == [True] * 3 + [False] * 3


def pixels(url):
    assert url.startswith("data:image/png;base64,")
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))).convert("RGB")).astype(int)


def test_signed_maps_have_zero_in_the_middle_and_unsigned_ones_start_there_and_grow_brighter():
    values = np.array([[-2.0, 0.0, 1.0, 2.0]], dtype=np.float32)
    below, zero, half, above = pixels(map_url(values, True))[0]
    assert np.ptp(zero) < 8  # grey
    assert below[2] > below[0]  # blue
    assert above[0] > above[2]  # red
    np.testing.assert_array_equal([below, zero, above], pixels(map_url(values * 7, True))[0][[0, 1, 3]])
    assert np.abs(half - zero).sum() < np.abs(above - zero).sum()
    ramp = np.linspace(0, 3, 60, dtype=np.float32)[None]
    brightness = pixels(map_url(ramp, False))[0].sum(axis=1)
    assert brightness[0] < 10
    assert (np.diff(brightness) >= 0).all()
    flat = pixels(map_url(np.ones((4, 4), dtype=np.float32), False))
    assert (flat == pixels(map_url(ramp, False))[0, -1]).all()
    assert (pixels(map_url(np.zeros((4, 4), dtype=np.float32), False)).sum(axis=-1) < 10).all()
    values = np.full((100, 100), 0.5, dtype=np.float32)
    values[0, :20] = 1000.0
    picture = pixels(map_url(values, False))
    assert (picture[50, 50] == picture[0, 0]).all(), "a few extreme pixels do not darken a map"


def test_undefined_pixels_are_grey_and_large_pictures_are_shrunk():
    values = np.array([[0.0, np.nan, 1.0]], dtype=np.float32)
    assert tuple(pixels(map_url(values, False))[0, 1]) == UNDEFINED_COLOUR
    assert map_url(np.full((3, 3), np.nan, dtype=np.float32), False) == ""
    assert LEVELS % 2 == 1
    assert pixels(image_url(np.zeros((300, 200, 3), np.uint8))).shape[0] == LONGEST
    assert pixels(map_url(np.ones((140, 192), np.float32), False)).shape[1] == LONGEST
    image = np.random.default_rng(0).integers(0, 255, (9, 7, 3), dtype=np.uint8)
    np.testing.assert_array_equal(pixels(image_url(image)), image)


@given(arrays(bool, st.tuples(st.integers(1, 7), st.integers(1, 7))))
def test_outline_is_every_edge_between_mask_and_background(mask):
    drawn = set()
    for column, row, way, end in re.findall(r"M(\d+) (\d+)([HV])(\d+)", outline(mask)):
        x, y = int(column), int(row)
        stretch = range(x if way == "H" else y, int(end))
        drawn |= {("H", y, i) for i in stretch} if way == "H" else {("V", i, x) for i in stretch}
    height, width = mask.shape
    inside = lambda r, c: 0 <= r < height and 0 <= c < width and bool(mask[r, c])  # noqa: E731
    across = {("H", r, c) for r in range(height + 1) for c in range(width) if inside(r, c) != inside(r - 1, c)}
    down = {("V", r, c) for r in range(height) for c in range(width + 1) if inside(r, c) != inside(r, c - 1)}
    assert drawn == across | down
