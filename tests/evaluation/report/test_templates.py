"""Pages hold names from files of others: values are escaped, and a page may load and send nothing."""

import re
from pathlib import Path
import pytest
import salgen
from salgen.evaluation.report.formatting import templates

TEMPLATES = sorted(Path(salgen.__file__).parent.rglob("*.j2"))
PAGES = [path for path in TEMPLATES if "<head>" in path.read_text(encoding="utf-8")]
OF_THE_REPORT = [path for path in TEMPLATES if path.parent.name == "report"]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_has_a_content_security_policy_before_anything_that_it_holds_for(path):
    head = path.read_text(encoding="utf-8").partition("<head>")[2]
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">', head)
    assert policy is not None
    assert policy.start() < min(head.find(tag) for tag in ("<title>", "<style>", "<body>") if tag in head)
    rules = dict(rule.split(" ", 1) for rule in policy[1].split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data:"
    assert rules.get("script-src", "'none'") == ("'unsafe-inline'" if "<script" in head else "'none'")
    assert not {"connect-src", "form-action", "object-src", "frame-src"} & set(rules)


def test_values_are_escaped(tmp_path):
    (tmp_path / "a.j2").write_text("<p title='{{ name }}'>{{ name }}</p>")
    assert "<img" not in templates(tmp_path).get_template("a.j2").render(name="'><img src=x>")


@pytest.mark.parametrize("path", OF_THE_REPORT, ids=lambda path: path.name)
def test_every_table_begins_with_a_caption_that_a_screen_reader_can_say(path):
    for after in path.read_text(encoding="utf-8").split("<table")[1:]:
        assert re.match(r"[^>]*>\s*<caption[^>]*>\S", after), after[:80]
