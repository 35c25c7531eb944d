"""What the alerts and the dashboard ask for is measured, and every alert says what to do."""

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import yaml

from chassis.core import projects, version
from chassis.observability.requests import Measured
from embedded.composition import compose
from embedded.services import SERVICES
from embedded.settings import read_settings
from gateway.app import measured_as
from manifests.rendering import FOLDER
from testing import PostgresServer
from testing.metrics import Series, measured

COMPONENT = FOLDER / "components" / "prometheus"
RUNBOOK = FOLDER.parent / "RUNBOOK.md"
ALERTS = [
    rule
    for group in yaml.safe_load((COMPONENT / "rules.yaml").read_text())["spec"]["groups"]
    for rule in group["rules"]
]
DASHBOARD = json.loads((COMPONENT / "dashboard.json").read_text())
OF_PROMETHEUS = {"up"}
OF_THE_TARGET = {"job", "namespace", "pod"}


def panels() -> Iterator[dict[str, Any]]:
    return (panel for panel in DASHBOARD["panels"] if panel["type"] != "row")


EXPRESSIONS = {
    **{rule["alert"]: rule["expr"] for rule in ALERTS},
    **{f"{panel['title']} {target['refId']}": target["expr"] for panel in panels() for target in panel["targets"]},
}


@pytest.fixture(scope="module")
async def labels_by_name(postgres: PostgresServer) -> dict[str, set[str]]:
    """Every metric that any program has, with its labels."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("ENVIRONMENT", "development")  # or it would be set for all tests to come
        environment.setenv("EMBEDDINGS_ENABLED", "true")
        settings = read_settings()
    traceline = compose(settings, {service.name: postgres.database(service.package) for service in SERVICES})
    for database in traceline.databases.values():
        await database.open()
    with projects.within(projects.MAIN):
        async with traceline.databases["catalog-service"].transaction() as connection:
            await connection.execute(_REQUIREMENT)
    version.announce({service.name: service.schema for service in SERVICES})
    transport = httpx.ASGITransport(Measured(traceline.app, "gateway", measured_as))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        await client.get("/livez")
    series = await measured(*traceline.collectors())
    await traceline.stop()
    return _labels(series)


_REQUIREMENT = (
    "INSERT INTO requirements (id, title, description, type, priority, status, version, created_at, updated_at)"
    " VALUES (gen_random_uuid(), 'A title', 'A text', 'functional', 'low', 'draft', 1, now(), now())"
)


def _labels(series: Series) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for each in series:
        name, _, labels = each.partition("{")
        found.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
    return found


def names(expression: str) -> set[str]:
    """The metrics that an expression asks for."""
    bare = re.sub(r"\{[^}]*\}|\[[^\]]*\]|\b(by|on|without|ignoring)\s*\([^)]*\)|\"[^\"]*\"", " ", expression)
    return {name for name in re.findall(r"[a-z_:][a-z0-9_:]*(?!\w*\s*\()", bare) if name not in {"and", "or", "by"}}


@pytest.mark.parametrize("of", EXPRESSIONS)
def test_what_is_asked_for_is_measured(of: str, labels_by_name: dict[str, set[str]]) -> None:
    assert names(EXPRESSIONS[of])
    assert names(EXPRESSIONS[of]) <= {*labels_by_name, *OF_PROMETHEUS}


@pytest.mark.parametrize("of", EXPRESSIONS)
def test_what_it_is_asked_by_are_its_labels(of: str, labels_by_name: dict[str, set[str]]) -> None:
    expression = EXPRESSIONS[of]
    known = set.union(OF_THE_TARGET, *(labels_by_name.get(name, set()) for name in names(expression)))
    for name, matchers in re.findall(r"(\w+)\{([^}]*)\}", expression):
        assert set(re.findall(r'(\w+)\s*[!=]~?"', matchers)) <= labels_by_name.get(name, set()) | OF_THE_TARGET
    for grouped in re.findall(r"\bby \(([^)]*)\)", expression):
        assert set(re.split(r",\s*", grouped)) <= known


def test_every_metric_of_ours_is_described_and_none_else(labels_by_name: dict[str, set[str]]) -> None:
    described = set(re.findall(r"`(traceline_\w+)`", (FOLDER.parents[1] / "chassis" / "README.md").read_text()))
    ours = {re.sub("_(bucket|sum|count)$", "", name) for name in labels_by_name if name.startswith("traceline_")}
    assert described == ours


@pytest.mark.parametrize("alert", ALERTS, ids=lambda rule: rule["alert"])
def test_an_alert_says_how_bad_it_is_what_is_wrong_and_what_to_do(alert: dict[str, Any]) -> None:
    assert alert["labels"]["severity"] in {"critical", "warning"}
    assert alert["annotations"]["summary"].endswith(".")
    file, _, anchor = alert["annotations"]["runbook_url"].partition("#")
    assert FOLDER.parent.parent / file == RUNBOOK
    headings = re.findall(r"^#+ (.+)$", RUNBOOK.read_text(), re.MULTILINE)
    assert anchor in [heading.lower().replace(" ", "-") for heading in headings]


def test_the_dashboard_reads_from_the_prometheus_that_is_chosen() -> None:
    (variable,) = DASHBOARD["templating"]["list"]
    chosen = {"type": "prometheus", "uid": f"${{{variable['name']}}}"}
    assert (variable["type"], variable["query"]) == ("datasource", "prometheus")
    assert [each for panel in panels() for each in (panel, *panel["targets"]) if each["datasource"] != chosen] == []


def test_no_panel_of_the_dashboard_lies_upon_another() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not taken & cells, panel["title"]
        assert place["x"] + place["w"] <= 24
        taken |= cells
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
