"""One reader for all XML: what it hands on, what it refuses, and where it says that was."""

import io
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.files.refused import FileRefused
from chassis.files.xml_events import XmlHandler, XmlLimits, read_xml


class Recorder(XmlHandler):
    keeps_text = True

    def __init__(self) -> None:
        self.seen: list[object] = []
        self.lines: dict[str, int] = {}

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.seen.append((tag, dict(attributes)))
        self.lines[tag] = self.line

    def text(self, text: str) -> None:
        self.seen.append(text)

    def end(self, tag: str) -> None:
        self.seen.append(f"/{tag}")


class Refuser(XmlHandler):
    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "bad":
            raise FileRefused("bad is not allowed here.")


def read(data: bytes, handler: XmlHandler | None = None, **options: object) -> list[object]:
    recorder = handler or Recorder()
    for _ in read_xml(io.BytesIO(data), recorder, **options):  # type: ignore[arg-type]
        pass
    return getattr(recorder, "seen", [])


def refused(data: bytes, handler: XmlHandler | None = None, **options: object) -> FileRefused:
    with pytest.raises(FileRefused) as caught:
        read(data, handler, **options)
    return caught.value


def test_elements_text_and_namespaces_come_in_order() -> None:
    data = b'<?xml version="1.0"?><a xmlns="urn:x" k="1&#10;2">one<!-- x --> &lt;two&gt;<b/><![CDATA[<3>]]></a>'
    assert read(data) == [
        ("{urn:x}a", {"k": "1\n2"}),
        "one <two>",
        ("{urn:x}b", {}),
        "/{urn:x}b",
        "<3>",
        "/{urn:x}a",
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1", "windows-1252"])
def test_the_document_says_its_encoding(encoding: str) -> None:
    declared = encoding.removesuffix("-sig")
    document = f"<?xml version='1.0' encoding='{declared}'?>\n<a>größe</a>".encode(encoding)
    assert read(document) == [("a", {}), "größe", "/a"]


def test_references_are_read_in_text_and_attributes_alike() -> None:
    assert read(b"<a k='&amp; &lt; &#38;amp; &#x1F600;'>&amp; &lt; &#38;amp; &#x1F600;</a>") == [
        ("a", {"k": "& < &amp; 😀"}),
        "& < &amp; 😀",
        "/a",
    ]


def test_prefixes_are_told_before_the_element_that_declares_them() -> None:
    class Prefixes(Recorder):
        def namespace(self, prefix: str, name: str) -> None:
            self.seen.append((prefix, name))

    assert read(b"<a xmlns='urn:x'>1<y:b xmlns:y='urn:y'/></a>", Prefixes()) == [
        ("", "urn:x"),
        ("{urn:x}a", {}),
        "1",
        ("y", "urn:y"),
        ("{urn:y}b", {}),
        "/{urn:y}b",
        "/{urn:x}a",
    ]


def test_an_encoding_given_overrides_the_declared_one() -> None:
    document = "<?xml version='1.0' encoding='utf-8'?><a>größe</a>".encode("iso-8859-1")
    assert read(document, encoding="iso-8859-1") == [("a", {}), "größe", "/a"]


def test_text_that_is_not_kept_may_have_any_length() -> None:
    assert read(b"<a>" + b"x" * 20_000_000 + b"</a>", XmlHandler()) == []


def test_a_handler_knows_the_line_it_is_at() -> None:
    recorder = Recorder()
    read(b"<?xml version='1.0'?>\n<a>\n<b/>\n\n<c\n k='1'/></a>", recorder)
    assert recorder.lines == {"a": 2, "b": 3, "c": 6}


def test_progress_is_told_in_bytes() -> None:
    data = b"<a>" + b"<b/>\n" * 100_000 + b"</a>"
    told = list(read_xml(io.BytesIO(data), XmlHandler()))
    assert told == sorted(told)
    assert len(told) > 5
    assert told[-1] == len(data)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "it holds no element"),
        (b"<a>", "the element 'a' that begins in line 1 has no end"),
        (b"<a></b>", "the element 'a' that begins in line 1 is not ended before the end of 'b'"),
        (b"<a/><b/>", "something follows the end of its first element"),
        (b"plain text", "something stands before the first one"),
        (b"<a>\x01</a>", "a character that XML cannot hold"),
        (b"<a b='\x01'/>", "a character that XML cannot hold"),
        (b"<a>&#0;</a>", "a character that XML cannot hold"),
        (b"<a>\xff</a>", "no text in its encoding"),
        (b"<a>&nope;</a>", "there is no entity 'nope'"),
        (b"<a>you & me</a>", "written &amp;"),
        (b"<a b='<'/>", "written &lt;"),
        (b"<a b='1' b='2'/>", "the attribute 'b' twice"),
        (b"<a b/>", "the attribute 'b' has no value"),
        (b"<a b=1/>", "a tag is damaged"),
        (b"<a>1 < 2</a>", "a tag is damaged"),
        (b"<a>]]></a>", "written ]]&gt;"),
        (b"<a><![CDATA[x</a>", "has no end"),
        (b"<?xml version='1.0", "is damaged"),
        (b"\n<?xml version='1.0'?><a/>", "something stands before"),
        (b" <?xml version='1.0'?><a/>", "first line"),
        (b"<?xml version='1.0' encoding='nope'?><a/>", "its encoding 'nope' is not known"),
        ("<a>ü</a>".encode("utf-16-le"), "not well-formed"),
    ],
)
def test_what_is_not_well_formed_is_refused_in_words_of_those_who_write_it(data: bytes, words: str) -> None:
    assert words in refused(data).message


