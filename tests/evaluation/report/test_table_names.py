"""Every table of the page has a name that a screen reader can say."""

from html.parser import HTMLParser
from pathlib import Path
import pytest
from run_folders import MORE_METRICS, make_run
import salgen.evaluation.report
from salgen.evaluation.report import report
from salgen.evaluation.report.study import Finding, Study, StudyCell, Variants

TEMPLATES = sorted(Path(salgen.evaluation.report.__file__).parent.glob("*.j2"))
SMALL = {"samples": 12, "pictures": 4, "size": 16, "metrics": ("m-gt", "relevance-mass", *MORE_METRICS)}
PAPER = ("gradient", "smoothgrad", "grad-cam")
METHODS = (*PAPER, "lrp-z", "random", "sobel", "oracle")


class Tables(HTMLParser):
    """The name of each table, from its label, what labels it, or its caption."""

    def __init__(self, text):
        super().__init__()
        self.names, self.labelled, self.ids, self.caption = [], [], set(), False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids.add(given.get("id"))
        if tag == "table":
            self.names.append(given.get("aria-label", ""))
            self.labelled.append(given.get("aria-labelledby"))
        self.caption = tag == "caption" or (self.caption and tag not in ("thead", "tbody", "tr"))

    def handle_endtag(self, tag):
        self.caption = self.caption and tag != "caption"

    def handle_data(self, data):
        if self.caption:
            self.names[-1] += data

    @property
    def unnamed(self):
        named = [bool(n.strip()) or by in self.ids - {None} for n, by in zip(self.names, self.labelled, strict=True)]
        return [place for place, has_name in enumerate(named) if not has_name]


def test_a_table_without_a_name_is_found():
    assert Tables("<table><thead></thead></table>").unnamed == [0]
    assert Tables("<table><caption> </caption></table><table aria-label='x'></table>").unnamed == [0]
    assert Tables("<table aria-labelledby='a'></table><h2 id='a'>A</h2>").unnamed == []
    assert Tables("<table aria-labelledby='b'></table>").unnamed == [0]
    assert Tables("<table><caption class='hidden'>All</caption></table>").unnamed == []


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A study with variants on a page of two runs with several seeds and certificates."""
    root = tmp_path_factory.mktemp("named")
    runs = [
        make_run(root / f"run{i}", name=f"data-{i}", seeds=2, coverage=0.5, shift=-0.1 * i, methods=METHODS, **SMALL)
        for i in range(2)
    ]
    variants = Variants("lesion-cnn", {"original": runs[0], "moved": runs[1]})
    cells = tuple(StudyCell(f"data-{i}", "lesion-cnn", (run,)) for i, run in enumerate(runs))
    study = Study("A study", "A paper", "m-gt", PAPER, cells, (variants,), (Finding("c", "held", "1"),))
    return report(runs, root / "page.html", study).read_text(encoding="utf-8")


def test_every_table_has_a_name(page):
    tables = Tables(page)
    assert len(tables.names) > 20
    assert tables.unnamed == []


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_every_table_of_a_template_begins_with_its_caption(template):
    for after in template.read_text(encoding="utf-8").split("<table")[1:]:
        assert after.partition(">")[2].lstrip().startswith("<caption"), after[:80]
