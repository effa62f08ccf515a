"""Progress on a pipe: plain lines, no control characters."""

from salgen import progress as module
from salgen.progress import progress


def test_plain_lines_say_rate_and_estimate(capsys, monkeypatch):
    monkeypatch.setattr(module, "PLAIN_INTERVAL_S", 0.0)
    with progress("making", 4, "images", done=1) as advance:
        advance(1)
        advance(2)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("making: 2/4, ")
    assert lines[0].endswith(" s left")
    assert "images/s" in lines[1]
    assert lines[1].startswith("making: 4/4")
    assert "\x1b" not in "".join(lines)


def test_nothing_to_do_says_nothing(capsys):
    with progress("making", 4, "images", done=4):
        pass
    assert capsys.readouterr().err == ""