def test_what_is_not_well_formed_has_its_line_and_column() -> None:
    problem = refused(b"<a>\n  <b>\n  </c>\n</a>")
    assert (problem.line, problem.column) == (3, 7)
    assert problem.message == (
        "The file is not well-formed XML: the element 'b' that begins in line 2 is not ended before the end of 'c'."
    )


BOMBS = {
    "billion laughs": b'<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;&x;">]><a>&y;</a>',
    "external entity": b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
    "external DTD": b'<!DOCTYPE a SYSTEM "http://127.0.0.1:9/x.dtd"><a/>',
    "parameter entity": b'<!DOCTYPE a [<!ENTITY % x SYSTEM "http://127.0.0.1:9/x"> %x;]><a/>',
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_document_type_is_refused(name: str) -> None:
    problem = refused(b"<?xml version='1.0'?>\n" + BOMBS[name])
    assert "document type declaration" in problem.message
    assert problem.line == 2


def test_depth_has_a_limit() -> None:
    assert len(read(b"<a>" * 64 + b"</a>" * 64)) == 128
    problem = refused(b"<a>\n" * 200_000)
    assert "64 deep" in problem.message
    assert (problem.line, problem.column) == (65, 1)


def test_attributes_have_a_limit_in_number_and_length() -> None:
    def element(count: int) -> bytes:
        return b"<a>\n<b" + b"".join(b" a%d='1'" % number for number in range(count)) + b"/></a>"

    assert len(read(element(256))) == 5
    problem = refused(element(500_000))
    assert "500,000 attributes" in problem.message
    assert (problem.line, problem.column) == (2, 1)
    assert "20,000,000 characters" in refused(b"<a k='" + b"x" * 20_000_000 + b"'/>").message


@pytest.mark.parametrize("before", [0, 30_000, 65_530, 65_536, 70_000, 131_000])
def test_an_attribute_has_the_same_limit_wherever_it_begins(before: int) -> None:
    padding = b"<b/>" + b" " * before
    assert len(read(b"<a>%s<c k='%s'/></a>" % (padding, b"x" * (1 << 20)))) >= 6
    assert "1,048,577" in refused(b"<a>%s<c k='%s'/></a>" % (padding, b"x" * ((1 << 20) + 1))).message


class Lines(XmlHandler):
    lines_of = ("b", "c")

    def __init__(self) -> None:
        self.seen: list[tuple[str, int]] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag in self.lines_of:
            self.seen.append((tag, self.line))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("before", [0, 65_530, 65_536, 200_000])
def test_lines_of_some_elements_are_where_these_begin(encoding: str, before: int) -> None:
    handler = Lines()
    document = f"<a>{'x' * before}\n<d/><b/><b/>\n\n<c k='1'>\n</c><bb/></a>"
    list(read_xml(io.BytesIO(document.encode(encoding)), handler))
    assert handler.seen == [("b", 2), ("b", 2), ("c", 4)]


def test_text_that_is_kept_has_a_limit() -> None:
    problem = refused(b"<a>\n <b>" + b"x\n" * 600_000 + b"</b></a>")
    assert "1,048,576" in problem.message
    assert (problem.line, problem.column, problem.offset) == (2, 2, 5)
    assert len(read(b"<a>12345</a>", limits=XmlLimits(text=5))) == 3


def test_what_the_handler_refuses_has_its_place() -> None:
    problem = refused(b"\xef\xbb\xbf<a>\n<b>1 &gt; 0</b> <bad x='1'\n/></a>", Refuser())
    assert (problem.message, problem.line, problem.column) == ("bad is not allowed here.", 2, 17)
    assert refused(b"<a>" + b"<b/>" * 100_000 + b"<bad/></a>", Refuser()).offset == 3 + 400_000


@given(st.integers(0, 10_000))
def test_a_document_cut_off_anywhere_is_refused(place: int) -> None:
    document = (
        "<?xml version='1.0' encoding='utf-8'?>\n<a k='ü'>\n<b>é&amp;<c/></b><![CDATA[ä]]><!-- x --></a>".encode()
    )
    assert refused(document[: place % len(document)]).message


def test_a_handler_may_have_long_texts_cut() -> None:
    class Cut(XmlHandler):
        keeps_text = cuts_text = True

        def start(self, tag: str, attributes: Mapping[str, str]) -> None:
            self.attribute = len(attributes["b"])

        def text(self, text: str) -> None:
            self.length = len(text)

    handler = Cut()
    long = b"x" * 3_000_000
    list(read_xml(io.BytesIO(b'<a b="%s">%s</a>' % (long, long)), handler))
    assert 0 < handler.length <= 1 << 20
    assert handler.attribute == 1 << 20
