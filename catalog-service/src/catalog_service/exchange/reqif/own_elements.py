"""Items and links that never came from ReqIF as elements of our types. Exports of many hold little else."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from catalog_service.exchange.plain_text import plain_text
from catalog_service.exchange.reqif import own
from catalog_service.exchange.reqif.fragments import clean, escape_attribute, needs_escape
from catalog_service.exchange.reqif.xhtml import are_words, paragraphs, words

Cells = Sequence[Any]
"""The fields of a record that COLUMNS names, each a text or None; what is no text or number is JSON."""


class _Attribute(NamedTuple):
    """How a field is written: what stands around it (`%s`), itself, and what a reader will make of it.

    The last is None where that is always the field as it is.
    """

    around: str
    content: Callable[[str], str]
    read: Callable[[str], str] | None = None


class _Form:
    """How items of a kind are written: the columns of a row, and behind the first two their attributes.

    `lines` and `texts` are where, among those, texts stand that may hold anything; `title` is one of the lines.
    """

    def __init__(self, kind: str) -> None:
        forms = {name: "JSON" if name in own.JSON_FIELDS else own.form_of(kind, name) for name in own.FIELDS[kind]}
        lines, texts, others = (
            [name for name, form in forms.items() if form in wanted]
            for wanted in (("STRING",), ("XHTML",), ("ENUMERATION", "JSON"))
        )
        names = [*lines, *texts, *others]
        self.columns = ("id", "updated_at", *names)
        self.attributes = [_attribute(kind, name) for name in names]
        self.names = names
        self.lines = slice(len(lines))
        self.texts = slice(len(lines), len(lines) + len(texts))
        self.others = slice(len(lines) + len(texts), None)
        self.title = names.index("title")
        self.template = lru_cache(maxsize=4096)(self._template)
        self._type = own.type_of(kind)

    def _template(self, present: tuple[bool, ...]) -> str:
        """Return the element of an item that has these of its fields."""
        values = "".join(
            attribute.around for attribute, is_there in zip(self.attributes, present, strict=True) if is_there
        )
        return (
            f'<SPEC-OBJECT IDENTIFIER="_%s" LAST-CHANGE="%s" LONG-NAME="%s"><VALUES>{values}</VALUES>'
            f"<TYPE><SPEC-OBJECT-TYPE-REF>{self._type}</SPEC-OBJECT-TYPE-REF></TYPE></SPEC-OBJECT>\n"
        )

    def plain(self, fields: Cells) -> list[str | None] | None:
        """Return what is written of fields that need no more than their quotes replaced, as those of most items.

        None when there is more to do.
        """
        lines, texts, others = fields[self.lines], fields[self.texts], fields[self.others]
        one_line = "".join(filter(None, (*lines, *others)))
        if needs_escape(one_line) or not one_line.isprintable():
            return None
        for text in filter(None, texts):
            if needs_escape(text) or not are_words(text):
                return None
        return [
            *(text and text.replace('"', "&quot;") for text in lines),
            *(text and words(text) for text in texts),
            *(text and text.replace('"', "&quot;") for text in others),
        ]


def own_object(kind: str, row: Cells) -> tuple[str, list[str]]:
    """Return an item as a SPEC-OBJECT, and the values of our tool extension that it needs."""
    form = _FORMS[kind]
    identifier, last_change, *fields = row
    beside: list[str] = []
    contents = form.plain(fields)
    if contents is None:
        written = zip(form.attributes, fields, strict=True)
        contents = [text and attribute.content(text) for attribute, text in written]
        beside.extend(_beside(form, f"_{identifier}", fields))
    template = form.template(tuple(map(bool, contents)))
    return template % (identifier, last_change, contents[form.title], *filter(None, contents)), beside


def _beside(form: _Form, identifier: str, fields: Cells) -> Iterator[str]:
    for name, attribute, text in zip(form.names, form.attributes, fields, strict=True):
        if text and attribute.read is not None and (found := attribute.read(text)) != text:
            yield own.extension_value(identifier, name, text, found)


def own_node(identifier: str, last_change: str) -> str:
    """Return the SPEC-HIERARCHY of an object of `own_object`."""
    return (
        f'<SPEC-HIERARCHY IDENTIFIER="_node_{identifier}" LAST-CHANGE="{last_change}">'
        f"<OBJECT><SPEC-OBJECT-REF>_{identifier}</SPEC-OBJECT-REF></OBJECT></SPEC-HIERARCHY>\n"
    )


def values_of_link(identifier: str, row: Cells) -> list[str]:
    """Return the values of our tool extension for what a relation has no place for: who made a link, and how sure."""
    *_, source, score = row
    beside = [] if source in {None, "imported"} else [own.extension_value(identifier, "link_source", source, None)]
    if score is not None:
        beside.append(own.extension_value(identifier, "confidence_score", float(score), None))
    return beside


def own_relation(row: Cells, source: str, target: str, last_change: str) -> tuple[str, list[str]]:
    """Return a link as a SPEC-RELATION between objects, and the values of our tool extension that it needs.

    `source` is its test case, `target` its requirement, as they stand between tags.
    """
    identifier, _, _, link_type, notes, *_ = row
    values, beside = "", values_of_link(f"_{identifier}", row)
    if notes:
        around, content, _ = _string(own.notes_of(link_type))
        values = f"<VALUES>{around % content(notes)}</VALUES>"
        if (found := clean(notes)) != notes:
            beside.append(own.extension_value(f"_{identifier}", "notes", notes, found))
    element = (
        f'<SPEC-RELATION IDENTIFIER="_{identifier}" LAST-CHANGE="{last_change}">{values}'
        f"<TYPE><SPEC-RELATION-TYPE-REF>{own.link_type(link_type)}</SPEC-RELATION-TYPE-REF></TYPE>"
        f"<SOURCE><SPEC-OBJECT-REF>{source}</SPEC-OBJECT-REF></SOURCE>"
        f"<TARGET><SPEC-OBJECT-REF>{target}</SPEC-OBJECT-REF></TARGET></SPEC-RELATION>\n"
    )
    return element, beside


def values_of_relation(identifier: str, row: Cells) -> list[str]:
    """Return the values of our tool extension for what a SPEC-RELATION has no place for: who made a relation."""
    source = row[-1]
    return [] if source in {None, "imported"} else [own.extension_value(identifier, "source", source, None)]


def own_relation_of_requirements(row: Cells, source: str, target: str, last_change: str) -> tuple[str, list[str]]:
    """Return a relation of requirements as a SPEC-RELATION, and the values of our tool extension that it needs.

    `source` is its child, `target` its parent, as they stand between tags.
    """
    identifier, _, _, relation_type, role, notes, _ = row
    beside, values = values_of_relation(f"_{identifier}", row), ""
    for name, text in (("role", role), ("notes", notes)):
        if text:
            around, content, _ = _string(own.attribute_of_relation(relation_type, name))
            values += around % content(text)
            if (found := clean(text)) != text:
                beside.append(own.extension_value(f"_{identifier}", name, text, found))
    element = (
        f'<SPEC-RELATION IDENTIFIER="_{identifier}" LAST-CHANGE="{last_change}">'
        f"{f'<VALUES>{values}</VALUES>' if values else ''}"
        f"<TYPE><SPEC-RELATION-TYPE-REF>{own.relation_type(relation_type)}</SPEC-RELATION-TYPE-REF></TYPE>"
        f"<SOURCE><SPEC-OBJECT-REF>{source}</SPEC-OBJECT-REF></SOURCE>"
        f"<TARGET><SPEC-OBJECT-REF>{target}</SPEC-OBJECT-REF></TARGET></SPEC-RELATION>\n"
    )
    return element, beside


def _quoted(text: str) -> str:
    return escape_attribute(clean(text))


def _json(text: str) -> str:
    return escape_attribute(own.json_of_xml(text))


def _xhtml(text: str) -> str:
    return paragraphs(clean(text))


def _read_again(text: str) -> str:
    return text if are_words(text) else plain_text(_xhtml(text))


def _string(definition: str) -> _Attribute:
    reference = _definition("STRING", definition)
    return _Attribute(f'<ATTRIBUTE-VALUE-STRING THE-VALUE="%s">{reference}</ATTRIBUTE-VALUE-STRING>', _quoted, clean)


def _attribute(kind: str, name: str) -> _Attribute:
    definition = own.attribute_of(kind, name)
    form = own.form_of(kind, name)
    reference = _definition(form, definition)
    if form == "XHTML":
        around = f"<ATTRIBUTE-VALUE-XHTML>{reference}<THE-VALUE>%s</THE-VALUE></ATTRIBUTE-VALUE-XHTML>"
        return _Attribute(around, _xhtml, _read_again)
    if form == "ENUMERATION":
        values = f"<VALUES><ENUM-VALUE-REF>{definition}-%s</ENUM-VALUE-REF></VALUES>"
        return _Attribute(f"<ATTRIBUTE-VALUE-ENUMERATION>{reference}{values}</ATTRIBUTE-VALUE-ENUMERATION>", str)
    string = _string(definition)
    return string._replace(content=_json, read=None) if name in own.JSON_FIELDS else string


def _definition(form: str, identifier: str) -> str:
    return f"<DEFINITION><ATTRIBUTE-DEFINITION-{form}-REF>{identifier}</ATTRIBUTE-DEFINITION-{form}-REF></DEFINITION>"


_FORMS = {kind: _Form(kind) for kind in own.FIELDS}
COLUMNS: Mapping[str, Sequence[str]] = {kind: form.columns for kind, form in _FORMS.items()} | {
    "link": ("id", "requirement_id", "test_case_id", "link_type", "notes", "link_source", "confidence_score"),
    "relation": ("id", "child_id", "parent_id", "relation_type", "role", "notes", "source"),
}
"""What an export has of each kind of records."""
