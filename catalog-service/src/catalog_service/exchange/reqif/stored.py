"""What imports of ReqIF have left beside the record, all of it together: of what stands twice the newest counts."""

from collections.abc import Iterable, Mapping
from typing import Any

from catalog_service.exchange.reqif.collector import Raw
from catalog_service.exchange.reqif.own import PREFIX


class Stored:
    """Types, structure, relations, specifications and extensions, by their identifiers."""

    def __init__(self, documents: Iterable[Mapping[str, Any]]) -> None:
        """`documents` are those of `reqif_schemas`, oldest first."""
        self.datatypes: dict[str, str] = {}
        self.types: dict[str, str] = {}
        self.structure: dict[str, Raw] = {}
        self.relations: dict[str, Raw] = {}
        self.specifications: dict[str, Raw] = {}
        self.groups: dict[str, Raw] = {}
        self.extensions: dict[str, None] = {}
        self.unknown_objects: set[str] = set()
        self.is_known = False
        """Whether there is any: without, objects would be of types that nobody knows."""
        for document in documents:
            self._add(document)
            self.is_known = True

    def document(self) -> dict[str, Any]:
        """Return one document that says the same as all of them."""
        file = {
            "name": None,
            "header": "",
            "datatypes": self.datatypes,
            "types": self.types,
            "specifications": list(self.specifications.values()),
            "groups": list(self.groups.values()),
            "extensions": list(self.extensions),
        }
        return {
            "version": 1,
            "files": [file],
            "structure": list(self.structure.values()),
            "relations": list(self.relations.values()),
            "unknown_objects": sorted(self.unknown_objects),
        }

    def _add(self, document: Mapping[str, Any]) -> None:
        for file in document["files"]:
            self.datatypes |= _foreign(file["datatypes"])
            self.types |= _foreign(file["types"])
            self.specifications |= _foreign({one["identifier"]: one for one in file["specifications"]})
            self.groups |= {one["identifier"]: one for one in file["groups"]}
            self.extensions |= dict.fromkeys(file["extensions"])
        self.structure |= {one["identifier"]: one for one in document["structure"]}
        self.relations |= {one["identifier"]: one for one in document["relations"]}
        self.unknown_objects |= set(document["unknown_objects"])


def _foreign(found: dict[str, Any]) -> dict[str, Any]:
    """Return what is not ours: that is written anew."""
    return {identifier: one for identifier, one in found.items() if not identifier.startswith(PREFIX)}
