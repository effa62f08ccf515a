"""The board: every number is that of the tables, every link leads somewhere, and a browser shows it."""

import io
import re
from pathlib import Path
import numpy as np
import pandas as pd
import pytest
import salgen
from salgen.evaluation.bench.board import board, standing_figure
from salgen.evaluation.bench.board_rows import against_floors, groups
from salgen.evaluation.bench.standing import CHOICE
from salgen.evaluation.bench.worlds import WORLDS, read_worlds, world_spec

WORLD = "lesions-on-noise-1"
METHODS = {"grad-cam": 0.5, "gradient": 0.6, "guided-backprop": 0.3}


@pytest.fixture(scope="module")
def results(tmp_path_factory, scored):
    """Worlds of four families, of which three are ResNets, and one knows a method more."""
    rng, folder = np.random.default_rng(0), tmp_path_factory.mktemp("board") / "published"
    for number, world in enumerate((WORLD, "mri-lesions-1", "places-1", "people-1")):
        values = {name: value + rng.normal(0, 0.05) for name, value in METHODS.items()}
        more = {"raw-attention": 0.9} if number == 3 else {}
        scored(folder, world, values | more | {"sobel": 0.2 + 0.1 * number, "oracle": 1.0})
    (folder / "costs.csv").write_text("method,network,passes,seconds\ngradient,scnn,3,0.1\n")
    return folder


@pytest.fixture(scope="module")
def site(results):
    board(world_spec(), results, results.parent / "site")
    return results.parent / "site"


@pytest.fixture(scope="module")
def views(results):
    return list(groups(read_worlds(world_spec(), results / WORLDS), "average-precision", None))


def test_there_is_a_readable_page_for_each_method_and_family_and_all_links_lead_somewhere(site, watched):
    pages = sorted(str(path.relative_to(site)) for path in site.rglob("*.html"))
    families = [f"data/{name}.html" for name in ("lesions-on-noise", "mri-lesions", "people", "places")]
    assert pages == [*families, "index.html", *(f"methods/{name}.html" for name in sorted([*METHODS, "raw-attention"]))]
    for page in site.rglob("*.html"):
        for link in re.findall(r'href="([^"#]+)"', page.read_text(encoding="utf-8")):
            assert link.startswith(("https:", "data:")) or (page.parent / link).is_file(), (page, link)
    from browsers import check_page

    page, _, _ = watched
    for name in ("index", "methods/gradient", "data/places"):
        page.goto((site / f"{name}.html").as_uri())
        check_page(page)


def test_groups_are_of_all_worlds_of_an_architecture_and_of_a_kind_of_cause(views):
    assert [(view.kind, view.title, view.standing.worlds) for view in views] == [
        ("worlds", "all worlds", 4), ("architecture", "resnet18", 3), ("kind of cause", "object", 4),
    ]  # fmt: skip
    table = views[0].rows.set_index("method")
    assert table.loc["gradient", "cost"] == "not measured"
    assert table.index[0] in {"gradient", CHOICE}
    assert table.index[-1] == "raw-attention", "it is of one family"


def test_the_first_page_has_the_answer_and_the_rows_of_all_groups(site, results):
    found = salgen.bench.table(results)
    text = (site / "index.html").read_text(encoding="utf-8")
    cells = r'data-value="([^"]+)".*?data-value="([\d.e-]+)"'
    rows = re.findall(rf'<tr class="\w+" data-group="0".*?{cells}', text)
    assert [method for method, _ in rows] == list(found.table.index)
    assert [float(regret) for _, regret in rows] == pytest.approx(list(found.table["regret"]))
    assert text.count('data-group="1"') == len(salgen.bench.table(results, network="resnet18").table)
    lead = text[text.index('class="lead"') : text.index('<section id="standing">')]
    assert f">{found.table.index[found.table['role'] == 'method'][0]}</a></strong>" in lead
    assert f"costs {found.table.loc[CHOICE, 'regret']:.2f}" in lead
    assert f"sobel, {found.table.loc['sobel', 'regret']:.2f}" in lead
    assert "{} of {} pairs of methods apart".format(*found.answers["a new world"][:2]) in lead
    assert "salgen bench rank my_package.saliency:mine" in text


