"""Names of tests that are the same by each reporter of their runner, and after an edit of their file."""

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_service.executions.normal_forms import Identity
from catalog_service.executions.read import Order, read
from catalog_service.executions.stored_names import normalise

PYTEST = Identity("tests.test_shop.TestLogin", "test_lock", "", "")
LOCKS = ("shop/a.spec.ts", "cart › locks")
"""A test of Playwright by its JUnit report."""


def identities(content: bytes) -> list[tuple[str, str, str]]:
    """Return the class, name and iteration of each result of a file."""
    out = io.BytesIO()
    read(io.BytesIO(content), out, Order("auto"))
    rows = [line.split("\t") for line in out.getvalue().decode().splitlines()]
    return [(row[3], row[2], row[6]) for row in rows]


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        (Identity("", "tests/test_shop.py::TestLogin::test_lock", "", ""), PYTEST),
        (Identity("", "tests\\test_shop.py::TestLogin::test_lock", "", ""), PYTEST),
        (Identity("", "./tests/test_shop.py::TestLogin::test_lock[a::b]", "", ""), PYTEST),
        (Identity("", "test_shop.py::test_lock", "", ""), Identity("test_shop", "test_lock", "", "")),
        (
            Identity("", "test_shop.py::TestA::TestB::test_lock[[x]]", "", ""),
            Identity("test_shop.TestA.TestB", "test_lock", "", ""),
        ),
        (PYTEST, PYTEST),
        (Identity("", "shop::cart::tests::adds", "", ""), None),
        (Identity("", "a.py::", "", ""), None),
        (Identity("shop.orders", "[1:7] list orders", "", ""), Identity("shop.orders", "list orders", "", "")),
        (Identity("shop.orders", "[2.11:20] order", "", ""), Identity("shop.orders", "order", "", "")),
        (Identity("shop.orders", "[1:7]", "", ""), None),
        (Identity("shop.orders", "[12] list orders", "", ""), None),
        (Identity("video", "[16:9] plays", "", ""), None),
        (Identity("step/1", "opens", "", ""), None),
        (Identity("example.com/doors/2", "TestOpen", "", ""), None),
        (Identity("Numbers/QueueTest", "Push", "", ""), None),
        # Playwright: its JSON, CTRF and Allure.
        (Identity("shop/a.spec.ts › cart", "locks", "cart", "f"), Identity(*LOCKS, "cart", "f")),
        *(
            (
                Identity("", "locks", f"{project}shop/a.spec.ts > cart", file),
                Identity(*LOCKS, f"{project}shop/a.spec.ts > cart", file),
            )
            for project in ("webkit > ", "")
            for file in ("/builds/shop/a.spec.ts", "C:\\work\\shop\\a.spec.ts")
        ),
        *(
            (Identity("pkg.shop.a.spec.ts > cart", "locks", of, ""), Identity(*LOCKS, of, ""))
            for of in ("webkit > shop/a.spec.ts > cart", "shop/a.spec.ts > cart")
        ),
        # Jest, whose names have the suites in them, or which nothing tells from Playwright.
        (Identity("", "cart locks", "a.test.ts > cart", "/builds/shop/a.test.ts"), None),
        (Identity("", "locks", "a.test.ts", "/builds/shop/a.test.ts"), None),
        (Identity("", "locks", "webkit > other.spec.ts > cart", "/builds/shop/a.spec.ts"), None),
        # Vitest by TAP.
        (Identity("shop/a.test.ts > cart", "locks", "", ""), Identity("shop/a.test.ts", "cart > locks", "", "")),
        (Identity("", "shop/a.test.ts > cart > locks", "", ""), Identity("shop/a.test.ts", "cart > locks", "", "")),
        (Identity("", "the cart > locks", "", ""), None),
        # Robot Framework by Allure.
        (
            Identity("", "Locks", "Doors > Front", "Doors.Front.Locks"),
            Identity("Doors.Front", "Locks", "Doors > Front", "Doors.Front.Locks"),
        ),
        (Identity("", "Locks", "Doors > Front", "Doors.Back.Locks"), None),
    ],
)
def test_a_name_comes_to_its_normal_form_once(stored: Identity, expected: Identity | None) -> None:
    assert normalise(stored) == (expected or stored)
    assert normalise(normalise(stored)) == normalise(stored)


_PIECES = st.sampled_from(
    ["[1:7] ", "[2.1:3] ", "a.py", "::", "[", "]", "/0", "x", ".feature", ":12", " ", "/", "#1", "."]
)
_TEXTS = st.lists(_PIECES, max_size=8).map("".join)


@given(st.builds(Identity, _TEXTS, _TEXTS, _TEXTS, _TEXTS))
def test_the_normal_form_of_a_normal_form_is_itself(stored: Identity) -> None:
    once = normalise(stored)
    assert normalise(once) == once


def _junit(*cases: tuple[str, str]) -> bytes:
    inside = "".join(f'<testcase classname="{of}" name="{name}"/>' for of, name in cases)
    return f'<testsuites><testsuite name="s">{inside}</testsuite></testsuites>'.encode()


def _ctrf(*tests: dict[str, Any]) -> bytes:
    summary = {"tests": len(tests), "passed": len(tests), "failed": 0}
    found = {"tool": {"name": "pytest"}, "summary": summary, "tests": [{"status": "passed", **one} for one in tests]}
    return json.dumps({"reportFormat": "CTRF", "results": found}).encode()


