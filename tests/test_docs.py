"""The documentation says what the code says."""

import dataclasses
import doctest
import importlib
import importlib.util
import re
import tomllib
from pathlib import Path
import numpy as np
import pyarrow as pa
import pytest
from run_folders import make_run
import salgen
from benchmarks import findings, regret, threshold_tables
from benchmarks.filled_pages import filled
from salgen.cli.main import main
from salgen.evaluation.choosing.choice import ON_PHOTOGRAPHS, WITHOUT_MASKS
from salgen.evaluation.choosing.judges import ROAD
from salgen.evaluation.protocols.demo_times import demo_times
from salgen.evaluation.runs.artifacts.certificate_table import COLUMNS as CERTIFICATE_COLUMNS
from salgen.evaluation.runs.artifacts.certificate_table import COMPOSITE_COLUMNS
from salgen.evaluation.runs.artifacts.chunk_files import RESULT_COLUMNS
from salgen.evaluation.runs.artifacts.predictions import Predictions, predictions_table
from salgen.evaluation.statistics.comparisons import Comparison
from salgen.evaluation.statistics.run_tables import write_tables
from salgen.evaluation.statistics.summary import SummaryRow
from salgen.parameters import describe
from salgen.registry import GENERATORS, IMPORTERS, METHODS, METRICS, MODELS, PROTOCOLS

ROOT = Path(__file__).parents[1]
spec = importlib.util.spec_from_file_location("reference", ROOT / "docs" / "reference.py")
reference = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reference)


def test_the_reference_has_every_plugin_with_its_parameters():
    text = "\n".join(reference.pages().values())
    for registry in (GENERATORS, IMPORTERS, METHODS, METRICS, MODELS):
        for name in registry.names():
            section = text.partition(f"## `{name}`\n")[2].partition("\n##")[0]
            assert all(f"`{parameter.name}=" in section for parameter in describe(registry.load(name)))


def test_a_metrics_name_on_a_page_has_its_definition_as_a_tooltip():
    page = '<code class="docutils literal notranslate"><span class="pre">{}</span></code>'
    context = {"body": page.format("m-gt") + page.format("salgen")}
    reference._define_metrics(None, "page", "page.html", context, None)
    defined = page.replace('">', f'" title="{METRICS.entries["m-gt"].summary}">', 1).format("m-gt")
    assert context["body"] == defined + page.format("salgen")


def test_every_protocol_has_its_time_in_the_docs_and_the_help(capsys):
    times = demo_times()
    assert list(times) == [name for name, entry in PROTOCOLS.entries.items() if entry.origin.startswith("salgen.")]
    assert main(["reproduce", "--help"]) == 0
    shown, page = capsys.readouterr().out, reference.pages()["protocols.md"]
    for name, time in times.items():
        assert re.search(rf"^  +{name} +{time}$", shown, re.MULTILINE)
        assert re.search(rf"^\| `{name}` \| .+ \| {time} \|$", page, re.MULTILINE)


def test_the_tables_of_findings_are_those_of_the_published_results():
    page = findings.PAGE.read_text(encoding="utf-8")
    assert filled(page, findings.Results(findings.RESULTS)) == page, "run python -m benchmarks.findings"


def test_the_table_of_thresholds_is_that_of_the_published_sweeps():
    page = threshold_tables.PAGE.read_text(encoding="utf-8")
    tables = threshold_tables.Tables(threshold_tables.RESULTS)
    assert filled(page, tables) == page, "run python -m benchmarks.threshold_tables"


def test_the_regret_of_choices_without_masks_is_that_of_the_published_results():
    page = (ROOT / "docs" / "which_method.md").read_text(encoding="utf-8")
    tables = regret.Tables()
    assert tables.comparison() in page, "run python -m benchmarks.regret"
    lost = regret.without_asking(tables.every)[ROAD]
    assert pytest.approx((lost.mean(), lost.quantile(0.95)), abs=0.005) == tuple(WITHOUT_MASKS)
    assert regret.on_photographs()[ROAD] == pytest.approx(ON_PHOTOGRAPHS, abs=0.005)


