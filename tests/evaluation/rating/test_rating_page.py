"""The page on which explanations are rated, in a browser."""

import http.client
import platform
import pyarrow.parquet as pq
import pytest
from browsers import check_page
from drawing_pages import served
from salgen.cli.main import main
from salgen.evaluation.rating.trials import RatingTrials


class Rating:
    def __init__(self, run, data, out):
        for needed in ("starlette", "uvicorn", "krippendorff"):
            pytest.importorskip(needed)
        self.out, self.port = out, 0
        self.arguments = ["rate", f"{run}", str(out), "--dataset", str(data), "--images", "2"]
        self.start()

    def start(self):
        self.process, self.port = served([*self.arguments, "--port", str(self.port)])

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def open(self, page, rater):
        page.goto(f"http://127.0.0.1:{self.port}/?rater={rater}")
        page.locator(".explanation").nth(4).wait_for()


@pytest.fixture
def rating(run, data, tmp_path):
    rating = Rating(run, data, tmp_path / "out")
    yield rating
    rating.kill()


@pytest.fixture(scope="module")
def shared(run, data, tmp_path_factory):
    """A server that tests leave at work."""
    rating = Rating(run, data, tmp_path_factory.mktemp("shared") / "out")
    yield rating
    rating.kill()


def choose(page, explanation, question, value):
    part = page.locator(".explanation").nth(explanation)
    part.get_by_role("group", name=question).get_by_label(str(value), exact=True).check()


def saved(page):
    page.wait_for_function("() => !unsaved.size && document.getElementById('saved').textContent === 'saved'")


def test_two_raters_at_once(browser, rating, run, data, tmp_path):
    trials = RatingTrials.of(run, data, images=2)
    pages = {name: browser.new_context().new_page() for name in ("anna", "ben")}
    for name, page in pages.items():
        rating.open(page, name)
    for name, page in pages.items():
        for image in range(2):
            for position in range(5):
                method = trials.order(name, image)[position]
                choose(page, position, "Covers the relevant region", 5 if method == "grad-cam" else 2)
            saved(page)
            page.keyboard.press("n")
            page.get_by_role("heading", name=f"Image {min(2, image + 2)} of 2").wait_for()
            page.locator(".explanation").nth(4).wait_for()
        assert "grad-cam" not in page.content()
    said = []

    def answer(dialog):
        said.append(dialog.message)
        (dialog.dismiss if said[1:] else dialog.accept)()

    pages["ben"].on("dialog", answer)
    pages["ben"].get_by_role("button", name="Finish").click()
    pages["ben"].get_by_text("10 of 30 questions are answered").wait_for()
    assert f"{tmp_path / 'out' / 'ratings.parquet'}" in pages["ben"].locator("#finished").inner_text()
    pages["ben"].get_by_role("button", name="Finish").click()
    pages["ben"].get_by_role("heading", name="Image 1 of 2").wait_for()  # the first with a question left
    assert said == ["20 questions have no answer of yours. Finish without them?"] * 2
    rows = pq.read_table(tmp_path / "out" / "ratings.parquet").to_pylist()
    assert [row["rater"] for row in rows] == ["anna"] * 10 + ["ben"] * 10
    assert all((row["covers"] == 5) == (row["method"] == "grad-cam") for row in rows)
    assert pq.read_table(tmp_path / "out" / "agreement.parquet").to_pylist()[0]["alpha"] == 1
    for page in pages.values():
        page.context.close()


def test_a_killed_server_loses_no_answer(browser, rating, tmp_path):
    page = browser.new_context(viewport={"width": 375, "height": 700}).new_page()
    rating.open(page, "kim")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    choose(page, 0, "Would you trust it?", 3)
    saved(page)
    rating.kill()
    choose(page, 1, "Would you trust it?", 4)
    page.get_by_text("not saved, trying again").wait_for()
    context = page.context
    page.close(run_before_unload=False)
    rating.start()
    page = context.new_page()
    rating.open(page, "kim")
    saved(page)
    rows = pq.read_table(tmp_path / "out" / "raters" / "kim.parquet").to_pylist()
    assert [(row["position"], row["trust"]) for row in rows] == [(0, 3), (1, 4)]
    page.reload()
    page.locator(".explanation").nth(4).wait_for()
    assert page.locator("input:checked").count() == 2
    context.close()


def test_the_page_is_readable_on_a_phone_and_without_sight(browser, shared):
    page = browser.new_page()
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    shared.open(page, "lea")
    check_page(page, on_paper=False)
    page.close()
    assert said == []
    assert all(url.startswith((f"http://127.0.0.1:{shared.port}/", "data:")) for url in asked)


def test_what_the_server_refuses_and_that_a_second_one_is_refused(shared, run, data, capsys):
    def put(path, body="3", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", shared.port, timeout=60)
        connection.request("PUT", path, body, {"Origin": f"http://127.0.0.1:{shared.port}", **headers})
        return connection.getresponse().status

    assert put("/answers/rob/0/0/trust", Origin="http://elsewhere.example") == 403
    assert put("/answers/rob/0/0/trust", Host="rebound.example", Origin="http://rebound.example") == 400
    assert [put(f"/answers/{place}") for place in ("rob/2/0/trust", "rob/0/5/trust", "..%2fup/0/0/trust")] == [404] * 3
    assert [put("/answers/rob/0/0/trust", body) for body in ("6", "x", "[]", "1" * 1000)] == [409, 400, 400, 409]
    for body in ("3.9", "3.0", "true", "null", '"3"', "Infinity", "-Infinity", "NaN", "1e999", "[" * 200):
        assert put("/answers/rob/0/0/trust", body) == 400, body
    digits = "1" * 4400  # more than Python reads as a number
    assert [put(f"/answers/rob/{image}/{place}/trust") for image, place in ((digits, 0), (0, digits))] == [404, 404]
    assert put("/answers/rob/0/0/other") == put("/answers/Rob/0/0/trust") == 409
    assert not list((shared.out / "raters").glob("[rR]ob*"))
    assert put("/answers/rob/0/0/trust") == 204
    for more in (["--port", "0"], ["--finish"]):
        assert main(["rate", f"{run}", str(shared.out), "--dataset", str(data), *more]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert f"{shared.out} is being written by another salgen process" in line
        assert f"(process {shared.process.pid} on {platform.node()})" in line
