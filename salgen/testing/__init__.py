"""Conformance checks for plug-ins, which salgen's own tests run on every registered name.

Each check raises AssertionError with the law that was broken, so a third party's test is one line::

    def test_my_method():
        check_method("my-method")
"""

from salgen.testing.generators import check_generator
from salgen.testing.importers import check_importer
from salgen.testing.method_laws import check_laws
from salgen.testing.methods import check_method
from salgen.testing.metrics import check_metric

__all__ = ["check_generator", "check_importer", "check_laws", "check_method", "check_metric"]
