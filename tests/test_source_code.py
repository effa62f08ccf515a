"""The digest of a source: it covers what the source names, and is the same in every process."""

import importlib
from salgen.source_code import source_digest


def test_a_digest_covers_plain_values_and_no_addresses(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    text = "def step(): ...\n\nSTEPS = ((step, 1), 2)\nSIZES = (({}, None), 'a')\n\ndef mine(): return STEPS, SIZES\n"
    digests = []
    for number, size in enumerate((3, 3, 4)):
        (tmp_path / f"digested{number}.py").write_text(text.format(size))
        digests.append(source_digest(importlib.import_module(f"digested{number}").mine))
    assert digests[0] == digests[1] != digests[2]
