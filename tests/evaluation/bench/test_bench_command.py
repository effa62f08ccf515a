"""`salgen bench` at the command line."""

import pytest
import salgen
from salgen.cli.main import main
from salgen.evaluation.bench.run_entry import RESULTS

ENTRY = "perlin-lesions-lesion-cnn-reliance"


@pytest.fixture(autouse=True)
def small(spec, monkeypatch):
    for module in ("benchmark", "versions"):
        monkeypatch.setattr(f"salgen.evaluation.bench.{module}.bench_spec", lambda: spec)


@pytest.fixture
def said(capsys):
    """Runs a command that succeeds, and gives what it prints."""

    def run(*arguments):
        assert main(["bench", *map(str, arguments)]) == 0
        return capsys.readouterr().out

    return run


def test_entries_are_listed(spec, said):
    listed = said("list")
    assert f"salgen-bench 1, sha256 {spec.digest}" in listed
    assert [line.split()[:2] for line in listed.splitlines() if line.startswith("  ")] == [
        ["1", "perlin-lesions-lesion-cnn-plain"],
        ["2", ENTRY],
    ]


def test_python_has_the_table_of_the_command_and_the_board(out, said, tmp_path):
    assert said("table", "--results", out / RESULTS) == f"{salgen.bench.table(out / RESULTS)}\n"
    assert salgen.leaderboard([out / RESULTS], tmp_path / "site") == tmp_path / "site" / "index.html"


def test_a_method_is_ranked(out, said, tmp_path):
    ranked = said("rank", "input-x-gradient", "--results", out / RESULTS, "--out", tmp_path / "rank")
    assert "p against input-x-gradient" in ranked
    assert [line.split()[1] for line in ranked.splitlines() if line.startswith(">")] == ["input-x-gradient"]


def test_results_are_fetched_and_verified(out, said, tmp_path, capsys):
    fetched = tmp_path / "fetched"
    assert said("fetch", out / RESULTS, "--out", fetched) == f"{fetched}: 2 results\n"
    assert said("verify", "--results", fetched, "--seed", 1) == f"{fetched}: verified\n"
    assert salgen.bench.verify(fetched) == []
    assert capsys.readouterr().err.startswith("seed ")
    (fetched / ENTRY / "summary.csv").write_text("samples,method,metric,mean,ci_low,ci_high\n", encoding="utf-8")
    assert main(["bench", "verify", "--results", str(fetched), "--seed", "1"]) == 2
    assert "summary.csv: average-precision of" in capsys.readouterr().err
