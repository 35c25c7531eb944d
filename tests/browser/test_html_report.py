"""The matrix as an HTML page, in a real browser: whatever the record says, nothing of it runs or is fetched."""

from pathlib import Path

import httpx
import pytest

from acceptance import texts
from acceptance.client import Traceline

from .attacks import ATTACKS, HARMLESS, TRAP
from .trap import Trap
from .visit import Visit

pytestmark = pytest.mark.long

MATRIX = "/api/v1/reports/traceability-matrix?format=html"
OPEN_TO_ALL = (
    '<!DOCTYPE html><title>{0}</title><style>td {{ color: {0} }}</style><!-- {0} --><script>var x = "{0}"</script>'
    "<script>var x = '{0}'</script><textarea>{0}</textarea><noscript>{0}</noscript>"
    "<table><tr><td>{0}</td><td title=\"{0}\">x</td><td title='{0}'>x</td><td title={0}>x</td></tr></table>"
)
"""A page that takes a text as it is wherever one can stand."""
TAGS = {"html", "head", "meta", "title", "style", "body", "h1", "p", "dl", "div", "dt", "dd"}
TAGS |= {"table", "thead", "tbody", "tr", "th", "td", "span", "q"}
ATTRIBUTES = {"lang", "charset", "http-equiv", "content", "name", "class", "scope", "rowspan", "colspan", "data-label"}
"""What a report is made of, whatever the texts in it."""
SHAPE = """() => {
    const all = [...document.querySelectorAll('*')];
    return {
        tags: [...new Set(all.map(one => one.localName))],
        attributes: [...new Set(all.flatMap(one => one.getAttributeNames()))],
        cells: all.filter(one => one.localName === 'td').map(one => one.textContent),
    };
}"""


@pytest.fixture(scope="module")
def hostile(reviewer: Traceline, trap: Trap) -> list[str]:
    """What was put into every text of the record that the report shows; at most as long as each may be."""
    told = [aimed(text, trap) for text in [*ATTACKS, *HARMLESS]]
    for text in told:
        fields = {
            "title": text,
            "description": text,
            "module": text[:100],
            "external_id": text[:100],
            "tags": [text[:100]],
        }
        made = [reviewer.create_requirement(**fields), reviewer.create_test_case(**fields)]
        reviewer.create_link(made[0]["id"], made[1]["id"], notes=text)
    return told


@pytest.fixture(scope="module")
def report(viewer: Traceline, hostile: list[str]) -> httpx.Response:
    """As the gateway serves it."""
    return viewer.get("/reports/traceability-matrix", params={"format": "html"})


def aimed(text: str, trap: Trap) -> str:
    """Return the attack with the address of the trap in it."""
    return text.replace(TRAP, trap.address).replace(TRAP.removeprefix("http:"), trap.address.removeprefix("http:"))


def assert_is_dead(visit: Visit, address: str, hostile: list[str], trap: Trap) -> None:
    """Assert that the page shows all that is hostile, has nothing of its making, and has done nothing."""
    shape = visit.page.evaluate(SHAPE)
    assert set(shape["tags"]) <= TAGS
    assert set(shape["attributes"]) <= ATTRIBUTES
    shown = shape["cells"]
    for text in hostile:
        expected = text.strip()
        assert shown.count(expected) >= 2, f"as the title of two items: {text!r}"
    visit.page.mouse.move(300, 300)
    visit.page.keyboard.press("Tab")
    visit.settle()
    assert (visit.dialogs, visit.console, visit.downloads, trap.caught()) == ([], [], [], [])
    assert visit.requests == [address]
    assert [page.url for page in visit.context.pages] == [address]


@pytest.mark.parametrize("attack", ATTACKS)
def test_each_attack_works_on_a_page_that_takes_it_as_it_is(visit: Visit, trap: Trap, attack: str) -> None:
    text = aimed(attack, trap)
    visit.context.route("**/open", lambda route: route.fulfill(content_type="text/html", body=OPEN_TO_ALL.format(text)))
    visit.open(f"{trap.address}/open")
    visit.click_everything()
    visit.wait_for(lambda: visit.dialogs or "ran" in visit.console or trap.came)
    caught = trap.caught()
    assert visit.dialogs or "ran" in visit.console or caught


def test_the_report_as_it_is_served_does_nothing(
    visit: Visit, base_url: str, viewer: Traceline, hostile: list[str], trap: Trap
) -> None:
    visit.context.set_extra_http_headers({"Authorization": f"Bearer {viewer.token}"})
    response = visit.open(base_url + MATRIX)
    assert response.status == 200
    assert_is_dead(visit, base_url + MATRIX, hostile, trap)


def test_the_report_as_a_file_does_nothing(
    visit: Visit, tmp_path: Path, report: httpx.Response, hostile: list[str], trap: Trap
) -> None:
    file = tmp_path / "matrix.html"
    file.write_bytes(report.content)
    visit.open(file.as_uri())
    assert_is_dead(visit, file.as_uri(), hostile, trap)


def test_the_report_looks_as_it_is_meant_to(visit: Visit, tmp_path: Path, report: httpx.Response) -> None:
    file = tmp_path / "matrix.html"
    file.write_bytes(report.content)
    visit.open(file.as_uri())
    style = "getComputedStyle(document.querySelector('thead th')).position"
    assert visit.page.evaluate(style) == "sticky", "its own style sheet is the one that its policy lets through"


@pytest.mark.parametrize("attack", ATTACKS)
def test_if_a_text_were_not_escaped_the_policy_would_stop_it(
    visit: Visit, base_url: str, report: httpx.Response, trap: Trap, attack: str
) -> None:
    mark = texts.word()
    unescaped = report.text.replace("<h1>", f"<p>{aimed(attack, trap)}</p><h1>", 1)
    visit.context.route(
        f"**/{mark}", lambda route: route.fulfill(status=200, headers=dict(report.headers), body=unescaped)
    )
    visit.open(f"{base_url}/{mark}")
    assert (visit.dialogs, trap.caught()) == ([], [])
    assert "ran" not in visit.console
