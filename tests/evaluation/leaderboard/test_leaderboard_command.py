"""`salgen leaderboard` as it is typed."""

from run_folders import make_run
from salgen.cli.main import main

SMALL = {"samples": 6, "pictures": 1, "size": 16, "methods": ("gradient", "random", "oracle"), "metrics": ("m-gt",)}


def test_a_site_from_two_runs_and_faults_in_one_line(tmp_path, capsys):
    runs = [str(make_run(tmp_path / name, **SMALL)) for name in ("one", "two")]
    out = tmp_path / "site"
    assert main(["leaderboard", *runs, "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"leaderboard: {out / 'index.html'}\n"
    assert sorted(path.name for path in (out / "runs").iterdir()) == ["one.html", "two.html"]
    assert main(["leaderboard", runs[0], str(tmp_path / "none"), "--out", str(out)]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith(f"error: {tmp_path / 'none' / 'run.json'} is missing")
    assert main(["leaderboard"]) == 2
    assert "Missing argument 'RUNS...'" in capsys.readouterr().err
