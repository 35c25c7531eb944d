"""Items and links that never came from ReqIF as elements of our types. Exports of many hold little else."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from catalog_service.exchange.plain_text import plain_text
from catalog_service.exchange.reqif import own
from catalog_service.exchange.reqif.fragments import clean, escape_attribute, escape_text
from catalog_service.exchange.reqif.xhtml import are_words, paragraphs


class _Attribute(NamedTuple):
    """How a field is written: what stands before and after it, itself, and what a reader will make of it.

    The last is None where that is always the field as it is.
    """

    before: str
    content: Callable[[Any], str]
    after: str
    read: Callable[[Any], str] | None = None


def own_object(kind: str, item: Mapping[str, Any], last_change: str) -> tuple[str, list[str]]:
    """Return an item as a SPEC-OBJECT, and the values of our tool extension that it needs."""
    identifier = f"_{item['id']}"
    values, beside = [], []
    for name, (before, content, after, read) in _ATTRIBUTES[kind].items():
        value = item.get(name)
        if value is None or value in ("", []):
            continue
        values.append(f"{before}{content(value)}{after}")
        if read is not None and (found := read(value)) != value:
            beside.append(own.extension_value(identifier, name, value, found))
    element = (
        f'<SPEC-OBJECT IDENTIFIER="{identifier}" LAST-CHANGE="{last_change}" LONG-NAME="{_quoted(item["title"])}">'
        f"<VALUES>{''.join(values)}</VALUES>"
        f"<TYPE><SPEC-OBJECT-TYPE-REF>{own.type_of(kind)}</SPEC-OBJECT-TYPE-REF></TYPE></SPEC-OBJECT>\n"
    )
    return element, beside


def own_node(item: Mapping[str, Any], last_change: str) -> str:
    """Return the SPEC-HIERARCHY of an object of `own_object`."""
    return (
        f'<SPEC-HIERARCHY IDENTIFIER="_node_{item["id"]}" LAST-CHANGE="{last_change}">'
        f"<OBJECT><SPEC-OBJECT-REF>_{item['id']}</SPEC-OBJECT-REF></OBJECT></SPEC-HIERARCHY>\n"
    )


def own_relation(link: Mapping[str, Any], requirement: str, test_case: str, last_change: str) -> tuple[str, list[str]]:
    """Return a link as a SPEC-RELATION between objects, and the values of our tool extension that it needs."""
    identifier, name, values, beside = f"_{link['id']}", str(link["link_type"]), "", []
    if notes := link.get("notes"):
        before, content, after, _ = _string(own.notes_of(name))
        values = f"<VALUES>{before}{content(notes)}{after}</VALUES>"
        if (found := clean(notes)) != notes:
            beside.append(own.extension_value(identifier, "notes", notes, found))
    element = (
        f'<SPEC-RELATION IDENTIFIER="{identifier}" LAST-CHANGE="{last_change}">{values}'
        f"<TYPE><SPEC-RELATION-TYPE-REF>{own.link_type(name)}</SPEC-RELATION-TYPE-REF></TYPE>"
        f"<SOURCE><SPEC-OBJECT-REF>{escape_text(clean(test_case))}</SPEC-OBJECT-REF></SOURCE>"
        f"<TARGET><SPEC-OBJECT-REF>{escape_text(clean(requirement))}</SPEC-OBJECT-REF></TARGET></SPEC-RELATION>\n"
    )
    return element, beside


def _quoted(text: str) -> str:
    return escape_attribute(clean(text))


def _json(value: Any) -> str:
    return escape_attribute(own.json_text(value))


def _xhtml(text: str) -> str:
    return paragraphs(clean(text))


def _read_again(text: str) -> str:
    return text if are_words(text) else plain_text(_xhtml(text))


def _string(definition: str) -> _Attribute:
    reference = _definition("STRING", definition)
    return _Attribute('<ATTRIBUTE-VALUE-STRING THE-VALUE="', _quoted, f'">{reference}</ATTRIBUTE-VALUE-STRING>', clean)


def _attribute(kind: str, name: str) -> _Attribute:
    definition = own.attribute_of(kind, name)
    form = own.form_of(kind, name)
    if form == "XHTML":
        before = f"<ATTRIBUTE-VALUE-XHTML>{_definition(form, definition)}<THE-VALUE>"
        return _Attribute(before, _xhtml, "</THE-VALUE></ATTRIBUTE-VALUE-XHTML>", _read_again)
    if form == "ENUMERATION":
        before = f"<ATTRIBUTE-VALUE-ENUMERATION>{_definition(form, definition)}<VALUES><ENUM-VALUE-REF>{definition}-"
        return _Attribute(before, str, "</ENUM-VALUE-REF></VALUES></ATTRIBUTE-VALUE-ENUMERATION>")
    string = _string(definition)
    return string._replace(content=_json, read=None) if name in own.JSON_FIELDS else string


def _definition(form: str, identifier: str) -> str:
    return f"<DEFINITION><ATTRIBUTE-DEFINITION-{form}-REF>{identifier}</ATTRIBUTE-DEFINITION-{form}-REF></DEFINITION>"


_ATTRIBUTES = {kind: {name: _attribute(kind, name) for name in fields} for kind, fields in own.FIELDS.items()}