@pytest.mark.parametrize(
    "page", ["README.md", "CHANGELOG.md", *(f"docs/{path.name}" for path in ROOT.glob("docs/*.md"))]
)
def test_links_between_pages_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"(?:\]\(|src=\")([^)#\"]+)[)#\"]", text):
        if not target.startswith("http"):
            assert ((ROOT / page).parent / target).exists(), f"{page} links to {target}"


def test_the_page_of_the_api_has_every_public_name():
    page = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\.\. auto\w+:: (\w+)$", page, re.MULTILINE)) == {*salgen.__all__} - {"bench", "open"}


EXAMPLES = sorted(path for path in (ROOT / "salgen").rglob("*.py") if ">>> " in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_examples_in_docstrings_give_what_they_show(path):
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert doctest.testmod(importlib.import_module(name), optionflags=flags).failed == 0


def type_name(kind):
    """An Arrow type in words."""
    return f"list of {kind.value_type}" if pa.types.is_list(kind) else str(kind)


def columns_in_code():
    """File to the names of its columns, and their types where it is a Parquet file."""
    all_present = Predictions(np.zeros(1, dtype=np.int64), np.ones((1, 2), np.float32), np.ones((1, 2), dtype=bool))
    predictions = predictions_table(["a"], [("m", 0)], [all_present]).schema
    summary, comparisons = ([f.name for f in dataclasses.fields(row)] for row in (SummaryRow, Comparison))
    comparisons.remove("higher_is_better")
    return {
        "scores.parquet": {name: type_name(kind) for name, kind in RESULT_COLUMNS.items()},
        "certificates.parquet": {name: type_name(kind) for name, kind in CERTIFICATE_COLUMNS.items()},
        "composites.parquet": {name: type_name(kind) for name, kind in COMPOSITE_COLUMNS.items()},
        "predictions.parquet": {field.name: type_name(field.type) for field in predictions},
        "summary.csv": dict.fromkeys(summary),
        "comparisons.csv": dict.fromkeys(comparisons),
    }


def columns_on_the_page():
    """The same, as docs/columns.md lists them."""
    found = {}
    for section in (ROOT / "docs/columns.md").read_text(encoding="utf-8").split("\n## ")[1:]:
        rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| [^|]+ \|$", section, re.MULTILINE)
        found[section.split("`")[1]] = {name: None if kind in ("text", "number") else kind for name, kind in rows}
        assert len(rows) == section.count("\n| ") - 1, "a row is not readable"
    return found


def test_the_page_of_columns_lists_those_that_the_code_writes():
    assert {file: list(of.items()) for file, of in columns_on_the_page().items()} == {
        file: list(of.items()) for file, of in columns_in_code().items()
    }


def test_the_columns_in_code_are_those_of_files(tmp_path):
    """What a run holds, whatever the declarations say."""
    run = make_run(tmp_path / "run", methods=("gradient", "random", "oracle"), samples=8, pictures=0)
    code = columns_in_code()
    write_tables(run)
    for file in ("summary.csv", "comparisons.csv"):
        head = (run / file).read_text(encoding="utf-8").partition("\n")[0]
        assert head.split(",") == list(code[file])


@pytest.mark.parametrize("folder", ["salgen", "docs", "README.md"])
def test_no_command_installs_salgen_from_an_index(folder):
    files = [path for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".md")] or [ROOT / folder]
    assert [path for path in files if re.search(r"pip install '?salgen", path.read_text(encoding="utf-8"))] == []


def test_what_is_said_to_install_is_an_extra_of_the_package():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "salgen").rglob("*.py"))
    named = set(re.findall(r'needed\(.*"(\w+)"\)', text))
    assert named == {"ray", "coco", "hub", "zenodo", "noise", "annotate", "dicom", "yolo"}
    assert named <= set(extras)
