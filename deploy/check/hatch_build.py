"""Puts the readers of the service, and what they import, into the distributions of traceline-check.

Run by itself, `python hatch_build.py` prints which files these are.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run by itself, where nothing is installed yet
    BuildHookInterface = object  # type: ignore[assignment, misc]

HERE = Path(__file__).parent
_OWN = "traceline_check"
_ROOTS = {"catalog_service": "catalog-service/src", "chassis": "chassis/src", "contracts": "chassis/src"}


class ReadersBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the readers: from the repository, or from the source distribution that has them already."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Tell hatchling which files belong to it beside its own."""
        if version == "editable":
            return  # the services are installed beside it
        below = "src/" if self.target_name == "sdist" else ""
        for place, file in files_of_readers().items():
            build_data["force_include"][str(file)] = below + place


def files_of_readers() -> dict[str, Path]:
    """Return the files of the readers by their places in an installation, the data that they load included."""
    repository = HERE.parent.parent
    is_unpacked = not (repository / "catalog-service").is_dir()
    sources = {root: HERE / "src" if is_unpacked else repository / where for root, where in _ROOTS.items()}
    own = sorted((HERE / "src" / _OWN).glob("*.py"))
    waiting = [name for path in own for name in _imported(path, f"{_OWN}.{path.stem}", is_package=False)]
    found: dict[str, Path] = {}
    while waiting:
        name = waiting.pop()
        parts = name.split(".")
        if parts[0] not in sources:
            continue
        for depth in range(1, len(parts) + 1):
            module = ".".join(parts[:depth])
            path = _file_of(sources[parts[0]], parts[:depth])
            if path is None or module in found:
                continue
            found[module] = path
            waiting += _imported(path, module, is_package=path.name == "__init__.py")
    files = {path.relative_to(sources[name.partition(".")[0]]).as_posix(): path for name, path in found.items()}
    for path in [*files.values()]:
        source = sources[next(root for root in _ROOTS if root in path.parts)]
        files |= {one.relative_to(source).as_posix(): one for one in _data_beside(path)}
    return dict(sorted(files.items()))


def _file_of(source: Path, parts: list[str]) -> Path | None:
    place = source.joinpath(*parts)
    return next((path for path in (place / "__init__.py", place.with_suffix(".py")) if path.is_file()), None)


def _data_beside(path: Path) -> Iterator[Path]:
    """Yield what a module loads by `importlib.resources`: files of its folder, and below it where no package is."""
    if "importlib.resources" not in path.read_text(encoding="utf-8"):
        return
    for one in path.parent.iterdir():
        if one.is_file() and one.suffix in {".json", ".toml"}:
            yield one
        elif one.is_dir() and one.name != "__pycache__" and not any(one.glob("*.py")):
            yield from (file for file in one.iterdir() if file.suffix in {".json", ".toml"})


def _imported(path: Path, module: str, *, is_package: bool) -> Iterator[str]:
    """Yield the names that a module imports, wherever in it; what only types need is left out."""
    package = module if is_package else module.rpartition(".")[0]
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting += node.orelse
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join(filter(None, [*above, node.module or ""]))
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
        else:
            waiting += ast.iter_child_nodes(node)


if __name__ == "__main__":
    for place in files_of_readers():
        print(place)
