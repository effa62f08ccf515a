"""`salgen bench` at the command line."""

import pytest
import salgen
from salgen.cli.main import main
from salgen.evaluation.bench.worlds import WORLDS


@pytest.fixture(autouse=True)
def small(spec, believed, monkeypatch):
    for module in ("benchmark", "worlds"):
        monkeypatch.setattr(f"salgen.evaluation.bench.{module}.world_spec", lambda: spec)


@pytest.fixture
def said(capsys):
    """Runs a command that succeeds, and gives what it prints."""

    def run(*arguments):
        assert main(["bench", *map(str, arguments)]) == 0
        return capsys.readouterr().out

    return run


def test_worlds_are_listed(spec, said):
    listed = said("list")
    assert f"salgen-bench 2, sha256 {spec.digest}" in listed
    assert listed.splitlines()[2:] == [
        f"{name:20s} perlin-lesions (image_size=[32, 32]); scnn{kept}"
        for name, kept in zip(
            [world.name for world in spec.worlds], ["; weights kept", "", "; weights kept"], strict=True
        )
    ]


def test_a_method_is_ranked_and_results_have_a_board(results, said, tmp_path):
    ranked = said("rank", "input-x-gradient", "--results", results, "--out", tmp_path / "rank")
    assert [line.split()[0] for line in ranked.splitlines() if " > " in line] == ["input-x-gradient"]
    found = salgen.bench.rank("input-x-gradient", results, tmp_path / "rank")
    assert "by 2 worlds of 2 families" in str(found)
    for _ in range(2):  # the second time it is replaced
        assert salgen.leaderboard([results], tmp_path / "site") == tmp_path / "site" / "index.html"


def test_results_are_fetched_and_verified(results, said, tmp_path, capsys):
    fetched = tmp_path / "fetched"
    assert said("fetch", results, "--out", fetched) == f"{fetched}: 3 worlds\n"
    assert said("verify", "--results", fetched, "--seed", 1) == f"{fetched}: verified\n"
    assert salgen.bench.verify(fetched) == []
    assert capsys.readouterr().err.startswith("seed ")
    (fetched / WORLDS / "mri-lesions-1" / "network-seed0" / "weights.safetensors").write_bytes(b"")
    assert main(["bench", "verify", "--results", str(fetched), "--seed", "1"]) == 2
    assert "mri-lesions-1: " in capsys.readouterr().err
