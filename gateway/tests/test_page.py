"""The web page's files: which address answers which, in which coding, kept for how long, under which policy."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from stand_ins import Running, running_gateway

from chassis.core.start_failure import StartFailure
from gateway.page import Page

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
INDEX = "<!DOCTYPE html><title>Traceline</title>"
HASH = "sha256-38RhXrc7EdReTKsOm23ZPOCUgniTUUcjky8QOOrQx6o="
ADDRESSES = ("/", "/sign-in", "/register", "/p", "/p/MAIN", "/p/MAIN/requirements?module=a,b&status=draft", "/p/x/y/z")


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """What a build leaves, each coding with a content of its own so that they can be told apart."""
    (tmp_path / "assets").mkdir()
    for name, content in (
        ("index.html", INDEX),
        ("csp-hashes.json", json.dumps([HASH])),
        ("favicon.svg", "<svg/>"),
        (".vite-manifest.json", "{}"),
        ("assets/index-4fK2.js", "plain"),
        ("assets/index-4fK2.js.br", "by br"),
        ("assets/index-4fK2.js.gz", "by gzip"),
        ("assets/inter-9aB1.woff2", "font"),
    ):
        (tmp_path / name).write_text(content)
    return tmp_path


@pytest.fixture
async def page(built: Path) -> AsyncIterator[Running]:
    async with running_gateway(static=built) as running:
        yield running


def assert_not_found(response: object) -> None:
    assert (response.status_code, response.headers["content-type"]) == (404, "application/problem+json")  # type: ignore[attr-defined]


async def test_every_address_of_the_page_is_the_page(page: Running) -> None:
    for path in ADDRESSES:
        response = await page.get(path, headers=HTML)
        assert (response.status_code, response.text) == (200, INDEX), path
        assert response.headers["content-type"] == "text/html; charset=utf-8"
        assert response.headers["cache-control"] == "no-cache"
        head = await page.get(path, headers=HTML, method="HEAD")
        assert (head.status_code, head.content, head.headers["etag"]) == (200, b"", response.headers["etag"])


async def test_what_is_no_browser_or_no_address_of_it_gets_a_problem(page: Running) -> None:
    for path in ADDRESSES:
        for accept in ("*/*", "application/json"):
            assert_not_found(await page.get(path, headers={"Accept": accept}))
    for path in ("/nothing", "/api/v1/nothing", "/px", "/sign-in/x", "/assets/none.js", "/assets/", "/csp-hashes.json"):
        assert_not_found(await page.get(path, headers=HTML))
    for path in (
        "/.vite-manifest.json",
        "/assets/%2e%2e/index.html",
        "/assets/index-4fK2.js.br",
    ):
        assert (await page.get(path, headers=HTML)).status_code in {400, 404}, path
    refused = await page.get("/p/MAIN", headers=HTML, method="POST")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")


async def test_the_page_is_read_again_only_when_it_is_another(page: Running) -> None:
    tag = (await page.get("/", headers=HTML)).headers["etag"]
    same = await page.get("/p/MAIN", headers={**HTML, "If-None-Match": f'"other", W/{tag}'})
    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
    assert "require-trusted-types-for" in same.headers["content-security-policy"]
    assert (await page.get("/", headers={**HTML, "If-None-Match": '"other"'})).status_code == 200


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("gzip, deflate, br, zstd", "br"),
        ("gzip, deflate", "gzip"),
        ("br;q=0, gzip", "gzip"),
        ("BR ; q=0.5", "br"),
        ("*", "br"),
        ("*;q=0", None),
        ("identity", None),
        ("gzip;q=0.0", None),
        ("br, " * 100, None),
        (None, None),
    ],
)
async def test_a_file_comes_in_the_coding_that_the_browser_reads(
    page: Running, accepted: str | None, coding: str | None
) -> None:
    page.client.headers.pop("accept-encoding")
    sent = {} if accepted is None else {"Accept-Encoding": accepted}
    async with page.client.stream("GET", "/assets/index-4fK2.js", headers=sent) as response:
        content = b"".join([part async for part in response.aiter_raw()])
    assert response.headers.get("content-encoding") == coding
    assert content.decode() == ("plain" if coding is None else f"by {coding}")
    assert response.headers["vary"] == "Accept-Encoding"
    assert response.headers["content-type"] == "text/javascript; charset=utf-8"
    assert response.headers["cache-control"] == "public, max-age=31536000, immutable"


async def test_files_without_a_hash_in_their_name_are_asked_for_again(page: Running) -> None:
    response = await page.get("/favicon.svg")
    assert (response.headers["content-type"], response.headers["cache-control"]) == ("image/svg+xml", "no-cache")
    font = await page.get("/assets/inter-9aB1.woff2")
    assert (font.headers["content-type"], "vary" in font.headers) == ("font/woff2", False)


async def test_the_policy_lets_nothing_in_but_own_files_and_known_styles(page: Running) -> None:
    for path in ("/", "/assets/index-4fK2.js"):
        headers = (await page.get(path, headers={**HTML, "Accept-Encoding": "identity"})).headers
        assert headers.get_list("content-security-policy") == [
            "default-src 'none'; script-src 'self';"
            f" style-src 'self' '{HASH}'; img-src 'self' data:; font-src 'self'; connect-src 'self';"
            " worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none';"
            " require-trusted-types-for 'script'; trusted-types 'none'"
        ]
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "camera=()" in headers["permissions-policy"]
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")


@pytest.mark.parametrize("hashes", ["", "{}", "[1]", '["sha256-abc"]', '["sha256-x\'; script-src *"]', None])
def test_hashes_that_are_none_end_the_start(built: Path, hashes: str | None) -> None:
    file = built / "csp-hashes.json"
    file.unlink()
    if hashes is not None:
        file.write_text(hashes)
    with pytest.raises(StartFailure, match="build the page anew"):
        Page(built)


async def test_without_a_page_its_address_says_why_and_what_to_run(tmp_path: Path) -> None:
    async with running_gateway(static=tmp_path) as running:
        response = await running.get("/", headers=HTML)
        assert (response.status_code, response.headers["content-type"]) == (404, "text/html; charset=utf-8")
        assert "without the page having been built" in response.text
        assert "make demo" in response.text
        assert 'href="/docs"' in response.text
    (tmp_path / "not-built.txt").write_text("The npm registry <x> did not answer.\n")
    async with running_gateway(static=tmp_path) as running:
        assert "<p>The npm registry &lt;x&gt; did not answer." in (await running.get("/p/MAIN", headers=HTML)).text
        assert_not_found(await running.get("/"))
