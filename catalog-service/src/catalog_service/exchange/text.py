"""The encoding of a text file: what it says itself, else what its bytes can be; and its lines."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import BinaryIO

from charset_normalizer import from_bytes

from catalog_service.exchange.records import Unreadable
from catalog_service.exchange.words import fold, words
from chassis.core.wording import shown

LONGEST_LINE = 8 << 20
"""Characters."""

_PIECE = 1 << 18
_SAMPLE = 16 * 1024
_EXAMPLES = 5
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig", "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32", "utf-32"),  # begins as UTF-16 does
    (codecs.BOM_UTF16_LE, "utf-16", "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16", "utf-16-be"),
)
_CANDIDATES = (
    *("cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp850", "cp852", "cp866"),
    *("koi8_r", "mac_roman", "gb18030", "big5", "cp932", "euc_jp", "cp949"),
)
_MULTI_BYTE = frozenset({"gb18030", "big5", "cp932", "euc_jp", "cp949"})
_NO_CHARSETS = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"})
"""Codecs that Python counts among those of texts; the first two take quadratic time."""
_OTHER = re.compile(rb"[\x80-\xff]+")
_BETWEEN_CELLS = re.compile(r"[\r\n\t,;|\"]+")
_BETWEEN_WORDS = re.compile(r"[\s,;|\"]+")
_NOT_WESTERN = re.compile(r"[¡¢£][^\x00-\x7fA-Za-zÀ-ÿ]|[a-zA-Z][¹²³¼¾¿¯¨¸´£¥][a-z]|[³¹¼¾¯][a-z³¹]")
_POLISH = re.compile(r"[a-zA-Z][¹³¿][a-zæêñ]")  # ą, ł and ż within words, in Windows-1252
_CZECH = re.compile(r"[íý](?s:.*)[øì]|[øì](?s:.*)[íý]")  # ř and ě in Windows-1252, which no language has beside í and ý
_TYPOGRAPHIC = frozenset("€‚ƒ„…†‡ˆ‰‘’“”•–—˜™\u00a0¡¢£¥§¨©«¬®¯°±²³´µ¶·¸¹»¼½¾¿×÷")  # beside letters, in Windows-1252


@dataclass(frozen=True, slots=True)
class Encoding:
    """How the bytes of a file become text: `codec` as Python calls it, `name` as people do.

    `examples` are the first words in which it mattered that the encoding was guessed; none where it was not.
    """

    codec: str
    name: str
    examples: tuple[str, ...] = ()

    @property
    def warning(self) -> str | None:
        """What a person has to look at where the encoding was guessed."""
        if not self.examples:
            return None
        words = ", ".join(map(shown, self.examples))
        return (
            f"The file does not say its encoding. It was read as {self.name}, which gives {words};"
            " if that looks wrong, name the encoding."
        )


def find_encoding(file: BinaryIO, named: str | None = None) -> Encoding:
    """Return the encoding of a seekable file: the one that is named, else its BOM's, UTF-8, UTF-16 or the likeliest.

    Raise Unreadable where the name is that of no encoding, or the file is no text.
    """
    file.seek(0)
    head = file.read(_SAMPLE)
    bom = next(((codec, name) for mark, codec, name in _BOMS if head.startswith(mark)), None)
    if named is not None:
        return _named(named, bom)
    if bom is not None:
        return Encoding(*bom)
    if b"\0" in head:
        return _wide(file, head)
    broken = _find_broken(file, "utf-8")
    if broken is None or _is_cut(file, broken):
        return Encoding("utf-8", "utf-8")
    return _guess(file, broken)


def read_lines(file: BinaryIO, encoding: Encoding) -> Iterator[str]:
    """Yield the lines of a file with their ends, which are LF; a CR is a character.

    Raise Unreadable, with its place, at what is not in the encoding and at a line that is longer than LONGEST_LINE.
    """
    rest = ""
    number = 1
    for piece in _decode(file, encoding.codec):
        lines = (rest + piece).split("\n")
        rest = lines.pop()
        for line in lines:
            yield line + "\n"
        number += len(lines)
        if len(rest) > LONGEST_LINE:
            raise Unreadable(
                f"Line {number} is longer than {LONGEST_LINE >> 20} MiB: this is no table, or it lost its line ends.",
                line=number,
            )
    if rest:
        yield rest


def _decode(file: BinaryIO, codec: str) -> Iterator[str]:
    """Yield the text of a file piece by piece; raise Unreadable where it is not in the encoding."""
    decoder = codecs.getincrementaldecoder(codec)()
    file.seek(0)
    line = 1
    offset = 0
    while True:
        piece = file.read(_PIECE)
        waiting = len(decoder.getstate()[0]) if piece or offset else 0
        try:
            text = decoder.decode(piece, final=not piece)
        except UnicodeError as error:
            start = getattr(error, "start", 0)
            seen = getattr(error, "object", b"")
            line += seen[:start].count(b"\n")
            what = "ends in the middle of a character" if not piece else f"is not {codec} here"
            raise Unreadable(
                f"Line {line}: the text {what}. Name its encoding, or save it as UTF-8.",
                line=line,
                offset=offset - waiting + start,
            ) from None
        offset += len(piece)
        line += text.count("\n")
        yield text
        if not piece:
            return


def _named(name: str, bom: tuple[str, str] | None) -> Encoding:
    try:
        codec = codecs.lookup(name)
        codecs.getincrementaldecoder(name)
    except (LookupError, ValueError):
        codec = None
    if codec is None or not codec._is_text_encoding or codec.name in _NO_CHARSETS:
        raise Unreadable(
            f"There is no encoding {shown(name)}; it can be utf-8, utf-16, windows-1252, gb18030, shift_jis, ...",
            code="unknown_encoding",
        )
    if bom is not None and codecs.lookup(bom[0]).name.removesuffix("-sig").startswith(codec.name[:6]):
        return Encoding(bom[0], name.lower())
    return Encoding(codec.name, name.lower())


def _wide(file: BinaryIO, head: bytes) -> Encoding:
    """Return the kind of UTF-16 that a file with NULs has: its separators have theirs at the same side."""
    big = head[::2].count(0) > head[1::2].count(0)
    codec = "utf-16-be" if big else "utf-16-le"
    text = head[: len(head) & ~1].decode(codec, "replace")
    plain = sum(character.isprintable() or character in "\t\r\n" for character in text)
    if plain < 0.95 * len(text) or not re.search(r"[\n\r,;\t|]", text):
        offset = head.index(0)
        raise Unreadable(
            "This is no text: it holds NUL bytes, which no encoding explains.",
            line=head[:offset].count(b"\n") + 1,
            offset=offset,
        )
    return Encoding(codec, codec)


def _find_broken(file: BinaryIO, codec: str) -> int | None:
    """Return the offset of the first byte that is not in the encoding, if there is one."""
    try:
        for _ in _decode(file, codec):
            pass
    except Unreadable as error:
        return error.offset
    return None


def _is_cut(file: BinaryIO, broken: int) -> bool:
    """Check whether the text is UTF-8 whose last character is cut off, as that of the beginning of a file can be."""
    file.seek(broken)
    end = file.read(4)
    if len(end) > 3 or not _find_words(file, broken):
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(end)
    except UnicodeDecodeError:
        return False
    return True


def _find_words(file: BinaryIO, end: int) -> bool:
    """Check whether there is a character beyond ASCII before an offset."""
    file.seek(0)
    while file.tell() < end:
        if not file.read(min(_PIECE, end - file.tell())).isascii():
            return True
    return False


def _guess(file: BinaryIO, broken: int) -> Encoding:
    """Return the likeliest encoding of a text that is not UTF-8, Windows-1252 above others."""
    sample = _sample(file)
    damaged = sample.decode("utf-8", "replace")
    strange, known = damaged.count("\ufffd"), sum(character > "\x7f" for character in damaged)
    if known - strange > 4 * strange:
        file.seek(0)
        line = file.read(broken).count(b"\n") + 1
        raise Unreadable(
            f"The text is UTF-8, but for a byte in line {line}. Mend it, or name the encoding.",
            line=line,
            offset=broken,
        )
    codecs_by_likelihood = [match.encoding for match in from_bytes(sample, cp_isolation=list(_CANDIDATES))]
    if _is_of_old_mac(file):
        codecs_by_likelihood.insert(0, "mac_roman")
    elif (codec := _by_names_of_columns(sample)) is not None:
        codecs_by_likelihood.insert(0, codec)
    elif (text := _as_western(sample)) is not None:
        if _POLISH.search(text) or _CZECH.search(text):
            codecs_by_likelihood.insert(0, "cp1250")
        elif not _NOT_WESTERN.search(text):
            codecs_by_likelihood.insert(0, "cp1252")
    for codec in [*codecs_by_likelihood, "cp1252"]:
        if _find_broken(file, codec) is None:
            words = _BETWEEN_WORDS.split(sample.decode(codec, "replace"))
            examples = dict.fromkeys(word[:40] for word in words if not word.isascii())
            return Encoding(codec, re.sub(r"^cp(125\d)$", r"windows-\1", codec), tuple(examples)[:_EXAMPLES])
    raise Unreadable("The text is in no encoding that is known here. Save it as UTF-8.", offset=broken)


def _by_names_of_columns(sample: bytes) -> str | None:
    """Return the encoding in which more cells are usual names of columns than in Windows-1252, if there is one."""
    known = {codec: _count_names(sample.decode(codec, "replace")) for codec in ("cp1252", *_CANDIDATES)}
    best = max(known, key=lambda codec: known[codec])
    return best if best != "cp1252" else None


def _count_names(text: str) -> int:
    return sum(fold(cell) in _names_of_columns() for cell in _BETWEEN_CELLS.split(text) if not cell.isascii())


@cache
def _names_of_columns() -> frozenset[str]:
    return frozenset(fold(name) for names in words()["headers"].values() for name in names if not name.isascii())


def _sample(file: BinaryIO) -> bytes:
    """Return the first lines that are not ASCII, as much of them as tells their encoding."""
    file.seek(0)
    sample = b""
    for line in iter(lambda: file.readline(_SAMPLE), b""):
        if not line.isascii():
            sample += line
            if len(sample) >= _SAMPLE:
                break
    return sample


def _is_of_old_mac(file: BinaryIO) -> bool:
    """Check whether the first line ends at a CR alone, as in what Excel saves as CSV (Macintosh)."""
    file.seek(0)
    return re.match(rb"[^\r\n]*\r[^\n]", file.read(_SAMPLE)) is not None


def _as_western(sample: bytes) -> str | None:
    """Return the text if the bytes beyond ASCII stand alone and are letters, as they do in most words of Europe.

    Asked alone, the detector takes a few of them for Chinese or for an encoding of the time of DOS.
    """
    try:
        text = sample.decode("cp1252")
    except UnicodeDecodeError:
        return None
    runs = [len(run) for run in _OTHER.findall(sample)]
    alone = sum(run <= 2 for run in runs)
    words = all(character.isalpha() or character in _TYPOGRAPHIC for character in text if character > "\x7f")
    return text if alone >= 0.8 * len(runs) and words else None
