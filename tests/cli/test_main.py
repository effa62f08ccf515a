"""The command itself: help, lists, faults of the machine, Ctrl-C."""

import errno
import shlex
import click
import pytest
from salgen.cli import main as module
from salgen.cli.main import COMMANDS, main


def test_help_lists_every_command(capsys):
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(command in out for command in COMMANDS)


def commands():
    """The words of each command and subcommand, and the command."""
    for name in COMMANDS:
        command = module.salgen.get_command(None, name)
        for below, subcommand in getattr(command, "commands", {"": command}).items():
            yield [name, below] if below else [name], subcommand


@pytest.mark.parametrize(("words", "command"), list(commands()))
def test_every_command_has_help_with_an_example_that_it_takes(words, command, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("runs/a", "runs/b", "runs/mine", "salgen-bench/results"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setenv("COLUMNS", "80")
    assert main([*words, "--help"]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    assert "Usage: salgen" in shown
    (example,) = (line for line in shown.splitlines() if line.startswith("  Example: salgen "))
    example = shlex.split(example)[2:]
    assert example[: len(words)] == words
    command.make_context("", example[len(words) :])


def test_the_help_of_evaluate_fits_in_two_screens(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["evaluate", "--help"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) <= 96
    assert max(map(len, shown)) <= 80
    assert [line for line in shown if line in ("Model:", "Metrics:", "Machine:", "Training:")]
    assert "Other:" in shown[-8:]
    assert any("salgen train --help" in line for line in shown)


@pytest.mark.parametrize(
    ("words", "nearest"),
    [("mak", "make"), ("list method", "methods"), ("metrics chek", "check"), ("find clever-hanz", "clever-hans")],
)
def test_unknown_commands_and_kinds_suggest_the_nearest(words, nearest, capsys):
    assert main(words.split()) == 2
    assert f" {words.split()[-1]!r}: did you mean {nearest!r}? (known: " in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["metrics"], ["find"]])
def test_a_group_alone_shows_its_help(words, capsys):
    assert main(words) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("Usage: salgen")
    assert "\nCommands:\n" in captured.out
    assert captured.err == ""


@pytest.mark.parametrize("columns", [80, 60])
def test_list_shows_names_and_parameters_within_the_terminals_width_and_breaks_no_word(columns, capsys, monkeypatch):
    shown = [
        ([], "budding2021"),
        (["methods", "*cam*"], "fast-cam"),
        (["generators", "bam"], "common_in"),
        (["metrics", "roc-auc"], "(none)"),
    ]
    monkeypatch.setenv("COLUMNS", "300")
    for words, name in shown:
        assert main(["list", *words]) == 0
        wide = capsys.readouterr().out
        monkeypatch.setenv("COLUMNS", str(columns))
        assert main(["list", *words]) == 0
        narrow = capsys.readouterr().out
        assert name in narrow
        assert narrow.split() == wide.split()
        assert max(map(len, narrow.splitlines())) <= columns


@pytest.mark.parametrize(
    ("fault", "status", "says"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "x.parquet"), 2, "the disk is full (x.parquet)"),
        (OSError(errno.EACCES, "Permission denied", "out"), 2, "no permission (out): allow to read and write"),
        (OSError(errno.EIO, "Input/output error"), 2, "Input/output error"),
        (KeyboardInterrupt(), 130, "run the same command again"),
    ],
)
def test_faults_are_one_line(fault, status, says, monkeypatch, capsys):
    def fail(*_):
        raise fault

    monkeypatch.setattr(module.Commands, "get_command", lambda *_: click.Command("fail", callback=fail))
    assert main(["fail"]) == status
    err = capsys.readouterr().err.strip()
    assert says in err
    assert len(err.splitlines()) == 1
