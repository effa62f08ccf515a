"""What the benchmarks print of their measurements."""

import pytest
import torch
from torch import nn
from benchmarks import growth, workers
from benchmarks.timing import Row, medians_us, table


def test_a_missed_goal_says_what_holds_it_and_another_one_nothing():
    rows = [
        Row("first", "peer", 200.0, 100.0, "≥ 2", "no reason"),
        Row("second", "peer", 199.0, 100.0, "≥ 2", "the sort"),
        Row("third", "peer", 1.0, 100.0, ""),
        Row("fourth", "peer", 1.0, 2.0, "≥ 0.83"),
    ]
    text = table(rows)
    assert "| second | peer | 199 | 100 | 2.0 | ≥ 2 |" in text
    assert text.partition("What holds missed goals:")[2].split("\n")[2:] == [
        "- second, peer: the sort",
        "- fourth, peer: not looked into",
    ]
    assert "holds" not in table(rows[:1])


def test_work_is_timed_in_turns():
    done = []
    times = medians_us({"a": lambda: done.append("a"), "b": lambda: done.append("b")}, 3, {"b": 2})
    assert "".join(done) == "abb" * 3
    assert all(time > 0 for time in times.values())


def test_growth_is_that_of_the_largest_size_beside_the_smallest(monkeypatch):
    """2 s and 10 µs an image, which is a line; memory grows too."""

    def measure(step, size):
        return {"us_per_image": 2e6 / size + 10, "bare_us_per_image": 5.0, "peak_mb": 100 + size / 2000}

    monkeypatch.setattr(growth, "measure", measure)
    lines = list(growth.lines({"evaluate": (1_000, 10_000, 100_000)}))
    assert lines[2] == "| evaluate | 1,000 | 2,010 | 5 | 402.00 | 100 |"
    assert lines[-1].startswith("- evaluate: 2.00 s and 10 µs an image, at most 0% away;")
    assert f"an image takes {30 / 2010:.2f} times as long at the largest size" in lines[-1]
    assert f"peak memory is {150 / 100.5:.2f} times as large" in lines[-1]


def test_only_images_that_enter_the_network_are_counted():
    network = nn.Sequential(nn.Conv2d(1, 3, 3), nn.Conv2d(3, 1, 3))
    with growth._counting_images() as shown:
        network(torch.zeros(5, 1, 8, 8))
        network(torch.zeros(2, 1, 8, 8, requires_grad=True))
        network(torch.zeros(4, 1, 8, 8))
    network(torch.zeros(9, 1, 8, 8))
    assert shown == {False: 9, True: 2}


def test_efficiency_is_the_speed_up_beside_that_of_bare_processes():
    row = {"make": 1.0, "driver_ms": 1.0, "workers_ms": 1.0, "bytes": 1.0}
    found = {1: {**row, "evaluate": 10.0, "bare": 100.0}, 2: {**row, "evaluate": 15.0, "bare": 160.0}}
    cells = [cell.strip() for cell in workers.table(found)[-1].split("|")]
    assert [float(cell) for cell in cells[5:8]] == pytest.approx([1.5, 1.6, 0.94])
