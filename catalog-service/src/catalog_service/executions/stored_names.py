"""The normal form of tests that are stored, as far as what is stored of them tells it."""

import re

from catalog_service.executions.javascript_names import find_stored
from catalog_service.executions.names import base_name
from catalog_service.executions.normal_forms import (
    FILE,
    Identity,
    Named,
    normalise_by_file,
    normalise_name,
    normalise_playwright,
    normalise_robot,
)
from catalog_service.executions.workspaces import find_known_workspace, tell_from


def normalise(test: Identity) -> Identity:
    """Return the normal form of the identity of a test, which is its own."""
    while (changed := _normalise_once(test)) != test:
        test = changed  # shorter, or with a class at last
    return test


def _normalise_once(test: Identity) -> Identity:
    file = tell_from(find_known_workspace(test.file), test.file)
    former = (
        _find_former_of_playwright(test)
        or (None if test.class_name else normalise_robot(test.suite, test.file, test.name))
        or find_stored(test.class_name, test.name, test.suite, file)
    )
    named = former or normalise_by_file(*normalise_name(test.class_name, test.name)[:2])
    return Identity(named.class_name, base_name(named.name), test.suite, file)


def _find_former_of_playwright(test: Identity) -> Named | None:
    """Return the normal form of a test that was stored by CTRF or Allure, if its names tell that Playwright ran it.

    Tests of Jest look alike in CTRF: these are called by their suites too, or say no folder of their file.
    """
    if not test.class_name:
        found = normalise_playwright(test.suite, test.file, test.name)
        called = " ".join(found.name.split(" › ")[:-1]) if found is not None else ""
        is_clear = found is not None and bool(found.variant or called or "/" in found.class_name)
        return found if is_clear and not (called and test.name.startswith(f"{called} ")) else None
    package, *within = test.class_name.split(" > ")
    parts = test.suite.split(" > ")
    for at, part in enumerate(parts[:2]):
        if re.fullmatch(FILE, part) and parts[at + 1 :] == within and package.endswith(f".{part.replace('/', '.')}"):
            return Named(part, " › ".join([*within, test.name]))
    return None