def test_the_picture_shows_every_regret_and_pales_floors(results):
    found = salgen.bench.table(results)
    picture = standing_figure(found)
    assert re.findall(r"<title>([^:]+): ([\d.-]+)<", picture) == [
        (name, f"{regret:.3f}") for name, regret in found.table["regret"].items()
    ]
    pale = found.table.index[(found.table["verdict"] == "worse") | (found.table["role"] == "floor")]
    shown = re.findall(r'class="name (\w+)"[^>]*>([\w -]+)<', picture)
    assert [name for role, name in shown if role == "floor"] == list(pale)


def test_a_method_is_held_to_the_strongest_floor_of_each_world(site, results):
    for world in read_worlds(world_spec(), results / WORLDS):
        found = against_floors(world, "average-precision").set_index("method")
        means = world.table("average-precision").mean()
        assert found["difference"].to_dict() == pytest.approx((means - means["sobel"]).drop("sobel").to_dict())
        for name, row in found.iterrows():
            assert row.outcome == ("better" if row.low > 0 else "worse" if row.high < 0 else "not told apart")
            page = (site / "methods" / f"{name}.html").read_text(encoding="utf-8")
            (listed,) = re.findall(rf"<dt>{row.outcome}.*?</dt><dd>(.*?)</dd>", page, re.IGNORECASE)
            assert f"{world.name}</a> ({row.difference:.2f})".replace("-0", "\N{MINUS SIGN}0") in listed
            assert page.index('class="lead"') < page.index("strongest floor") < page.index("Where it stands")
    data = (site / "data" / "lesions-on-noise.html").read_text(encoding="utf-8")
    assert '<p class="lead">Dark lesions on Perlin noise' in data
    found = against_floors(read_worlds(world_spec(), results / WORLDS)[0], "average-precision")
    assert f"{(found['outcome'] == 'better').sum()} of 3 methods beat the strongest floor, sobel" in data
    assert data.count("<img") == 1


def test_rows_and_citation_are_downloaded_and_the_standing_is_sorted_and_filtered(site, views, watched):
    page, _, _ = watched
    page.goto((site / "index.html").as_uri())
    texts = []
    for name in ("CSV", "BibTeX"):
        with page.expect_download() as started:
            page.get_by_role("link", name=name, exact=True).click()
        texts.append(started.value.path().read_text(encoding="utf-8"))
    table = pd.read_csv(io.StringIO(texts[0]))
    expected = pd.concat([view.rows.assign(group=view.title) for view in views])
    assert list(table["method"]) == list(expected["method"])
    assert list(table["regret"]) == pytest.approx(list(expected["regret"]), abs=1e-6)
    assert re.match(r"@misc\{salgen-bench-2,\n(  \w+ = \{.*\},?\n)+\}\n$", texts[1])
    assert world_spec().digest[:12] in texts[1]
    shown = lambda: page.locator("table[data-filtered] tbody tr:visible th").all_inner_texts()  # noqa: E731
    assert page.get_by_role("status").text_content() == f"{len(shown())} rows"
    page.locator("th[data-column=regret] button").click()
    regrets = page.locator("table[data-filtered] tbody tr:visible td:nth-child(2)").all_inner_texts()
    assert [float(text.split()[0]) for text in regrets] == sorted(float(text.split()[0]) for text in regrets)
    page.get_by_label("Floors").uncheck()
    assert not [name for name in shown() if "floor" in name]
    page.locator("#filter-group").select_option(label="resnet18")
    page.locator("#filter-family").select_option("gradient")
    page.reload()  # the address holds the view
    assert sorted(shown()) == ["gradient", "guided-backprop"]
    assert page.locator("table[data-filtered] caption").text_content().endswith("resnet18, gradient")
    for form, head in (("CSV", "Ahead of Grad-CAM unit"), ("LaTeX", r"Ahead of Grad-CAM (\%)")):
        with page.expect_download() as started:
            page.get_by_role("button", name=f"{form} of Standing").click()
        saved = started.value.path().read_text(encoding="utf-8")
        rows = re.findall("^(gradient|guided-backprop|grad-cam|sobel)[ ,]", saved, re.MULTILINE)
        assert (head in saved, sorted(rows)) == (True, ["gradient", "guided-backprop"])


def test_the_published_results_have_a_site(tmp_path):
    results = Path(__file__).parents[3] / "results"
    board(world_spec(), results, tmp_path / "site")
    page = (tmp_path / "site" / "methods" / "gradient.html").read_text(encoding="utf-8")
    assert "forward passes" in page
