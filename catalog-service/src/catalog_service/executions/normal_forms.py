"""The normal form of what a test is called: the same by each reporter of its runner, and after an edit of its file.

It is that of the runner's JUnit reports, which most tests are stored by. A form is told by its shape alone, so that
tests that are stored come to it too (`identities`).
"""

import re
from typing import NamedTuple

FORM = 2
"""Which form this is; it counts up with each change of what comes out here, and stored tests are brought up to it."""


class Identity(NamedTuple):
    """What a test is known by from run to run; without a class, suite and file stand for it."""

    class_name: str
    name: str
    suite: str
    file: str


class Named(NamedTuple):
    """What a case is called; `variant` tells cases of it apart, where the form leaves out what did.

    `place` is what is left out of where it stands in its file. In one report two places of one name are two tests.
    """

    class_name: str
    name: str
    variant: str = ""
    place: str = ""


# pytest: `tests/test_shop.py::TestLogin::test_lock[x::y]` in CTRF and TAP; in JUnit of tests.test_shop.TestLogin.
_NODE_ID = re.compile(r"(?P<file>[^:\[\]]+\.py)::(?:(?P<classes>[^\[\]]+)::)?(?P<name>[^:\[\]]+(?:\[.*\])?)", re.DOTALL)
# JUnit 5 by Surefire: `adds{int}[1]`.
_OF_METHOD = re.compile(r"(?P<method>[A-Za-z_$][\w$]*)\{[^{}]*\}(?:\[\d+\])?")
# Karate: `[1:7] list orders` is the first scenario, in line 7; `[2.1:20] order` the first row of an outline.
_PLACE = re.compile(r"\[(?P<scenario>\d{1,9})(?:\.(?P<row>\d{1,9}))?:(?P<line>\d{1,9})\] (?=\S)(?!\[[\d.:]+\] )")
# GoogleTest: `QueueTest/0` and `Numbers/QueueTest/1` are of one typed suite, with another type each.
_TYPED = re.compile(r"(?P<suite>(?:[A-Za-z_]\w*/)?[A-Za-z_]\w*)/(?P<index>\d+)", re.ASCII)
# Playwright and Vitest: the class is the file in JUnit, and suites are of the name; JSON and TAP have them before it.
FILE = r"[^:›>]+?\.[cm]?[jt]sx?"
_OF_FILE = re.compile(rf"(?P<file>{FILE}) (?P<mark>[›>]) (?P<path>.+)", re.DOTALL)


def normalise_name(class_name: str, name: str) -> Named:
    """Return the normal form of a name that is no identifier, and of its class."""
    if not class_name and "::" in name and (node := _NODE_ID.fullmatch(name)) is not None:
        module = node["file"].removesuffix(".py").replace("\\", "/").removeprefix("./").replace("/", ".")
        within = node["classes"].replace("::", ".") if node["classes"] else ""
        return Named(f"{module}.{within}" if within else module, node["name"])
    if name[:1] == "[" and (place := _PLACE.match(name)) is not None and int(place["line"]) > int(place["scenario"]):
        # A scenario stands below as many lines as there are before it: 16:9 is something else.
        return Named(class_name, name[place.end() :], place["row"] or "", place["scenario"])
    if class_name and "{" in name and (of_method := _OF_METHOD.fullmatch(name)) is not None:
        return Named(class_name, of_method["method"], name[of_method.end("method") :])
    return Named(class_name, name)


def split_type(class_name: str) -> tuple[str, str]:
    """Return the suite of a typed test of GoogleTest, and the index of its type; nothing where it has none."""
    typed = _TYPED.fullmatch(class_name)
    return (typed["suite"], typed["index"]) if typed is not None else (class_name, "")


def normalise_by_file(class_name: str, name: str) -> Named:
    """Return the normal form of a test of JavaScript whose file stands before its suites, in its class or its name."""
    if class_name:
        found = _OF_FILE.fullmatch(class_name)
        return Named(found["file"], f"{found['path']} {found['mark']} {name}") if found else Named(class_name, name)
    found = _OF_FILE.fullmatch(name)
    return Named(found["file"], found["path"]) if found is not None else Named(class_name, name)


def normalise_playwright(suite: str, file: str, name: str) -> Named | None:
    """Return the normal form of a test of Playwright: its `suite` is `project > file > suites`, mostly.

    The variant is the project. None where the suite does not lead to the `file`, which has a path before it in CTRF.
    """
    parts = suite.split(" > ")
    for at, part in enumerate(parts[:2]):
        if re.fullmatch(FILE, part) and f"/{file}".replace("\\", "/").endswith(f"/{part}"):
            return Named(part, " › ".join([*parts[at + 1 :], name]), "".join(parts[:at]))
    return None


def normalise_robot(suite: str, full_name: str, name: str) -> Named | None:
    """Return the normal form of a test of Robot Framework in Allure: all its suites are its class, as in output.xml.

    None where the full name is none of these suites and the name.
    """
    class_name = suite.replace(" > ", ".")
    return Named(class_name, name) if suite and full_name == f"{class_name}.{name}" else None


def behave_class(file: str, feature: str) -> str:
    """Return the class that behave's JUnit report gives the scenarios of a feature: its file within `features`, too."""
    within = file.replace("\\", "/").removesuffix(".feature")
    _, found, below = f"/{within}".rpartition("/features/")
    module = (below if found else within).removeprefix("./").strip("/").replace("/", ".")
    return f"{module}.{feature}" if module else feature
