"""The OpenAPI documents of the services fit into one: nobody uses another's names."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from openapi_spec_validator import validate

import auth_service.app
import auth_service.settings
import catalog_service.app
import catalog_service.settings
import notification_service.app
import notification_service.settings
import suggestion_service.app
import suggestion_service.settings
from chassis.database import Database
from chassis.identity import InternalTokens
from chassis.peers import Peer

SECRET = "a-secret-of-at-least-32-characters!!"
NOWHERE = "postgresql://nobody@localhost/nothing"  # never opened: documents need no database


@pytest.fixture(scope="module")
async def documents() -> dict[str, dict[str, Any]]:
    tokens = InternalTokens(SECRET)
    database = Database(NOWHERE)
    required = {"database_url": NOWHERE, "internal_token_secret": SECRET}
    async with httpx.AsyncClient(base_url="http://catalog") as client:
        catalog = Peer("catalog-service", client, tokens, "suggestion-service")
        apps = {
            "auth": auth_service.app.create_app(auth_service.settings.Settings(**required), database, tokens),
            "catalog": catalog_service.app.create_app(catalog_service.settings.Settings(**required), database, tokens),
            "suggestion": suggestion_service.app.create_app(
                suggestion_service.settings.Settings(**required), database, tokens, catalog
            ),
            "notification": notification_service.app.create_app(
                notification_service.settings.Settings(**required), database, tokens
            ),
        }
    return {name: app.openapi() for name, app in apps.items()}


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield method, path, operation


def test_operation_ids_are_unique_over_all_services(documents: dict[str, dict[str, Any]]) -> None:
    ids = Counter(
        operation["operationId"] for document in documents.values() for _, _, operation in operations(document)
    )
    assert [name for name, count in ids.items() if count > 1] == []


def test_no_two_services_serve_the_same_operation(documents: dict[str, dict[str, Any]]) -> None:
    served = Counter((method, path) for document in documents.values() for method, path, _ in operations(document))
    assert [place for place, count in served.items() if count > 1] == []


def test_a_schema_of_the_same_name_is_the_same_schema(documents: dict[str, dict[str, Any]]) -> None:
    meanings: dict[str, dict[str, Any]] = {}
    for document in documents.values():
        for name, schema in document["components"]["schemas"].items():
            meaning = {key: value for key, value in schema.items() if key != "description"}
            assert meanings.setdefault(name, meaning) == meaning, name


def test_every_operation_has_a_summary_and_a_tag(documents: dict[str, dict[str, Any]]) -> None:
    for document in documents.values():
        for method, path, operation in operations(document):
            assert operation.get("summary"), (method, path)
            assert operation.get("tags"), (method, path)


def test_every_path_is_public_and_versioned(documents: dict[str, dict[str, Any]]) -> None:
    paths = [path for document in documents.values() for path in document["paths"]]
    assert [path for path in paths if not path.startswith("/api/v1/")] == []


@pytest.mark.parametrize("service", ["auth", "catalog", "suggestion", "notification"])
def test_each_document_is_valid(documents: dict[str, dict[str, Any]], service: str) -> None:
    document = documents[service]
    # The gateway brings the schemas of problems when it puts the documents together.
    schemas = document["components"]["schemas"]
    for name in ("ProblemDocument", "InvalidDocument"):
        schemas.setdefault(name, {"type": "object"})
    validate(document)
