"""The elements of a ReqIF document as text, from objects as the collector has read them."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any

from lxml import etree

from catalog_service.exchange.plain_text import plain_text
from catalog_service.exchange.reqif.collector import Raw
from catalog_service.exchange.reqif.fragments import clean, escape_attribute, escape_text, parsed
from catalog_service.exchange.reqif.xhtml import paragraphs

_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_IDENTITY = {"identifier": "IDENTIFIER", "last_change": "LAST-CHANGE", "long_name": "LONG-NAME", "desc": "DESC"}


def sound_markup(markup: str) -> str:
    """Return XHTML that is well-formed: people can change what is stored, and then it is taken as plain text."""
    try:
        parsed(markup)
    except (etree.XMLSyntaxError, ValueError):
        return paragraphs(clean(plain_text(markup)))
    return markup


def object_element(raw: Raw) -> str:
    """Return a SPEC-OBJECT."""
    return f"<SPEC-OBJECT{_identity(raw)}>{_content(raw, 'SPEC-OBJECT-TYPE')}</SPEC-OBJECT>\n"


def relation_element(raw: Raw) -> str:
    """Return a SPEC-RELATION."""
    ends = "".join(
        f"<{side}><SPEC-OBJECT-REF>{escape_text(clean(raw.get(side.lower(), '')))}</SPEC-OBJECT-REF></{side}>"
        for side in ("SOURCE", "TARGET")
    )
    return f"<SPEC-RELATION{_identity(raw)}>{_content(raw, 'SPEC-RELATION-TYPE')}{ends}</SPEC-RELATION>\n"


def specification_element(raw: Raw, is_there: Callable[[str], bool]) -> str | None:
    """Return a SPECIFICATION with the objects that are there, None when it had some and none of them is left."""
    nodes = "".join(_nodes(raw, is_there))
    if raw.get("children") and not nodes:
        return None
    return specification_around(raw, nodes)


def specification_around(raw: Raw, nodes: str) -> str:
    """Return a SPECIFICATION around nodes."""
    children = f"<CHILDREN>\n{nodes}</CHILDREN>" if nodes else ""
    return f"<SPECIFICATION{_identity(raw)}>{_content(raw, 'SPECIFICATION-TYPE')}{children}</SPECIFICATION>\n"


def group_element(raw: Raw, relations: Collection[str]) -> str:
    """Return a RELATION-GROUP with those of its relations that are there."""
    named = "".join(
        f"<SPEC-RELATION-REF>{escape_text(one)}</SPEC-RELATION-REF>"
        for one in raw.get("relations", ())
        if one in relations
    )
    ends = "".join(
        f"<{side}-SPECIFICATION><SPECIFICATION-REF>{escape_text(raw[side.lower()])}</SPECIFICATION-REF>"
        f"</{side}-SPECIFICATION>"
        for side in ("SOURCE", "TARGET")
        if side.lower() in raw
    )
    content = _content(raw, "RELATION-GROUP-TYPE") + (f"<SPEC-RELATIONS>{named}</SPEC-RELATIONS>" if named else "")
    return f"<RELATION-GROUP{_identity(raw)}>{content}{ends}</RELATION-GROUP>\n"


def node_element(raw: Raw, below: str = "") -> str:
    """Return a SPEC-HIERARCHY."""
    children = f"<CHILDREN>\n{below}</CHILDREN>" if below else ""
    reference = escape_text(raw.get("object", ""))
    return (
        f"<SPEC-HIERARCHY{_identity(raw)}>{_alternative(raw)}<OBJECT><SPEC-OBJECT-REF>{reference}</SPEC-OBJECT-REF>"
        f"</OBJECT>{children}</SPEC-HIERARCHY>\n"
    )


def _nodes(parent: Raw, is_there: Callable[[str], bool]) -> Iterator[str]:
    """Yield the nodes below one; what lies under an object that is not there moves up to its place."""
    for node in parent.get("children", ()):
        below = "".join(_nodes(node, is_there))
        yield node_element(node, below) if is_there(node.get("object", "")) else below


def _identity(raw: Raw) -> str:
    known = {name: raw[key] for key, name in _IDENTITY.items() if isinstance(raw.get(key), str)}
    other = raw.get("other")
    more = other if isinstance(other, Mapping) else {}
    known |= {name: text for name, text in more.items() if _NAME.fullmatch(name) and isinstance(text, str)}
    return "".join(f' {name}="{escape_attribute(clean(text))}"' for name, text in known.items())


def _alternative(raw: Raw) -> str:
    identifier = raw.get("alternative_id")
    if not isinstance(identifier, str):
        return ""
    return f'<ALTERNATIVE-ID><ALTERNATIVE-ID IDENTIFIER="{escape_attribute(clean(identifier))}"/></ALTERNATIVE-ID>'


def _content(raw: Raw, type_name: str) -> str:
    values = "".join(map(_value, raw.get("values", ())))
    spec_type = raw.get("type")
    reference = (
        f"<TYPE><{type_name}-REF>{escape_text(clean(spec_type))}</{type_name}-REF></TYPE>"
        if isinstance(spec_type, str)
        else ""
    )
    return _alternative(raw) + (f"<VALUES>{values}</VALUES>" if values else "") + reference


@lru_cache(maxsize=4096)
def _definition(kind: str, identifier: str) -> str:
    definition = escape_text(clean(identifier))
    if not definition:
        return ""
    return f"<DEFINITION><ATTRIBUTE-DEFINITION-{kind}-REF>{definition}</ATTRIBUTE-DEFINITION-{kind}-REF></DEFINITION>"


def _value(value: list[Any]) -> str:
    kind, content = value[0].upper(), value[2]
    reference = _definition(kind, value[1])
    attributes, inside = "", ""
    if kind == "ENUMERATION":
        named = "".join(f"<ENUM-VALUE-REF>{escape_text(clean(one))}</ENUM-VALUE-REF>" for one in content)
        inside = f"<VALUES>{named}</VALUES>" if named else ""
    elif kind == "XHTML":
        more = value[3] if len(value) > 3 else {}
        if "simplified" in more:
            attributes = f' IS-SIMPLIFIED="{escape_attribute(clean(more["simplified"]))}"'
        if "original" in more:
            inside = f"<THE-ORIGINAL-VALUE>{sound_markup(more['original'])}</THE-ORIGINAL-VALUE>"
        inside += f"<THE-VALUE>{sound_markup(content or '')}</THE-VALUE>"
    elif content is not None:
        attributes = f' THE-VALUE="{escape_attribute(clean(content))}"'
    return f"<ATTRIBUTE-VALUE-{kind}{attributes}>{reference}{inside}</ATTRIBUTE-VALUE-{kind}>"
