"""Addresses: syntax only, one form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import PydanticCustomError

from auth_service.users.emails import account_name, parse_email


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("Kim@Example.COM", "kim@example.com"),
        ("  kim@example.com ", "kim@example.com"),
        ("kim+tag@intranet.local", "kim+tag@intranet.local"),
        ("kim@people.test", "kim@people.test"),
        ("kim@test", "kim@test"),
        ("kim@intranet", "kim@intranet"),
        ("kim@mail.localhost", "kim@mail.localhost"),
        ("kim@something.invalid", "kim@something.invalid"),
        ("kim@host.home.arpa", "kim@host.home.arpa"),
        ("ŽOFIE@příklad.cz", "žofie@příklad.cz"),
        ("kim@xn--pklad-zsa96e.cz", "kim@příklad.cz"),
        ("zofie\u0301@example.com", "zofié@example.com"),
    ],
)
def test_an_address_is_valid_by_its_syntax_and_has_one_form(written: str, stored: str) -> None:
    assert parse_email(written) == stored
    assert parse_email(stored) == stored


@pytest.mark.parametrize(
    "written",
    [
        "",
        "@",
        "kim",
        "kim@",
        "@example.com",
        "kim@@example.com",
        "kim @example.com",
        "kim@exa mple.com",
        "kim.@example.com",
        "kim@-example.com",
        "kim@example..com",
        "Kim <kim@example.com>",
        "kim@[127.0.0.1]",
        "kim@" + "a" * 64 + ".com",
        "kim\n@example.com",
        "erased-7@erased.invalid",
        "Erased-7@ERASED.invalid",
        "ci-3f9a1c@door.service-account.invalid",
        "ci@service-account.invalid",
    ],
)
def test_what_is_no_address_is_refused(written: str) -> None:
    with pytest.raises(PydanticCustomError):
        parse_email(written)


@given(st.emails())
def test_an_address_and_its_other_cases_are_one_account(address: str) -> None:
    assert account_name(address) == account_name(address.upper()) == account_name(account_name(address))


@pytest.mark.parametrize("lookalike", ["adm\u0131n", "adm\u0130n", "\u0430dmin", "\uff41dmin", "admi\u0307n"])
def test_an_address_that_looks_like_anothers_is_another(lookalike: str) -> None:
    assert account_name(f"{lookalike}@traceline.local") != "admin@traceline.local"


@given(st.text())
def test_any_text_may_be_tried_as_a_user_name(text: str) -> None:
    assert isinstance(account_name(text), str)
