"""From what was typed to what PostgreSQL is asked."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from catalog_service.search.folding import CJK, composed
from catalog_service.search.tokens import Token, tokenize
from chassis.db.database import Connection

_BEGINNINGS = 8
"""Of a query of more words, a pasted title for example, only the last is searched by its beginning, and all by fewer
forms: each item that has a word is looked at for each form.
"""
_SHORT = 2
"""Nearly everything has a word with so short a beginning: only the last word may be one."""

_ENDINGS = (
    " s e es d ed ing ings er ers est ies ied ly edly ingly ment ments ement ements ness al ally ance ances ence ences"
    " ant ants ent ents able ible ably ibly ion ions ional ation ations ational ator ators or ors ive ives ively ful"
    " fully fulness ity ities ic ics ical ically ism ist ists ize izes ized izing ization ise ises ised ising isation"
    " ous ously"
)
_INFLECTIONS = " s e es d ed ing ings ies ied y"
"""Of a word that is left out, and of one among many, no more than these count."""
_AFTER_DOUBLED = "ed ing ings er ers est"
_AFTER_Y = " ing ings"
_READ_WORDS = """
    SELECT piece - 1 AS piece, lexeme, place, ts_lexize('search_words', lexeme) = '{}' AS stop, forms
    FROM unnest(%(pieces)s::text[], %(excluded)s::boolean[]) WITH ORDINALITY AS typed (said, excluded, piece),
         unnest(to_tsvector('simple', search_text(said))) AS word (lexeme, positions, weights),
         unnest(positions) AS place
    LEFT JOIN LATERAL (
        SELECT array_agg(DISTINCT form) AS forms
        FROM (SELECT ts_lexize('english_stem', lexeme) AS stems WHERE lexeme ~ '^[a-z]{3,40}$') AS stemmed,
             LATERAL (SELECT stems[1] AS stem) AS one,
             LATERAL (
                 SELECT CASE WHEN excluded OR %(many)s THEN %(inflections)s ELSE %(endings)s END::text[] AS endings
             ) AS tried,
             LATERAL (
                 SELECT stem || ending AS form FROM unnest(endings) AS ending
                 UNION ALL SELECT regexp_replace(stem, 'e$', '') || ending FROM unnest(endings) AS ending
                 UNION ALL SELECT stem || right(stem, 1) || ending FROM unnest(%(after_doubled)s::text[]) AS ending
                 UNION ALL SELECT regexp_replace(stem, 'i$', 'y') || ending FROM unnest(%(after_y)s::text[]) AS ending
             ) AS made
        WHERE stems <> '{}' AND ts_lexize('english_stem', form) = stems
    ) AS inflected ON true
    ORDER BY piece, place
"""
"""Each word with those that are another form of it: the stem is that of English, the forms are tried out."""
_VERSION = re.compile(r"[0-9]+\.[0-9]")
_ONE_CJK, _CJK_PAIR = re.compile(f"[{CJK}]"), re.compile(f"[{CJK}]{{2}}")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a piece: its other forms, and how many words further it is than the one before it."""

    lexeme: str
    forms: tuple[str, ...] = ()
    distance: int = 1
    stop: bool = False
    cjk: bool = False


