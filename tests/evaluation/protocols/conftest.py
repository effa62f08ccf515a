from types import SimpleNamespace
import pytest
from salgen.evaluation.protocols import protocol
from salgen.evaluation.protocols.paper_table import PaperTable
from salgen.evaluation.protocols.szczepankiewicz2023 import VARIANTS
from salgen.evaluation.report.study import StudyTable


@pytest.fixture
def recorded(monkeypatch):
    """What a protocol makes, evaluates and reports, as lists, without any of it being done."""
    made, evaluated, reported = [], [], []
    splits = ("train", "val", "test", *(f"test_{variant}" for variant in VARIANTS))
    known = SimpleNamespace(spec=SimpleNamespace(splits=dict.fromkeys(splits, 4)))
    monkeypatch.setattr(protocol, "processors", lambda: 1)  # other processes would do it
    monkeypatch.setattr(protocol, "_show", lambda data, sheet: None)
    monkeypatch.setattr(protocol, "open_dataset", lambda data: known)
    monkeypatch.setattr(protocol, "make", lambda name, out, **how: made.append((name, how)) or out)
    monkeypatch.setattr(protocol, "evaluate", lambda data, **how: evaluated.append((data.name, how)) or how["out"])
    monkeypatch.setattr(protocol, "report", lambda runs, page, study: reported.append((runs, study)) or page)
    monkeypatch.setattr(protocol, "judge", lambda claims, study: ())
    monkeypatch.setattr(PaperTable, "filled", lambda table, *given: StudyTable(table.title, "", (), ()))
    return made, evaluated, reported
