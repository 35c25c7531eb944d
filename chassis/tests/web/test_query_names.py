"""Query parameters that an address does not know, and those that come twice, are refused."""

import pytest

from chassis.core.problems import FieldError, Invalid
from chassis.web.query_names import QueryNames

LIST = QueryNames(["status", "module", "external_id", "skip", "limit"])


def refusal(names: QueryNames, query: str) -> Invalid:
    with pytest.raises(Invalid) as refused:
        names.check(query.encode())
    return refused.value


@pytest.mark.parametrize(
    "query",
    [
        "status=draft",
        "status=a,b&module=x%2Cy&skip=1&limit=2",
        "status=&module",
        "&status=x&&",
        "st%61tus=x",
        "&",
        "&&",
    ],
)
def test_what_is_known_passes(query: str) -> None:
    LIST.check(query.encode())


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("stauts", "status"),
        ("Status", "status"),
        ("statuses", "status"),
        ("external-id", "external_id"),
        ("externalId", "external_id"),
        ("modul", "module"),
        ("limits", "limit"),
        ("offset", "skip"),
        ("per_page", "limit"),
        ("pageSize", "limit"),
    ],
)
def test_a_name_that_is_nearly_right_is_told_the_right_one(asked: str, meant: str) -> None:
    refused = refusal(LIST, f"limit=5&{asked}=x")
    assert (refused.code, refused.errors) == (
        "unknown_parameter",
        (
            FieldError(
                f"/query/{asked}",
                f"There is no query parameter '{asked}' here; did you mean '{meant}'?",
                "unknown_parameter",
            ),
        ),
    )
    assert refused.detail == refused.errors[0].message


def test_a_name_like_none_of_them_is_told_them_all() -> None:
    told = refusal(LIST, "page=2").detail
    assert told == "There is no query parameter 'page' here. There is: status, module, external_id, skip, limit."


def test_where_there_is_none_that_is_said() -> None:
    told = refusal(QueryNames([]), "page=2").detail
    assert told == "There is no query parameter 'page' here: this address takes none."


def test_every_unknown_name_is_named() -> None:
    refused = refusal(LIST, "page=2&status=x&per_page=5")
    assert [error.pointer for error in refused.errors] == ["/query/page", "/query/per_page"]


@pytest.mark.parametrize("query", ["skip=1&skip=2", "skip=1&status=x&sk%69p=1"])
def test_of_two_values_none_is_guessed(query: str) -> None:
    refused = refusal(LIST, query)
    assert (refused.code, [error.pointer for error in refused.errors]) == ("repeated_parameter", ["/query/skip"])
    assert refused.detail.startswith("'skip' is given 2 times; give it once.")


@pytest.mark.parametrize(
    ("query", "pointer", "shown"),
    [
        ("a%2Fb~c=1", "/query/a~1b~0c", "'a/b~c'"),
        ("=1", "/query/", "''"),
        ("%C3%A4=1", "/query/ä", "'ä'"),
        ("a%0Ab%1B%E2%80%AE=1", "/query/a\nb\x1b\u202e", "'a\ufffdb\ufffd\ufffd'"),
        (f"{'x' * 5000}=1", f"/query/{'x' * 5000}", f"'{'x' * 60}…'"),
    ],
)
def test_a_strange_name_is_pointed_at_and_shown_harmless(query: str, pointer: str, shown: str) -> None:
    (error,) = refusal(LIST, query).errors
    assert error.pointer == pointer
    assert shown in error.message


def test_thousands_of_unknown_names_are_told_as_a_few() -> None:
    refused = refusal(LIST, "&".join(f"stauts{number}=1" for number in range(5000)))
    assert len(refused.errors) == 20
