"""What imports of ReqIF have left beside the record, in a file of our own: the text of one document, in parts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson
from lxml import etree
from pydantic import ValidationError

from catalog_service.exchange.layout import SCHEMA
from catalog_service.exchange.records import Document, Notice, Record, Unreadable
from catalog_service.exchange.reqif.schema_document import check_writable
from catalog_service.exchange.reqif.stored import Stored

TEXT = "text"
_PART = 1 << 20
"""Characters: at most half of what one line may hold, however they are written."""


def schema_lines(documents: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return documents of `reqif_schemas`, oldest first, as JSON objects each of which holds a part of their text."""
    stored = Stored(documents)
    if not stored.is_known:
        return []
    text = orjson.dumps(stored.document()).decode()
    parts = (text[begin : begin + _PART] for begin in range(0, len(text), _PART))
    return [orjson.dumps({"kind": SCHEMA, TEXT: part}).decode() for part in parts]


def schemas_of(parts: Sequence[object]) -> Iterator[Record]:
    """Yield the document of which these are the parts, or that it is left out since no export could write it."""
    if not parts:
        return
    try:
        content = orjson.loads("".join(part for part in parts if isinstance(part, str)))
        check_writable(content)
    except (orjson.JSONDecodeError, ValidationError, etree.XMLSyntaxError, Unreadable):
        yield Notice(
            "schema_left_out",
            "What the file keeps of ReqIF (types, headings, relations) is damaged and left out; the items are taken.",
        )
    else:
        yield Document("reqif", content)
