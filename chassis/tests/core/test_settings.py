"""Settings are read from the environment, and what is wrong with them is said in the words of who set them."""

import secrets

import pytest
from pydantic import Field

from chassis.core.settings import ServiceSettings, check, read
from chassis.core.start_failure import StartFailure


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("DATABASE_URL", "postgresql://nowhere/none")
    return monkeypatch


def test_what_openssl_makes_is_a_secret(environment: pytest.MonkeyPatch) -> None:
    """One in four of these lacks one of the sixteen digits."""
    for _ in range(200):
        environment.setenv("INTERNAL_TOKEN_SECRET", secrets.token_hex(32))
        read(ServiceSettings)


@pytest.mark.parametrize("guessable", ["a" * 32, "0123456789abcde" * 3, "0123456" * 10])
def test_a_secret_of_few_characters_is_refused(environment: pytest.MonkeyPatch, guessable: str) -> None:
    environment.setenv("INTERNAL_TOKEN_SECRET", guessable)
    with pytest.raises(StartFailure, match=r"INTERNAL_TOKEN_SECRET is wrong: it has only .*openssl rand -hex 32"):
        read(ServiceSettings)


def test_a_secret_in_a_url_is_not_shown(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("INTERNAL_TOKEN_SECRET", "hush")
    with pytest.raises(StartFailure) as refused:
        read(ServiceSettings, database_url=["postgresql://somebody:hush@here/there"])
    assert "hush" not in str(refused.value)
    assert str(refused.value).count("\n") == 1


def test_what_several_programs_share_is_told_once(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("ENVIRONMENT", "test")

    class Other(ServiceSettings):
        other: int = 1

    environment.setenv("OTHER", "one")
    with pytest.raises(StartFailure) as refused:
        check(ServiceSettings, Other, internal_token_secret=secrets.token_hex(32))
    assert str(refused.value).splitlines() == [
        "The setting ENVIRONMENT is 'test': it must be 'development' or 'production'.",
        "The setting OTHER is 'one': it must be a whole number.",
    ]


def test_an_empty_setting_is_said_to_be_empty(environment: pytest.MonkeyPatch) -> None:
    class Named(ServiceSettings):
        name: str = Field(default="none", min_length=1)

    environment.setenv("NAME", "")
    with pytest.raises(StartFailure, match=r"The setting NAME is '': it must not be empty\.$"):
        read(Named, internal_token_secret=secrets.token_hex(32))