@dataclass(frozen=True, slots=True)
class Term:
    """A piece with its words, one after the other in what is found; `beginning`: the last may go on."""

    typed: Token
    words: tuple[Word, ...]
    beginning: bool
    before: tuple[Token, ...] = ()
    """Where the same was typed before."""

    @property
    def condition(self) -> str:
        """What it asks for, as a tsquery."""
        return self._tsquery(beginning=self.beginning, forms=True)

    @property
    def exact(self) -> str:
        """The same for the very words."""
        return self._tsquery(beginning=False, forms=False)

    @property
    def first(self) -> tuple[str, ...]:
        """The ways to write its first word: that of a version, as 1.2.3, may have a v before it."""
        lexeme = self.words[0].lexeme
        return (lexeme, f"v{lexeme}") if _VERSION.match(self.typed.text) else (lexeme,)

    def _tsquery(self, *, beginning: bool, forms: bool) -> str:
        *before, last = self.words
        asked = ""
        if before:
            first = " | ".join(map(quoted, self.first if forms else self.first[:1]))
            rest = "".join(f" <{word.distance}> {quoted(word.lexeme)}" for word in before[1:])
            asked = f"({first}){rest} <{last.distance}> "
        # One character of Chinese stands in pairs, as the first of one.
        goes_on = beginning or (last.cjk and len(last.lexeme) == 1)
        end = quoted(last.lexeme) + (":*" if goes_on else "")
        if before or self.typed.phrase or not forms:
            return f"({asked}{end})"
        others = [form for form in last.forms if not (goes_on and form.startswith(last.lexeme))]
        return f"({' | '.join([end, *map(quoted, others)])})"


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A parsed query. `text` is what was typed, without blanks around it."""

    text: str
    terms: tuple[Term, ...] = field(default=())

    @property
    def condition(self) -> str:
        """A tsquery of what is found."""
        return self._joined([(term, term.condition) for term in self.terms])

    @property
    def exact(self) -> str:
        """A tsquery of what is found by the very words: it ranks higher."""
        return self._joined([(term, term.exact) for term in self.terms])

    @property
    def wanted(self) -> list[Term]:
        """The terms that what is found has."""
        return [term for term in self.terms if not term.typed.excluded]

    @property
    def needs_texts(self) -> bool:
        """Whether the index alone cannot tell what is found: it knows no order of words, and not what lacks one."""
        return any(len(term.words) > 1 or term.typed.excluded for term in self.terms)

    @staticmethod
    def _joined(asked: Sequence[tuple[Term, str]]) -> str:
        alternatives = groupby(asked, key=lambda one: one[0].typed.alternative)
        said = (
            f"({' & '.join('!' * term.typed.excluded + condition for term, condition in of_one)})"
            for _, of_one in alternatives
        )
        return " | ".join(dict.fromkeys(said))


async def parse_query(connection: Connection, text: str) -> SearchQuery:
    """Return the query of a text of at most 500 characters; nothing in it may be a word, then it finds nothing."""
    text = composed(text).strip()
    same: dict[tuple[str, bool, bool, int], list[Token]] = {}
    for token in tokenize(text):
        same.setdefault((token.text.lower(), token.excluded, token.phrase, token.alternative), []).append(token)
    said_once = sorted(same.values(), key=lambda tokens: tokens[-1].start)
    typed = [tokens[-1] for tokens in said_once]
    cursor = await connection.execute(
        _READ_WORDS,
        {
            "pieces": [piece.text for piece in typed],
            "excluded": [piece.excluded for piece in typed],
            "many": len(typed) > _BEGINNINGS,
            "endings": _ENDINGS.split(" "),
            "inflections": _INFLECTIONS.split(" "),
            "after_doubled": _AFTER_DOUBLED.split(" "),
            "after_y": _AFTER_Y.split(" "),
        },
    )
    said: dict[int, list[Word]] = {}
    places: dict[int, int] = {}
    for row in await cursor.fetchall():
        place = row["place"]
        distance = place - places.get(row["piece"], place - 1)
        places[row["piece"]] = place
        said.setdefault(row["piece"], []).append(
            Word(row["lexeme"], tuple(row["forms"] or ()), distance, bool(row["stop"]))
        )
    pieces = [(typed[number], _without_edges(words)) for number, words in sorted(said.items())]
    if not all(word.stop for piece, words in pieces if not piece.excluded for word in words):
        pieces = [(piece, kept) for piece, words in pieces if (kept := _without_stop_words(words))]
    terms = []
    before = {tokens[-1]: tuple(tokens[:-1]) for tokens in said_once}
    for number, (piece, words) in enumerate(pieces):
        last = number == len(pieces) - 1
        begins = last or (len(pieces) <= _BEGINNINGS and len(words[-1].lexeme) > _SHORT)
        # Who excludes `do` does not mean `door`.
        beginning = piece.text.endswith("*") if piece.excluded else begins and not piece.phrase
        terms.append(Term(piece, tuple(words), beginning and not words[-1].cjk, before[piece]))
    return SearchQuery(text, tuple(terms))


def _without_edges(words: list[Word]) -> list[Word]:
    """Leave out the single characters around pairs of neighbours: `A AB BC C` is asked for as `AB BC`."""
    kept: list[Word] = []
    gap = 0
    for number, word in enumerate(words):
        cjk = _ONE_CJK.match(word.lexeme) is not None
        if cjk and len(word.lexeme) == 1:
            before, after = words[max(0, number - 1) : number], words[number + 1 : number + 2]
            begins = after and _CJK_PAIR.fullmatch(after[0].lexeme) and after[0].lexeme[0] == word.lexeme
            if begins or (before and before[0].lexeme[-1] == word.lexeme):
                gap += word.distance
                continue
        kept.append(Word(word.lexeme, word.forms, word.distance + gap, word.stop, cjk))
        gap = 0
    return kept


def _without_stop_words(words: list[Word]) -> list[Word]:
    """Leave out stop words; one between two others still counts as a word."""
    kept: list[Word] = []
    gap = 0
    for word in words:
        if word.stop:
            gap += word.distance
        else:
            kept.append(Word(word.lexeme, word.forms, word.distance + gap, cjk=word.cjk))
            gap = 0
    return kept


def quoted(lexeme: str) -> str:
    """Return a word as it stands in a tsquery."""
    doubled = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{doubled}'"
