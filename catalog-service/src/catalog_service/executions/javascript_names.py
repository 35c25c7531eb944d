"""The normal form of what tests of JavaScript are called: their file, and their suites and name as one text.

So Vitest's JUnit has it. Jest and Mocha put blanks between suites and name, Vitest ` > `; Playwright has its own form
(`normal_forms`).
"""

import re
from functools import lru_cache

from catalog_service.executions.normal_forms import Named
from catalog_service.executions.workspaces import is_absolute

_SOURCE = re.compile(r"[^›>]+\.[cm]?[jt]sx?")
_BETWEEN = " > "
_FULL_NAME = re.compile(r"(?:(?P<package>[^:#]+):)?(?P<file>[^:#]+\.[cm]?[jt]sx?)(?:#|: )(?P<path>.+)", re.DOTALL)


def is_javascript(file: str) -> bool:
    """Check whether a file is of JavaScript or TypeScript, by its name."""
    return _SOURCE.fullmatch(file) is not None


def normalise_javascript(file: str, suites: tuple[str, ...], name: str, *, between: str = " ") -> Named:
    """Return the normal form of a test whose name may have its suites in it, all of them or none.

    The place is all that was said, so that two tests of a report that come to one name are seen to be two.
    """
    prefixes, whole = _prefixes_of(file, suites)
    place = f"{prefixes[-1]}\0{name}"
    if not whole or name == whole or name.startswith(prefixes[:2]):
        return Named(file, name.strip(), place=place)
    return Named(file, f"{prefixes[between == _BETWEEN]}{name}".strip(), place=place)


@lru_cache(4096)
def _prefixes_of(file: str, suites: tuple[str, ...]) -> tuple[tuple[str, str, str], str]:
    """Return what suites are before a name, in each form and as a place, and what they are as a whole name."""
    if suites and is_named_by(suites[0], file):
        suites = suites[1:]
    whole = _BETWEEN.join(suites)
    return (f"{' '.join(suites)} ", f"{whole}{_BETWEEN}", "\0".join(suites)), whole


def normalise_class(file: str, class_name: str, name: str) -> Named:
    """Return the normal form of a test of a JUnit report, whose class may be its file, suites, name or parts."""
    if is_javascript(class_name):
        return Named(class_name, name)
    if not class_name:
        return Named(file, name.strip())
    place = f"{class_name}\0{name}"
    whole, suites = name.strip(), class_name.strip()
    if whole == suites or whole.endswith(f" {suites}") or whole.startswith(f"{suites} "):
        return Named(file, whole, place=place)
    between = _BETWEEN if _BETWEEN in suites else " "
    return Named(file, f"{suites}{between}{whole}", place=place)


def normalise_allure(
    full_name: str, title_path: list[str], suites: list[str], name: str, framework: str
) -> Named | None:
    """Return the normal form of a test in Allure by its full name, such as `shop:src/a.test.js#cart locks`.

    None where that says no file. A title that was changed is no part of it.
    """
    found = _FULL_NAME.fullmatch(full_name)
    if found is None:
        return None
    file, path = found["file"], found["path"]
    own_name = file.rpartition("/")[2]
    if own_name in title_path:
        suites = title_path[title_path.index(own_name) + 1 :]
    if _begins_with(path, suites):
        words = " ".join(suites) if path.startswith(" ".join(suites)) else _BETWEEN.join(suites)
        name = path[len(words) :].removeprefix(_BETWEEN).strip()
    elif not suites:
        name = path
    between = _BETWEEN if framework == "vitest" else " "
    return Named(file, between.join((*suites, name)), place="\0".join((found["package"] or "", *suites, name)))


def find_stored(class_name: str, name: str, suite: str, file: str) -> Named | None:
    """Return the normal form of a test that was stored by CTRF or JUnit, whose file is told from its workspace.

    None where it has the form, or nothing tells how its suites and its name go together.
    """
    if not is_javascript(file) or is_absolute(file) or is_javascript(class_name):
        return None
    if class_name:
        return normalise_class(file, class_name, name)
    suites = suite.split(_BETWEEN) if suite else []
    if any(is_named_by(one, file) for one in suites[:2]):
        suites = suites[1:] if is_named_by(suites[0], file) else []
        return Named(file, name) if _begins_with(name, suites) else None  # it may be of Playwright
    if suite in ("", name) or _begins_with(name, suites):
        return Named(file, name)
    return Named(file, _BETWEEN.join((suite, name)))  # as Node.js has it


def _begins_with(name: str, suites: list[str]) -> bool:
    """Check whether a name begins with all of its suites."""
    return bool(suites) and name.startswith((f"{' '.join(suites)} ", f"{_BETWEEN.join(suites)}{_BETWEEN}"))


def is_named_by(suite: str, file: str) -> bool:
    """Check whether a suite is called by the file, or by the end of its path."""
    return is_javascript(suite) and f"/{file}".endswith(f"/{suite}")
