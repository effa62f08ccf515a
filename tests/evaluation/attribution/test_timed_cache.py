import pytest
import torch

from salgen.evaluation.attribution.passes import TimedCache


class Clock(TimedCache):
    """Time passes only when the test says so."""

    def __init__(self):
        super().__init__(torch.device("cpu"))
        self.time = 0.0

    def _now(self):
        return self.time

    def spend(self, seconds, result=None):
        self.time += seconds
        return result


def test_a_value_is_computed_once():
    once, calls = TimedCache(torch.device("cpu")), []
    assert once.get("a", lambda: calls.append(1) or 5) == 5
    assert once.get("a", lambda: calls.append(2) or 6) == 5
    assert calls == [1]


def test_shared_time_is_divided_among_those_who_asked():
    once = Clock()

    def needs_pass(own):
        def work():
            once.get("pass", lambda: once.spend(10))
            once.spend(own)

        return work

    once.run("one", needs_pass(1))
    once.run("two", needs_pass(2))
    once.run("alone", lambda: once.spend(4))
    assert once.seconds() == {"one": 6, "two": 7, "alone": 4}
    assert sum(once.seconds().values()) == once.time


def test_time_spent_in_an_inner_value_is_counted_once():
    once = Clock()

    def outer():
        once.get("inner", lambda: once.spend(3))
        return once.spend(2)

    once.run("one", lambda: once.get("outer", outer))
    once.run("two", lambda: once.get("inner", lambda: once.spend(100)))
    assert sum(once.seconds().values()) == once.time == 5


def test_an_error_leaves_nothing_behind():
    once = Clock()
    with pytest.raises(ZeroDivisionError):
        once.run("one", lambda: once.get("a", lambda: 1 / 0))
    once.run("one", lambda: once.get("a", lambda: once.spend(1)))
    assert once.seconds() == {"one": 1}


def test_release_lets_values_let_go():
    class Holder:
        held = True

        def release(self):
            self.held = False

    once, holder = TimedCache(torch.device("cpu")), Holder()
    once.get("holder", lambda: holder)
    once.get("number", lambda: 3)
    once.release()
    assert not holder.held
    assert once.get("number", lambda: 4) == 4
