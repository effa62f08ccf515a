"""A built wheel contains everything that the commands need, and says what it is."""

import os
import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path
import yaml
import salgen

ROOT = Path(salgen.__file__).parent


def test_a_wheel_made_of_the_sdist_holds_every_file_and_lists_what_exists(tmp_path):
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path), str(ROOT.parent)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    paths = [path for path in ROOT.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    files = {path.relative_to(ROOT.parent).as_posix() for path in paths}
    with zipfile.ZipFile(wheel) as archive:
        assert files <= set(archive.namelist())
        info = f"salgen-{salgen.__version__}.dist-info"
        metadata = message_from_bytes(archive.read(f"{info}/METADATA"))
        license = archive.read(f"{info}/licenses/LICENSE")
        archive.extractall(tmp_path / "installed")
    make = ["make", "perlin-lesions", "data", "--train", "2", "--val", "2", "--test", "2", "--set", "slices=4"]
    code = (
        "import salgen, sys; from salgen.cli.main import main\n"
        "assert 'installed' in salgen.__file__, salgen.__file__\n"
        f"sys.exit(main(['list']) or main({make}) or main(['verify', 'data']))"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    subprocess.run([sys.executable, "-P", "-c", code], check=True, cwd=tmp_path, env=environment, capture_output=True)

    citation = yaml.safe_load((ROOT.parent / "CITATION.cff").read_text(encoding="utf-8"))
    assert license == (ROOT.parent / "LICENSE").read_bytes()
    assert metadata["License-Expression"] == citation["license"] == "Apache-2.0"
    assert [metadata["Author"]] == [author["name"] for author in citation["authors"]]
    assert metadata["Version"] == citation["version"]
    assert metadata["Requires-Python"] == ">=3.11"
