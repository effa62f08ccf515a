"""Work that processes share: values in any order, the first error, threads."""

import os
from functools import partial
import pytest
from salgen.datasets.execution.pool import side_by_side
from salgen.errors import SalgenError


def test_each_task_comes_with_its_value():
    assert sorted(side_by_side(partial(pow, 2), [3, 1, 2], 2)) == [(1, 2), (2, 4), (3, 8)]


def test_an_error_of_one_task_is_raised():
    with pytest.raises(OSError, match="no_such_file"):
        list(side_by_side(os.stat, ["no_such_file", "."], 2))


def test_each_process_has_its_threads():
    assert dict(side_by_side(os.getenv, ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"], 1, threads=3)) == {
        "OMP_NUM_THREADS": "3",
        "OPENBLAS_NUM_THREADS": "3",
    }


def test_work_that_a_process_cannot_load_is_named():
    def work(task):
        return task

    work.__qualname__ = "gone"
    work.__module__ = "os"
    os.gone = work
    try:
        with pytest.raises(SalgenError, match=r"cannot load its work .*gone.*use one worker"):
            list(side_by_side(work, [1, 2], 2))
    finally:
        del os.gone
