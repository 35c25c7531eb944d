"""The large parts of a workbook as elements, of which only one is held at a time."""

from collections.abc import Iterable, Iterator

from lxml import etree

from catalog_service.exchange.records import Unreadable
from chassis.files.xml_errors import reason_of

_LONGEST = 4 << 20
"""Bytes between the ends of two elements."""


def read_elements(pieces: Iterable[bytes], name: str, within: str) -> Iterator[etree._Element]:
    """Yield the elements of this local name, whole, up to the end of the element `within` that holds them.

    An element is good until the next one is asked for. Elements come as trees, since to build them in C takes a fifth
    of the time of events; entities, document types, and what is large without end are refused as `read_xml` does.
    """
    parser = etree.XMLPullParser(
        events=("end",),
        tag=(f"{{*}}{name}", f"{{*}}{within}"),
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    waiting = 0
    container = None
    try:
        for piece in pieces:
            waiting += len(piece)
            parser.feed(piece)
            element = None
            for _, element in parser.read_events():
                if container is None:
                    if element.getroottree().docinfo.doctype:
                        raise Unreadable("The workbook has a document type declaration, which is not read.")
                    container = element.tag[: element.tag.rfind("}") + 1] + within
                if element.tag == container:
                    return
                waiting = 0
                yield element
            if element is not None:
                del element.getparent()[:-1]
            if waiting > _LONGEST:
                raise Unreadable(f"An element of the workbook is larger than {_LONGEST >> 20} MiB, which is not read.")
        parser.close()
    except etree.XMLSyntaxError as error:
        raise _damaged(error) from None


def _damaged(error: etree.XMLSyntaxError) -> Unreadable:
    if "XML_PARSE_HUGE" in (error.msg or ""):
        return Unreadable("The workbook has a text, an attribute or a depth of elements that is beyond what is read.")
    return Unreadable(f"The workbook is damaged: a part of it is not well-formed XML: {reason_of(error)}.")
