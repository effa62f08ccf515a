import signal
import numpy as np
import pyarrow.parquet as pq
import pytest
from browsers import check_page
from drawing_pages import ITEMS
from own_image_files import H, W
from salgen.datasets.layouts.own_images.outlines import Polygons
from salgen.datasets.reading.reader import open_dataset


def brushed(start, end, size):
    """Pixels whose centre is within half the size of a segment, by its nearest of many points."""
    rows, columns = np.mgrid[:H, :W]
    along = np.linspace(0, 1, 2001)[:, None, None]
    x, y = (start[axis] + along * (end[axis] - start[axis]) for axis in (0, 1))
    return ((columns - x) ** 2 + (rows - y) ** 2).min(axis=0) <= (size / 2) ** 2 + 1e-6


def middle(x, y):
    return x + 0.5, y + 0.5


def test_brush_eraser_undo_and_reload(annotate):
    page = annotate("anna")
    assert page.stored() is None
    page.size(5)
    page.stroke(middle(4, 6), middle(20, 11))
    page.saved()
    drawn = brushed((4, 6), (20, 11), 5)
    assert np.array_equal(page.stored(), drawn)
    page.page.keyboard.press("e")
    page.size(1)
    page.stroke(middle(8, 7))
    page.saved()
    erased = drawn & ~brushed((8, 7), (8, 7), 1)
    assert erased.sum() == drawn.sum() - 1
    assert np.array_equal(page.stored(), erased)
    page.page.reload()
    page.ready()
    assert np.array_equal(page.shown(), erased)
    assert "✓ 1 of 4: cat/a0.png" in page.page.locator("#list").inner_text()
    page.page.keyboard.press("b")
    page.size(3)
    page.stroke(middle(24, 15))
    page.page.get_by_role("button", name="Undo").click()
    page.saved()
    assert np.array_equal(page.shown(), erased)
    assert np.array_equal(page.stored(), erased)


@pytest.mark.parametrize("key", ["stroke", "c"])
def test_undo_of_the_first_change_leaves_no_mask(annotate, key):
    """An empty mask would say that nothing is there, which nobody said."""
    page = annotate(f"uma-{key}")
    if key == "c":
        page.page.keyboard.press("c")
    else:
        page.stroke(middle(8, 7))
    page.saved()
    assert page.stored() is not None
    page.page.keyboard.press("u")
    page.status("nothing drawn yet")
    assert page.stored() is None
    page.page.reload()
    page.ready()
    assert "✓" not in page.page.locator("#list").inner_text()
    assert not page.shown().any()


def test_the_eraser_leaves_an_untouched_image_without_a_mask(annotate):
    page = annotate("erna")
    page.page.keyboard.press("e")
    page.stroke(middle(8, 7), middle(12, 7))
    page.page.keyboard.press("Space")
    page.page.keyboard.press("Shift+ArrowRight")
    page.status("nothing drawn yet")
    assert page.stored() is None
    page.page.keyboard.press("b")
    page.size(5)
    page.stroke(middle(8, 7))
    page.saved()
    page.page.keyboard.press("e")
    page.stroke(middle(8, 7))
    page.saved()
    assert page.stored() is not None
    assert not page.stored().any()


def test_finish_asks_where_images_are_left_and_shows_the_first(annotate, server):
    page = annotate("fay")
    page.stroke(middle(8, 7))
    page.saved()
    finished = server.out.exists()
    with page.page.expect_event("dialog") as asked:
        page.page.once("dialog", lambda dialog: dialog.dismiss())
        page.page.get_by_role("button", name="Finish").click()
    assert asked.value.message == "3 of 4 images have no mask of yours. Make the data set without them?"
    page.page.wait_for_function("() => current === 1")
    assert server.out.exists() == finished
    assert page.page.locator("#finished").inner_text() == ""


def test_a_polygon_holds_the_pixels_whose_centre_it_holds(annotate):
    page = annotate("polly")
    corners = [(3.2, 2.4), (24.6, 5.1), (8.7, 8.8), (20.3, 18.2), (2.1, 15.9), (15.2, 1.3)]
    page.page.keyboard.press("g")
    for corner in corners:
        page.page.mouse.click(*page.place(*corner))
    assert page.stored() is None  # it is no stroke before it is closed
    taken = page.page.evaluate("corners.map(({ x, y }) => [x, y])")
    page.page.get_by_role("button", name="Close polygon").click()
    page.saved()
    assert np.allclose(taken, corners, atol=0.05)  # a mouse moves by whole pixels of the screen
    assert np.array_equal(page.stored(), Polygons([np.array(taken)]).paint((H, W)))
    page.page.keyboard.press("c")
    page.saved()
    assert page.stored().sum() == 0
    page.page.keyboard.press("Control+z")
    page.saved()
    assert page.stored().sum() > 50


