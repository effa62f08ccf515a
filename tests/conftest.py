"""What all tests share."""

import gc
import os
import sys
import numpy as np
import pytest
import repeats
from hypothesis import settings
from salgen.evaluation.training import training_settings

# A run is the same as the one before it; HYPOTHESIS_PROFILE=random looks at other examples each time.
settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=20)
settings.register_profile("random", deadline=None, max_examples=20)
settings.register_profile("torture", derandomize=True, deadline=None, max_examples=100)

gc.disable()


def pytest_collection_finish():
    """The garbage collector waits until all is collected, and passes over modules and tests, which stay."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _small_and_alone(tmp_path_factory):
    """Brain slices that tests cut stay out of the user's cache.

    No test waits for a disk, starts more processes, or trains more models, or for longer, than it asks for.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SALGEN_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setitem(training_settings.SEEDS, "small", 1)
        patch.setattr(training_settings, "RELIANCE", 0.0)
        patch.setattr(os, "fsync", lambda handle: None)
        patch.setattr(os, "sched_getaffinity", lambda process: {0}, raising=False)
        yield


@pytest.fixture(autouse=True)
def _same_numbers_every_time():
    """Other libraries draw from the global generators: no test depends on which ran before it."""
    np.random.seed(0)  # noqa: NPY002
    if "torch" in sys.modules:  # it takes seconds to import, and many tests need none
        sys.modules["torch"].default_generator.manual_seed(0)


def pytest_addoption(parser):
    parser.addoption("--torture", action="store_true", help="repeat more often and break more, with figures at the end")


def pytest_collection_modifyitems(config, items):
    """Without --torture, tests that are marked so are left out."""
    if not config.getoption("--torture"):
        left_out = [item for item in items if item.get_closest_marker("torture")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


def pytest_configure(config):
    repeats.torture = config.getoption("--torture")
    settings.load_profile("torture" if repeats.torture else os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


@pytest.fixture(scope="session")
def stage(tmp_path_factory, request):
    """What tests/faults breaks: small, or with --torture large."""
    from works import LARGE, SMALL, Stage

    return Stage(tmp_path_factory.mktemp("faults"), LARGE if request.config.getoption("--torture") else SMALL)


def pytest_terminal_summary(terminalreporter, config):
    """The figures that tests recorded."""
    if config.getoption("--torture"):
        for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
            for name, figure in report.user_properties:
                if name == "figure":
                    terminalreporter.write_line(f"{report.outcome}: {figure}")
