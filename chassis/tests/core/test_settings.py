"""Settings are read from the environment, and what is wrong with them is said in the words of who set them."""

import secrets

import pytest
from pydantic import Field

from chassis.core.internal_tokens import GATEWAY, new_signing_key, public_key
from chassis.core.settings import CalledSettings, CallingSettings, OptionalSecrets, ServiceSettings, check, read
from chassis.core.start_failure import StartFailure


class WithSecret(ServiceSettings):
    data_encryption_key: OptionalSecrets


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("DATABASE_URL", "postgresql://nowhere/none")
    return monkeypatch


def test_what_openssl_makes_is_a_secret(environment: pytest.MonkeyPatch) -> None:
    """One in four of these lacks one of the sixteen digits."""
    for _ in range(200):
        environment.setenv("DATA_ENCRYPTION_KEY", secrets.token_hex(32))
        read(WithSecret)


@pytest.mark.parametrize("guessable", ["a" * 32, "0123456789abcde" * 3, "0123456" * 10])
def test_a_secret_of_few_characters_is_refused(environment: pytest.MonkeyPatch, guessable: str) -> None:
    environment.setenv("DATA_ENCRYPTION_KEY", guessable)
    with pytest.raises(StartFailure, match=r"DATA_ENCRYPTION_KEY is wrong: it has only .*openssl rand -hex 32"):
        read(WithSecret)


def test_a_secret_in_a_url_is_not_shown(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("DATA_ENCRYPTION_KEY", "hush")
    with pytest.raises(StartFailure) as refused:
        read(WithSecret, database_url=["postgresql://somebody:hush@here/there"])
    assert "hush" not in str(refused.value)
    assert str(refused.value).count("\n") == 1


def test_what_several_programs_share_is_told_once(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("ENVIRONMENT", "test")

    class Other(ServiceSettings):
        other: int = 1

    environment.setenv("OTHER", "one")
    with pytest.raises(StartFailure) as refused:
        check(ServiceSettings, Other)
    assert str(refused.value).splitlines() == [
        "The setting ENVIRONMENT is 'test': it must be 'development' or 'production'.",
        "The setting OTHER is 'one': it must be a whole number.",
    ]


def test_an_empty_setting_is_said_to_be_empty(environment: pytest.MonkeyPatch) -> None:
    class Named(ServiceSettings):
        name: str = Field(default="none", min_length=1)

    environment.setenv("NAME", "")
    with pytest.raises(StartFailure, match=r"The setting NAME is '': it must not be empty\.$"):
        read(Named)


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("hush", "a key is written CALLER=KEY"),
        ("0123456789abcdef" * 4, "a key is written CALLER=KEY"),
        ("catalog-service=" + "hush" * 16, "a key is written CALLER=KEY"),
        ("catalog-service=" + "ab" * 32, "it has only 2 different characters"),
    ],
    ids=["word", "no caller", "no digits", "guessable"],
)
def test_a_signing_key_that_is_none_is_refused_and_not_shown(
    environment: pytest.MonkeyPatch, key: str, reason: str
) -> None:
    environment.setenv("INTERNAL_SIGNING_KEY", key)
    with pytest.raises(StartFailure, match=f"INTERNAL_SIGNING_KEY is wrong: {reason}") as refused:
        read(CallingSettings)
    assert key not in str(refused.value)


def test_the_signing_key_of_another_program_is_refused(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("INTERNAL_SIGNING_KEY", new_signing_key("catalog-service"))
    settings = read(CallingSettings)
    assert settings.signer("catalog-service").caller == "catalog-service"
    with pytest.raises(StartFailure, match="INTERNAL_SIGNING_KEY is of catalog-service, and this is gateway"):
        settings.signer(GATEWAY)


def test_the_keys_of_all_callers_are_needed_and_no_other_is_trusted(environment: pytest.MonkeyPatch) -> None:
    keys = {name: public_key(new_signing_key(name)) for name in ("catalog-service", GATEWAY, "auth-service")}
    internal = {"/internal/changes": ["catalog-service"]}
    environment.setenv("INTERNAL_TRUSTED_KEYS", "\n".join(keys.values()))
    assert read(CalledSettings).verifier("auth-service", internal).callers == {GATEWAY, "catalog-service"}
    environment.setenv("INTERNAL_TRUSTED_KEYS", keys["auth-service"])
    with pytest.raises(
        StartFailure,
        match="INTERNAL_TRUSTED_KEYS has no key of catalog-service, gateway, by which auth-service is called",
    ):
        read(CalledSettings).verifier("auth-service", internal)


def test_two_callers_with_one_key_are_refused(environment: pytest.MonkeyPatch) -> None:
    _, _, key = public_key(new_signing_key(GATEWAY)).partition("=")
    environment.setenv("INTERNAL_TRUSTED_KEYS", f"gateway={key},catalog-service={key}")
    with pytest.raises(StartFailure, match="gateway and catalog-service have the same key"):
        read(CalledSettings)
