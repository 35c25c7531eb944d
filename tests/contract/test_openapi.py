"""The OpenAPI documents of the services fit into one: nobody uses another's names."""

from collections import Counter
from collections.abc import Iterator
from typing import Any


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
