"""Plug-ins of another package: the code of docs/extending.md, installed and found by its entry points."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from made_datasets import SUPPORT
import salgen
from salgen import plugins

ROOT = Path(salgen.__file__).parents[1]
PAGE = (Path(__file__).parents[1] / "docs" / "extending.md").read_text(encoding="utf-8")
CODE = re.findall(r"```python\n(.*?)```", PAGE, re.S)
(POINTS,) = (tomllib.loads(block)["project"]["entry-points"] for block in re.findall(r"```toml\n(.*?)```", PAGE, re.S))
IMPORTED = {"collections.abc", "dataclasses", "numpy", "salgen.plugins", "salgen.testing", "torch", "typing"}
NEED_TORCH = {"AttributionContext", "ClassActivation", "Method", "PassRequirements"}
NEED_TORCH |= {"Claim", "Experiment", "PaperTable", "Protocol", "Row", "among_the_best", "averaged", "between"}
NEED_TORCH |= {"higher_median", "highest", "lowest", "networks_on", "on", "share_left"}


def install(site):
    """The page's package as an installer leaves it: modules, and a description with entry points."""
    package, description = site / "my_package", site / "my_package-1.0.dist-info"
    package.mkdir(parents=True)
    description.mkdir()
    (package / "__init__.py").touch()
    modules = dict(reversed(value.split(":")) for group in POINTS.values() for value in group.values())
    for block in CODE:
        (module,) = {modules.pop(name) for name in re.findall(r"^class (\w+)", block, re.M)} or {"test_my_package"}
        (site / (module.replace(".", "/") + ".py")).write_text(block, encoding="utf-8")
    assert not modules, f"the page announces {modules} and does not show them"
    (description / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    lines = [line for group, points in POINTS.items() for line in (f"[{group}]", *map(" = ".join, points.items()))]
    (description / "entry_points.txt").write_text("\n".join(lines))


def test_the_pages_plug_ins_work_from_a_package_of_their_own(tmp_path):
    install(tmp_path / "site")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), str(ROOT)])}
    program = [sys.executable, str(SUPPORT / "use_plugins.py"), str(tmp_path)]
    done = subprocess.run(program, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for group, points in POINTS.items():
        (shown,) = re.findall(rf"^{group.removeprefix('salgen.')}:\n((?:  .*\n)*)", done.stdout, re.M)
        for name in points:
            assert re.search(rf"^  {name} +\(third party\)$", shown, re.M), f"salgen list does not show {name}"


def test_the_page_needs_no_other_module_of_salgen():
    imported = {module for block in CODE for module in re.findall(r"^ *(?:from|import) (\S+)", block, re.M)}
    assert imported == IMPORTED, imported ^ IMPORTED
    assert not re.findall(r"salgen[./]\w+[./]\w+", PAGE), "the page names a module that may move"


def test_the_page_shows_every_name():
    for name in plugins.__all__:
        assert re.search(rf"\b{name}\b", PAGE), name


def test_every_name_is_there_and_only_methods_and_protocols_import_torch():
    code = (
        "import sys\n"
        "from salgen import plugins\n"
        "assert 'numpy' not in sys.modules and set(plugins.__all__) <= set(dir(plugins))\n"
        f"for name in sorted(plugins.__all__, key=lambda name: name in {NEED_TORCH}):\n"
        "    assert getattr(plugins, name) is not None\n"
        f"    assert name in {NEED_TORCH} or not {{'torch', 'pyarrow'}} & set(sys.modules), name\n"
        "try:\n"
        "    plugins.Lesion\n"
        "except AttributeError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "module 'salgen.plugins' has no attribute 'Lesion'\n"