def test_by_keys_alone(annotate):
    page = annotate("keys")
    page.size(1)
    page.page.locator("#mask").focus()
    page.page.keyboard.press("Space")
    for _ in range(3):
        page.page.keyboard.press("Shift+ArrowRight")
    page.page.keyboard.press("ArrowDown")
    page.page.keyboard.press("Space")
    page.saved()
    expected = np.zeros((H, W), dtype=bool)
    expected[10, 14:18] = expected[11, 17] = True
    assert np.array_equal(page.stored(), expected)
    page.page.keyboard.press("n")
    page.ready()
    assert page.page.locator("#list").input_value() == "1"
    page.page.keyboard.press("Space")
    page.saved()
    assert page.stored(ITEMS[1]).sum() == 1
    page.page.keyboard.press("p")
    page.ready()
    assert np.array_equal(page.shown(), expected)


def test_zoom_keeps_pixels_where_they_are(annotate):
    page = annotate("zoe")
    for _ in range(4):
        page.page.keyboard.press("+")
    page.size(1)
    page.page.locator("#view").evaluate("view => view.scrollTo(view.scrollWidth / 2, view.scrollHeight / 2)")
    page.stroke(middle(15, 11))
    page.saved()
    assert np.argwhere(page.stored()).tolist() == [[11, 15]]


def test_a_killed_server_loses_nothing(annotate, server):
    page = annotate("kim")
    page.size(3)
    page.stroke(middle(5, 5))
    page.saved()
    server.kill()
    page.stroke(middle(20, 5))
    page.status("not saved, trying again")
    before = page.stored()
    assert np.array_equal(before, brushed((5, 5), (5, 5), 3))
    page.page.close(run_before_unload=False)
    server.start()
    page.again()  # the browser kept what the server did not get
    page.saved()
    assert np.array_equal(page.stored(), before | brushed((20, 5), (20, 5), 3))
    assert np.array_equal(page.shown(), page.stored())


def test_two_windows_of_one_annotator(annotate):
    first, second = annotate("wim"), annotate("wim")
    for page, at in ((first, (3, 3)), (second, (9, 9))):
        page.size(1)
        page.stroke(middle(*at))
    first.saved()
    second.status("changed in another window")
    assert np.argwhere(second.shown()).tolist() == [[3, 3]]
    second.page.keyboard.press("u")
    second.saved()
    assert np.argwhere(second.stored()).tolist() == [[9, 9]]


def test_a_name_that_is_none(annotate, browser, server):
    page = browser.new_page()
    page.goto(server.url)
    assert page.get_by_label("Your name").is_visible()
    page.goto(f"{server.url}?annotator=Up")
    page.get_by_text("a name has 1 to 32").wait_for()
    page.get_by_label("Your name").fill("nina")
    page.keyboard.press("Enter")
    page.wait_for_function("() => mask !== null")
    page.close()


def test_the_page_is_readable_on_a_phone_and_without_sight(annotate, server):
    page = annotate("lea")
    asked = []
    page.page.on("request", lambda request: asked.append(request.url))
    page.page.on("console", lambda message: page.said.append(message.text))
    page.page.set_viewport_size({"width": 360, "height": 740})  # to which the image is fitted
    page.page.reload()
    page.ready()
    check_page(page.page, on_paper=False)
    assert asked
    assert all(url.startswith(server.url) for url in asked)


def test_two_annotators_at_once_make_a_data_set(annotate, server):
    for name in server.masks.annotators:
        for path in server.masks.folder_of(name).rglob("*.png"):
            path.unlink()
    first, second = annotate("ada"), annotate("bob")
    masks = {"ada": brushed((6, 6), (6, 6), 7), "bob": brushed((8, 6), (8, 6), 7)}
    for page, at in ((first, (6, 6)), (second, (8, 6))):
        page.size(7)
        page.stroke(middle(*at))
    for page in (first, second):
        page.saved()
    assert all(np.array_equal(page.stored(), masks[page.annotator]) for page in (first, second))
    first.page.once("dialog", lambda dialog: dialog.accept())
    first.page.get_by_role("button", name="Finish").click()
    first.page.get_by_text(f"Next: salgen evaluate {server.out}").wait_for()
    assert f"The masks are in {server.masks.folder}" in first.page.locator("#finished").inner_text()
    assert "1 of 4 images have a mask, by ada, bob" in first.page.locator("#finished").inner_text()
    item = next(item for item in open_dataset(server.out) if item["mask"].any())
    np.testing.assert_array_equal([item["mask"], *item["alternative_masks"]], list(masks.values()))
    rows = pq.read_table(server.out.with_name("photos-annotated-source") / "agreement.parquet").to_pylist()
    overlap = (masks["ada"] & masks["bob"]).sum() / (masks["ada"] | masks["bob"]).sum()
    assert rows[0] == {"image": ITEMS[0], "statistic": "iou", "annotators": ["ada", "bob"], "value": overlap}
    assert [row["statistic"] for row in rows] == ["iou", "alpha"]


def test_ctrl_c_ends_the_server(server):
    server.kill(signal.SIGINT)
    assert server.process.returncode == 130
    server.start()
