"""Which addresses an item may come from."""

import pytest
from pydantic import ValidationError

from catalog_service.items.source_urls import SourceUrls
from catalog_service.settings import Settings
from chassis.core.problems import Invalid


@pytest.mark.parametrize(
    "url",
    [
        None,
        "https://tracker.example/REQ-1?x=a:b#c",
        "HTTP://tracker.example",
        "mailto:ana@example.com",
        "Chapter 4.2 of the contract",
        "docs/specification.md#REQ-1",
        "docs\\specification.docx",
        "/wiki/REQ-1",
        "#REQ-1",
        "REQ-1",
        "§ 4: what is required",
        "localhost:8080/REQ-1",
        "tracker.example:8443/browse?id=1",
    ],
)
def test_an_address_of_the_list_or_a_text_is_taken(url: str | None) -> None:
    SourceUrls().check(url)


@pytest.mark.parametrize(
    "url",
    [
        "view-source:javascript:alert(1)",
        "feed:javascript:alert(1)",
        "intent://scan/#Intent;end",
        "ms-msdt:/id PCWDiagnostic",
        "search-ms:query=x&crumb=location:\\\\host",
        "smb://host/share",
        "blob:https://a.example/1",
        "\\\\host\\share",
        " \\/host/share",
        "//host/share",
        "file:///etc/passwd",
        "jav\tascript:alert(1)",
        "\u200bdata:text/html,x",
        "javascript:8080/alert(1)",
        "doors://server:36677/",
    ],
)
def test_what_starts_something_else_is_refused(url: str) -> None:
    with pytest.raises(Invalid) as refused:
        SourceUrls().check(url)
    (error,) = refused.value.errors
    assert (error.pointer, error.code) == ("/source_url", "unsafe_url")
    assert "https" in error.message


def settings(schemes: str) -> Settings:
    return Settings(database_url="", source_url_schemes=schemes)  # type: ignore[arg-type]


def test_more_schemes_are_a_setting() -> None:
    source_urls = SourceUrls(settings("doors, Jazz:").source_url_schemes)
    source_urls.check("doors://server:36677/?urn=urn:telelogic::1-5b-O-12")
    source_urls.check("JAZZ://server")
    with pytest.raises(Invalid, match="http, https, mailto, doors, jazz"):
        source_urls.check("smb://host")


@pytest.mark.parametrize("schemes", ["javascript", "doors,data:", "no scheme", "1a"])
def test_no_setting_allows_a_script(schemes: str) -> None:
    with pytest.raises(ValidationError, match="cannot be allowed"):
        settings(schemes)
