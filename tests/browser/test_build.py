"""What a build of the page makes: the same each time, small, and nothing that its policy would hold back."""

import base64
import gzip
import hashlib
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "gateway" / "frontend"
BUILT = ROOT / "gateway" / "src" / "gateway" / "static"
INITIAL, ROUTE, ALL = 130_000, 60_000, 350_000
"""Bytes of JavaScript, compressed by gzip: before the first screen; for a screen, beyond that and what the shell loads
ahead for its overlays; of everything, of which 25,000 are for the plots."""
OVERLAYS = ("palette-", "shortcut-sheet-", "sign-in-again-")
LICENCES = {"0BSD", "Apache-2.0", "BSD-3-Clause", "ISC", "MIT", "OFL-1.1", "Unlicense"}
"""Those that ask whoever passes a copy on for no more than to say whose it is."""
BUILD = {"vite", "@vitejs/plugin-react"}
_IMPORT = re.compile(r'(?:from|import)\s*"\./([\w-]+\.js)"')


def scripts() -> dict[str, str]:
    """Each script by its name."""
    return {file.name: file.read_text("utf-8") for file in (BUILT / "assets").glob("*.js")}


def needs(name: str, found: set[str] | None = None) -> set[str]:
    """A script, and those that have to be there for it to run."""
    found = set() if found is None else found
    if name not in found:
        found.add(name)
        for needed in _IMPORT.findall(scripts()[name]):
            needs(needed, found)
    return found


def compressed(names: set[str]) -> int:
    return sum(len(gzip.compress(scripts()[name].encode(), 9)) for name in names)


def first_scripts() -> set[str]:
    (entry,) = re.findall(r'<script type="module"[^>]* src="/assets/([^"]+)"', (BUILT / "index.html").read_text())
    return needs(entry)


def shipped() -> dict[str, dict[str, Any]]:
    """The packages of which something may be in the page, as they are locked; not those that build it."""
    locked = json.loads((PAGE / "package-lock.json").read_text())["packages"]
    waiting, found = sorted(set(locked[""]["dependencies"]) - BUILD), {}
    while waiting:
        name = waiting.pop()
        if name not in found and (package := locked.get(f"node_modules/{name}")) is not None:
            found[name] = package
            waiting += package.get("dependencies", {})
    return found


def test_it_is_the_same_each_time(tmp_path: Path) -> None:
    command = [ROOT / ".venv/bin/node", "node_modules/vite/bin/vite.js", "build", "--logLevel=warn"]
    subprocess.run([*command, "--outDir", tmp_path], cwd=PAGE, check=True)
    again = {file.relative_to(tmp_path): file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    assert again == {file.relative_to(BUILT): file.read_bytes() for file in BUILT.rglob("*") if file.is_file()}


def test_it_stays_small() -> None:
    first = first_scripts()
    assert compressed(first) <= INITIAL
    later = {name for code in scripts().values() for name in re.findall(r'import\(\s*[`"]\./([\w-]+\.js)', code)}
    ahead = {needed for name in later if name.startswith(OVERLAYS) for needed in needs(name)}
    assert len(ahead) > len(OVERLAYS)
    sizes = {name: compressed(needs(name) - first - ahead) for name in later}
    assert {name: size for name, size in sizes.items() if size > ROUTE} == {}
    assert compressed(set(scripts())) <= ALL


def test_no_text_becomes_a_program() -> None:
    offenders = {
        name for name, code in scripts().items() if re.search(r"\beval\(|\bnew Function\b|\bFunction\(\"", code)
    }
    assert offenders == set()


def test_the_document_holds_no_script_and_no_style_of_its_own() -> None:
    document = (BUILT / "index.html").read_text()
    assert re.findall(r"<script(?![^>]*\bsrc=)|<style|\bon\w+=|\bstyle=", document) == []
    assert re.findall(r'(?:src|href)="(?!/assets/|data:,")', document) == []


def test_the_hashes_of_the_policy_are_those_of_the_styles_that_packages_bring() -> None:
    styles = set()
    for code in scripts().values():
        for style in re.findall(r"\.textContent\s*=\s*`([^`]*)`\.trim\(\)", code):
            styles.add(re.sub(r"\$\{[^}]*\}", "data-react-aria-pressable", style).strip())
    hashes = {f"sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}" for style in styles}
    assert hashes
    assert hashes <= set(json.loads((BUILT / "csp-hashes.json").read_text()))


@pytest.mark.parametrize("kind", ["css", "js"])
def test_what_is_text_has_its_compressed_twins(kind: str) -> None:
    large = [file for file in (BUILT / "assets").glob(f"*.{kind}") if file.stat().st_size >= 1024]
    assert large
    for file in large:
        assert gzip.decompress(Path(f"{file}.gz").read_bytes()) == file.read_bytes()
        assert Path(f"{file}.br").stat().st_size < file.stat().st_size


def test_each_package_that_is_shipped_may_be_passed_on() -> None:
    licences = {name: package.get("license") for name, package in shipped().items()}
    assert "react-dom" in licences
    assert {name: licence for name, licence in licences.items() if licence not in LICENCES} == {}


def test_the_lock_names_no_registry() -> None:
    lock = json.loads((PAGE / "package-lock.json").read_text())["packages"]
    assert [
        name for name, package in lock.items() if name and ("resolved" in package or "integrity" not in package)
    ] == []
