"""The distributions of the command line: what a person installs, without this repository."""

import ast
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
from pathlib import Path

import pytest

DEPLOY = Path(__file__).parents[2]
_PACKAGES = {"gherkin": "gherkin-official", "yaml": "pyyaml", "charset_normalizer": "charset-normalizer"}
_COMES_ALONG = {"pydantic_core"}
_OWN = {"catalog_service", "chassis", "contracts", "traceline_check"}
# As in an installation: nothing of this repository is found beside what is installed and other packages.
_RUN = (
    "import sys; sys.path[:0] = sys.argv[1:3]; sys.argv[:] = ['traceline', *sys.argv[3:]];"
    " from traceline_cli.main import main; main()"
)


def _built(package: Path, folder: Path, target: str) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=package, check=True, capture_output=True, timeout=600)
    (made,) = folder.iterdir()
    return made


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of both packages as wheels have them, that of check made of its source distribution."""
    folder = tmp_path_factory.mktemp("installed")
    source = _built(DEPLOY / "check", tmp_path_factory.mktemp("source"), "sdist")
    unpacked = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(source) as archive:
        archive.extractall(unpacked, filter="data")
    for package in (DEPLOY / "cli", next(unpacked.iterdir())):
        wheel = _built(package, tmp_path_factory.mktemp("wheel"), "wheel")
        shutil.unpack_archive(wheel, folder, "zip")
    return folder


def _run(installed: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    paths = [str(installed), sysconfig.get_path("purelib")]
    command = [sys.executable, "-S", "-I", "-c", _RUN, *paths, *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)


def test_what_is_installed_judges_files(installed: Path, tmp_path: Path) -> None:
    row = "external_id,title,description,type,priority\nREQ-1,Log in,They do.,functional,high\n"
    (tmp_path / "a.csv").write_text(row)
    done = _run(installed, "check", str(tmp_path), "--rule", "min_coverage=100")
    assert (done.returncode, done.stderr) == (1, "")
    assert "0 of 1 requirements have a test case: 0 %, 100 % are asked for." in done.stdout
    assert _run(installed, "--version").stdout == f"traceline, version {_version('cli')}\n"


def test_without_the_extra_it_says_how_to_get_it(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "traceline_cli").symlink_to(installed / "traceline_cli")
    done = _run(tmp_path, "check", str(tmp_path))
    assert (done.returncode, done.stderr) == (
        2,
        "Error: The readers of files are not installed: pipx install 'traceline-cli[check]'.\n",
    )


def test_both_have_one_version_and_say_it(installed: Path) -> None:
    assert _version("cli") == _version("check")
    for package in ("traceline_cli", "traceline_check"):
        assert f'__version__ = "{_version("cli")}"' in (installed / package / "__init__.py").read_text()
    extra = tomllib.loads((DEPLOY / "cli/pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert extra == {"check": [f"traceline-check=={_version('check')}"]}


def _version(package: str) -> str:
    return str(tomllib.loads((DEPLOY / package / "pyproject.toml").read_text())["project"]["version"])


def test_all_that_the_readers_import_is_declared_and_no_service_is() -> None:
    files = runpy.run_path(str(DEPLOY / "check/hatch_build.py"))["files_of_readers"]()
    own = [*(DEPLOY / "check/src").rglob("*.py")]
    imported: set[str] = set()
    for path in [*files.values(), *own]:
        if path.suffix == ".py":
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Import):
                    imported |= {alias.name.partition(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and not node.level:
                    imported.add((node.module or "").partition(".")[0])
    others = {_PACKAGES.get(name, name) for name in imported - _OWN - _COMES_ALONG - sys.stdlib_module_names}
    declared = tomllib.loads((DEPLOY / "check/pyproject.toml").read_text())["project"]["dependencies"]
    assert others == {one.partition(">")[0] for one in declared}
    assert not [name for name in files if name.startswith(("chassis/db", "chassis/server")) or "endpoints" in name]