def test_a_test_of_pytest_is_the_same_by_junit_ctrf_and_tap() -> None:
    of, place = "tests.test_shop.TestLogin", "tests/test_shop.py::TestLogin"
    expected = [(of, "test_lock", ""), (of, "test_more", "test_more[x::y]")]
    assert identities(_junit((of, "test_lock"), (of, "test_more[x::y]"))) == expected
    ctrf = _ctrf(
        {"name": f"{place}::test_lock", "suite": ["tests/test_shop.py", "TestLogin"], "filePath": "tests/test_shop.py"},
        {"name": f"{place}::test_more[x::y]", "parameters": {"a": "x::y"}},
    )
    assert identities(ctrf) == expected
    assert identities(f"1..2\nok 1 {place}::test_lock\nok 2 {place}::test_more[x::y]\n".encode()) == expected


def test_parameters_with_colons_are_no_class_in_allure() -> None:
    result = {
        "uuid": "u",
        "historyId": "h",
        "status": "passed",
        "stage": "finished",
        "name": "test_more[x::y]",
        "fullName": "tests.test_shop.TestLogin.test_more[x#test_more",
        "labels": [{"name": "package", "value": "tests.test_shop"}, {"name": "suite", "value": "test_shop"}],
        "parameters": [{"name": "a", "value": "'x::y'"}],
    }
    ((of, name, _),) = identities(json.dumps(result).encode())
    assert (of, name) == ("tests.test_shop.TestLogin", "test_more")


def test_rows_of_karate_and_types_of_googletest_are_iterations() -> None:
    of = "shop.orders"
    rows = [(of, "[1:7] list"), (of, "[2.1:20] make an order"), (of, "[2.2:21] make an order")]
    assert identities(_junit(*rows)) == [
        (of, "list", ""),
        (of, "make an order", "make an order [1]"),
        (of, "make an order", "make an order [2]"),
    ]
    typed = "".join(
        f'<testcase classname="{of}" name="{name}" type_param="{kind}"/>'
        for of, name, kind in (("QueueTest/0", "Push", "int"), ("A/QueueTest/1", "Pop", "char"))
    )
    assert identities(f"<testsuites><testsuite>{typed}</testsuite></testsuites>".encode()) == [
        ("QueueTest", "Push", "Push [0]"),
        ("A/QueueTest", "Pop", "Pop [1]"),
    ]


def test_two_places_of_one_name_are_two_tests() -> None:
    rows = [("video", "[1:4] plays"), ("video", "[1:4] plays"), ("video", "[9:16] plays"), ("other", "[9:16] plays")]
    assert [name for _, name, _ in identities(_junit(*rows))] == ["plays", "plays", "[9:16] plays", "plays"]


def test_a_test_of_playwright_is_the_same_by_each_of_its_reporters() -> None:
    of, name = LOCKS
    junit = f'<testsuites><testsuite name="{of}" hostname="webkit"><testcase classname="{of}" name="{name}"/>'
    case = {"title": "locks", "file": of, "tests": [{"projectName": "webkit", "status": "expected", "results": []}]}
    own = {
        "config": {},
        "suites": [{"title": of, "file": of, "suites": [{"title": "cart", "file": of, "specs": [case]}]}],
    }
    ctrf = _ctrf({"name": "locks", "suite": f"webkit > {of} > cart", "filePath": f"/builds/tests/{of}"})
    expected = [(of, name, f"{name} [webkit]")]
    assert identities(f"{junit}</testsuite></testsuites>".encode()) == expected
    assert identities(json.dumps(own).encode()) == expected
    assert identities(ctrf.replace(b'"pytest"', b'"playwright"')) == expected
    labels = {"framework": "playwright", "package": "pkg.shop.a.spec.ts", "parentSuite": "webkit", "suite": of}
    labels["subSuite"] = "cart"
    result = {
        "uuid": "u",
        "historyId": "h",
        "status": "passed",
        "stage": "finished",
        "name": "locks",
        "fullName": f"{of} › {name}",
        "labels": [{"name": label, "value": value} for label, value in labels.items()],
    }
    assert [one[:2] for one in identities(json.dumps(result).encode())] == [LOCKS]


def test_a_test_of_vitest_is_the_same_by_junit_and_both_forms_of_tap() -> None:
    expected = [("shop/a.test.ts", "cart > locks", "")]
    assert identities(_junit(("shop/a.test.ts", "cart &gt; locks"))) == expected
    assert identities(b"1..1\nok 1 - shop/a.test.ts > cart > locks\n") == expected
    nested = b"""TAP version 13
1..1
ok 1 - shop/a.test.ts # time=8.70ms {
    1..1
    ok 1 - cart # time=5.83ms {
        1..1
        ok 1 - locks # time=5.29ms
    }
}
"""
    assert expected[0] in identities(nested)


def test_a_test_of_robot_framework_is_the_same_in_allure() -> None:
    labels = {"framework": "robotframework", "parentSuite": "Doors", "suite": "Front"}
    result = {
        "uuid": "u",
        "historyId": "h",
        "status": "passed",
        "stage": "finished",
        "name": "Locks",
        "fullName": "Doors.Front.Locks",
        "labels": [{"name": label, "value": value} for label, value in labels.items()],
    }
    assert identities(json.dumps(result).encode()) == [("Doors.Front", "Locks", "")]
