"""Relations between objects: links where they are between a requirement and a test case, else kept as they are."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from catalog_service.exchange.incomplete import OTHER
from catalog_service.exchange.reqif.attributes import metadata_of
from catalog_service.exchange.reqif.collector import Document, Raw
from catalog_service.exchange.reqif.own import attribute_of_relation, is_own, notes_of, own_relation_type
from catalog_service.exchange.reqif.schema import Schema
from catalog_service.exchange.vocabulary import LINK_TYPES, normal

_ITEMS = ("requirement", "test_case")


class Relations:
    """The relations of some documents together."""

    def __init__(self, documents: Iterable[Document], schema: Schema) -> None:
        self._all = [relation for document in documents for relation in document.relations]
        self._schema = schema
        self._by_source: dict[str, list[int]] = {}
        self._of_others: list[int] = []
        self.unknown: set[str] = set()
        """The objects that relations name and the files do not have, once it is settled."""
        self._links: dict[tuple[str, str], int] = {}
        self._between: dict[tuple[str, str], int] = {}
        self.kept: Counter[str] = Counter()
        """How many relations are no links, by the kind of the item at one of their ends, else OTHER."""
        self.dangling = 0
        """How many relations name what the files do not have."""

    def settle(self, kinds: Mapping[str, str]) -> None:
        """Find out which relation is what, now that it is known what each object is."""
        seen: set[str] = set()
        for number, line in enumerate(self._all):
            relation = orjson.loads(line)
            if relation["identifier"] in seen:
                continue
            seen.add(relation["identifier"])
            source, target = relation.get("source", ""), relation.get("target", "")
            if source not in kinds or target not in kinds:
                self.dangling += 1
                self.unknown.update(end for end in (source, target) if end not in kinds)
            ends = {kinds.get(source): source, kinds.get(target): target}
            if "requirement" in ends and "test_case" in ends:
                self._links.setdefault((ends["requirement"], ends["test_case"]), number)
            elif source and target and source != target and self._may_be_relation(kinds, source, target):
                self._between.setdefault((source, target), number)
            else:
                self.kept[next((kind for kind in _ITEMS if kind in ends), OTHER)] += 1
            if kinds.get(source) not in _ITEMS:
                self._of_others.append(number)
            elif not is_own(relation):
                self._by_source.setdefault(source, []).append(number)

    def of(self, identifier: str) -> list[dict[str, Any]]:
        """Return what is kept of the relations that go out from an object."""
        return [self._stored(orjson.loads(self._all[number])) for number in self._by_source.get(identifier, ())]

    def of_structure(self) -> list[Raw]:
        """Return the relations that go out from what is no item, so that no item can keep them."""
        return [orjson.loads(self._all[number]) for number in self._of_others]

    def links(self) -> Iterator[tuple[int, Raw, str, str]]:
        """Yield each link: its number among the relations from 1, the relation, the requirement, the test case."""
        for (requirement, test_case), number in self._links.items():
            yield number + 1, orjson.loads(self._all[number]), requirement, test_case

    @staticmethod
    def _may_be_relation(kinds: Mapping[str, str], source: str, target: str) -> bool:
        """Check whether each end is a requirement, or not in the files, where it may be one of the record."""
        return all(kinds.get(end, "requirement") == "requirement" for end in (source, target))

    def between(self) -> Iterator[tuple[int, Raw, str, str]]:
        """Yield each relation of requirements: its number from 1, itself, the child (its source), the parent."""
        for (child, parent), number in self._between.items():
            yield number + 1, orjson.loads(self._all[number]), child, parent

    def relation_fields(self, relation: Raw) -> dict[str, Any]:
        """Return type, role and notes of a relation of requirements: of one of ours as they were."""
        if (relation_type := own_relation_type(relation)) is not None:
            fields: dict[str, Any] = {"relation_type": relation_type}
            for value in relation.get("values", ()):
                for name in ("role", "notes"):
                    if value[1] == attribute_of_relation(relation_type, name) and value[2]:
                        fields[name] = value[2]
            return fields
        spec_type = self._schema.types.get(relation.get("type", ""))
        role = spec_type.long_name if spec_type else relation.get("type", "")
        return {"relation_type": "refines"} | ({"role": role[:100]} if role else {})

    def link_fields(self, relation: Raw) -> dict[str, Any]:
        """Return the type of a link, and its notes where it is one of ours."""
        fields = {"link_type": link_type_of(relation, self._schema)}
        for value in relation.get("values", ()):
            if value[1] == notes_of(fields["link_type"]) and value[2]:
                fields["notes"] = value[2]
        return fields

    def _stored(self, relation: Raw) -> dict[str, Any]:
        stored = metadata_of(relation, self._schema)
        if not stored["attributes"]:
            del stored["attributes"]
        return {**stored, "target": relation.get("target", "")}


def link_type_of(relation: Raw, schema: Schema) -> str:
    """Return the type of the link that a relation is."""
    spec_type = schema.types.get(relation.get("type", ""))
    name = spec_type.long_name if spec_type else relation.get("type", "")
    return LINK_TYPES.get(normal(name), "covers")
