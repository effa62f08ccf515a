"""Clocks that jump by years: results do not change, and no progress is negative."""

import datetime
import importlib
import os
import random
import re
import time
import pytest
from forked import finish
from works import assert_equal

YEAR_S = 365.25 * 86400
CLOCKS = ("time", "monotonic", "perf_counter", "process_time")
KEEPERS = ("salgen.datasets.making", "salgen.evaluation.runs.recording")  # modules that note the date


class JumpingClocks:
    """Every look at a clock is off by up to ten years, either way; so are the times of files that get their name."""

    def __init__(self, seed):
        self.seed = seed

    def __call__(self):
        from salgen import progress

        rolls, looks = random.Random(self.seed), 0

        def jumping(clock):
            def look():
                nonlocal looks
                looks += 1
                return clock() + rolls.uniform(-10, 10) * YEAR_S

            return look

        class Jumping(datetime.datetime):
            @classmethod
            def now(cls, zone=None):
                return datetime.datetime.fromtimestamp(time.time(), zone)

        def replace(source, target, usual=os.replace):
            usual(source, target)
            stamp = now() + rolls.uniform(-10, 10) * YEAR_S
            os.utime(target, (stamp, stamp))

        now = time.time
        for name in CLOCKS:
            setattr(time, name, jumping(getattr(time, name)))
        for name in KEEPERS:
            importlib.import_module(name).datetime = Jumping
        os.replace = replace
        progress.PLAIN_INTERVAL_S = float("-inf")  # every step is shown
        return lambda: looks


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(name, marks=pytest.mark.torture) for name in ("make", "evaluate", "publish .tar")),
        "publish .zip",
        "unpack",
    ],
)
def test_where_clocks_jump_by_years_nothing_else_changes(stage, name, record_property):
    work = stage.works[name]
    looks = 0
    for seed in range(stage.size.races):
        place = work.place()
        done = finish(work.arguments, place, JumpingClocks(seed))
        assert done.status == 0, done.text
        assert_equal(place, work.usual[0])
        assert not re.search(r"(^|\s)-\d", "\n".join(progress_lines(done.text)))
        looks += done.figures[0]
    record_property("figure", f"clock: {name}: {stage.size.races} runs, {looks} looks at a clock that had jumped")


def progress_lines(text):
    lines = [line for line in text.splitlines() if re.search(r": \d+/\d+, |: -", line)]
    assert lines
    return lines
