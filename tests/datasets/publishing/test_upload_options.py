"""What is said of a wrong server, token or archive, before anything is written or sent."""

import pytest
from made_datasets import contents
from salgen.cli.main import main

TOKEN = "hf_s3cr3t/T0ken+that=nobody.may_see"
NO_ADDRESS = "not an address of the form https://HOST"


@pytest.mark.parametrize(
    ("out", "to", "token_file", "message"),
    [
        ("x.tar", "hf://a/b", "", "hf:// takes the files themselves, without an archive: leave out x.tar"),
        ("", "hf://a", "", "does not name a dataset repository: give hf://ORG/NAME"),
        ("", "hf://datasets/a/b", "", "give hf://ORG/NAME"),
        ("", "hf://a/b c", "", "give hf://ORG/NAME"),
        ("", f"hf://{TOKEN}@a/b", "", "give hf://ORG/NAME"),
        ("", "hf:a/b", "", "--to 'hf' is not known"),
        ("", "hf://a/b", "", "no token for the hub: set HF_TOKEN, or name a file"),
        ("", "hf://a/b", "nowhere", "nowhere cannot be read (FileNotFoundError"),
        ("", "hf://a/b", "empty", "no token for the hub in empty"),
        ("", "hf://a/b", "two", "not one word of visible characters"),
        ("", "zenodo:", "good", "zenodo: takes an archive: say where to write it, as OUT"),
        ("", "", "", "say where to write the archive: salgen publish"),
        ("x.tar", "figshare:", "", "--to 'figshare' is not known: give zenodo: (Zenodo's sandbox) or zenodo:https://"),
        ("x.tar", "https://zenodo.org", "", "--to 'https' is not known"),
        ("x.tar", "zenodo:", "", "no token for Zenodo: set ZENODO_TOKEN"),
        ("x.tar", "zenodo:", "empty", "no token for Zenodo in empty"),
        ("x.tar", "zenodo:http://zenodo.org", "good", NO_ADDRESS),
        ("x.tar", f"zenodo:https://a:{TOKEN}@b", "good", NO_ADDRESS),
        ("x.tar", f"zenodo:https://a?t={TOKEN}", "good", NO_ADDRESS),
        ("x.tar", "zenodo:https://a:port", "good", NO_ADDRESS),
        ("x.tar", "zenodo:sandbox", "good", NO_ADDRESS),
        ("x.tar", "", "good", "--token-file is for an upload"),
    ],
)
def test_what_cannot_work_is_said_at_once(tmp_path, folder, capfd, monkeypatch, out, to, token_file, message):
    monkeypatch.chdir(tmp_path)
    for name in ("HF_TOKEN", "ZENODO_TOKEN", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    for name, text in {"empty": " \n", "two": f"{TOKEN} {TOKEN}", "good": TOKEN}.items():
        (tmp_path / name).write_text(text)
    before = contents(tmp_path)
    capfd.readouterr()
    given = [*([out] if out else []), *(["--to", to] if to else [])]
    given += ["--token-file", token_file] if token_file else []
    status = main(["publish", str(folder), *given, "--license", "CC-BY-4.0", "--date", "2026-01-31"])
    _, errors = capfd.readouterr()
    assert (status, len(errors.strip().splitlines())) == (2, 1)
    assert message in errors
    assert TOKEN not in errors
    assert contents(tmp_path) == before
