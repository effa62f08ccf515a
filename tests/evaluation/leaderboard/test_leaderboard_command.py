"""`salgen leaderboard` as it is typed."""

from run_folders import make_run
from salgen.cli.main import main

SMALL = {"samples": 6, "pictures": 1, "size": 16, "methods": ("gradient", "random", "oracle"), "metrics": ("m-gt",)}


def test_a_site_from_two_runs(tmp_path, capsys):
    runs = [str(make_run(tmp_path / name, **SMALL)) for name in ("one", "two")]
    out = tmp_path / "site"
    assert main(["leaderboard", *runs, "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"leaderboard: {out / 'index.html'}\n"
    assert sorted(path.name for path in (out / "runs").iterdir()) == ["one.html", "two.html"]
    assert main(["leaderboard", runs[1], "--out", str(out)]) == 0
    assert sorted(path.name for path in (out / "runs").iterdir()) == ["two.html"]


def test_faults_are_one_line(tmp_path, capsys):
    run = str(make_run(tmp_path / "one", **SMALL))
    assert main(["leaderboard", run, str(tmp_path / "two"), "--out", str(tmp_path / "site")]) == 2
    errors = capsys.readouterr().err.strip().splitlines()
    assert len(errors) == 1
    assert errors[0].startswith(f"error: {tmp_path / 'two' / 'run.json'} is missing")
    assert main(["leaderboard", run, "--out", run]) == 2
    assert "not a leaderboard" in capsys.readouterr().err
    assert main(["leaderboard"]) == 2
    assert "Missing argument 'RUNS...'" in capsys.readouterr().err
