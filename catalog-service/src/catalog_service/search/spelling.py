"""What may have been meant by a word that is nowhere: the nearest word that is somewhere.

There is no list of words to keep: that would cost each create. The index of the search documents knows all words, and
tells at once which of some hundred spellings that are one typing error away occur; for what is further away, words
that begin alike are compared.
"""

from collections.abc import Collection, Sequence
from string import ascii_lowercase
from typing import NamedTuple

from catalog_service.search.folding import fold
from catalog_service.search.query import SearchQuery, Term, quoted
from catalog_service.search.tokens import Token
from chassis.db.database import Connection

_SHORTEST, _LONGEST = 4, 30
_WORDS = 4
"""So many words of a query are corrected at most."""
_ALPHABETS = (ascii_lowercase, "абвгдежзиклмнопрстуфхцчшщъыьэюя", "αβγδεζηθικλμνξοπρστυφχψω")
_SAMPLE = 100
"""From so many items of a kind words are taken to compare."""
_LOOKS = 2
_TABLES = {"requirement": "requirements", "test_case": "test_cases"}
_ASKED = "(SELECT %(asked)s::tsquery)"
"""What is asked for, unseen by the planner: it takes several hundred words for frequent, and only the index knows at
once that they are nowhere.
"""


class _Unknown(NamedTuple):
    term: Term
    lexeme: str


async def did_you_mean(connection: Connection, query: SearchQuery, kinds: Sequence[str]) -> str | None:
    """Return the query with what is nowhere replaced by the nearest that is, or None; it has found nothing."""
    corrections = []
    for term, lexeme in reversed(await _unknown(connection, query, kinds)):
        nearest = await _nearest(connection, lexeme, kinds)
        if nearest is not None:
            corrections += [(token, lexeme, nearest) for token in (term.typed, *term.before)]
    corrected = query.text
    for token, lexeme, nearest in sorted(corrections, key=lambda one: one[0].start, reverse=True):
        corrected = _replaced(corrected, token, lexeme, nearest)
    return corrected if corrected != query.text else None


async def _unknown(connection: Connection, query: SearchQuery, kinds: Sequence[str]) -> list[_Unknown]:
    """Return the words that nothing has, in the order of the query."""
    asked = [
        (_Unknown(term, word.lexeme), term.condition if len(term.words) == 1 else quoted(word.lexeme))
        for term in query.wanted
        for word in term.words
        if word.lexeme.isalpha() and not word.cjk and _SHORTEST <= len(word.lexeme) <= _LONGEST
    ]
    unknown = []
    for one, condition in asked:
        newest = " OR ".join(f"EXISTS ({_newest(kind)} WHERE search @@ {_ASKED})" for kind in kinds)
        cursor = await connection.execute(
            f"SELECT {newest} OR {_somewhere(_ASKED, kinds)} AS known", {"asked": condition}, prepare=False
        )
        row = await cursor.fetchone()
        if row is not None and not row["known"]:
            unknown.append(one)
            if len(unknown) == _WORDS:
                break
    return unknown


def _newest(kind: str) -> str:
    """A word that many items have is found here, before the index counts them all."""
    return f"SELECT FROM (SELECT search FROM {_TABLES[kind]} ORDER BY created_at DESC, id LIMIT {_SAMPLE}) AS newest"


def _somewhere(word: str, kinds: Sequence[str]) -> str:
    return "(" + " OR ".join(f"EXISTS (SELECT FROM {_TABLES[kind]} WHERE search @@ {word})" for kind in kinds) + ")"


async def _nearest(connection: Connection, word: str, kinds: Sequence[str]) -> str | None:
    likely, possible = spellings(word)
    for near in (likely, possible):
        if occurring := await _occurring(connection, near, kinds):
            found = await _words(connection, " | ".join(map(quoted, occurring)), kinds, among=occurring)
            return max(occurring, key=lambda one: (found.get(one, 0), one))
    errors = 2 if len(word) < 10 else 3
    for length in sorted({len(word) * 2 // 3, len(word) // 2, 3}, reverse=True):
        beginning = word[:length]
        others: dict[str, int] = {}
        for _ in range(_LOOKS):
            asked = " & ".join([f"{quoted(beginning)}:*", *(f"!{quoted(other)}" for other in others)])
            found = await _words(connection, asked, kinds, beginning=beginning)
            away = {one: distance(word, one) for one in found}
            best = min(away, key=lambda one: (away[one], -found[one], one), default=None)
            if best is not None and away[best] <= errors:
                return best
            if not found:
                break
            others |= found
    return None


async def _occurring(connection: Connection, words: Collection[str], kinds: Sequence[str]) -> list[str]:
    """Return those of the words that some item has.

    Each is looked up alone: a condition of all of them would be gone through for each item that has one.
    """
    cursor = await connection.execute(
        f"SELECT word FROM unnest(%(words)s::text[], %(asked)s::text[]) AS one (word, asked)"
        f" WHERE {_somewhere('asked::tsquery', kinds)}",
        {"words": list(words), "asked": [quoted(word) for word in words]},
        prepare=False,
    )
    return [row["word"] for row in await cursor.fetchall()]


async def _words(
    connection: Connection,
    condition: str,
    kinds: Sequence[str],
    *,
    among: Sequence[str] | None = None,
    beginning: str = "",
) -> dict[str, int]:
    """Return the words of some items that fulfil a tsquery, with how many of these items have them."""
    documents = " UNION ALL ".join(
        f"(SELECT search FROM {_TABLES[kind]} WHERE search @@ {_ASKED} LIMIT {_SAMPLE})" for kind in kinds
    )
    wanted = "lexeme = ANY(%(among)s)" if among is not None else "starts_with(lexeme, %(beginning)s)"
    cursor = await connection.execute(
        f"SELECT lexeme, count(*) AS items FROM ({documents}) AS documents, unnest(search) WHERE {wanted}"
        " GROUP BY lexeme",
        {"asked": condition, "among": among, "beginning": beginning},
        prepare=False,
    )
    return {row["lexeme"]: row["items"] for row in await cursor.fetchall()}


def spellings(word: str) -> tuple[set[str], set[str]]:
    """Return what is one typing error away: likely ones, with two letters swapped or one doubled, and all others."""
    letters = next((alphabet for alphabet in _ALPHABETS if word[0] in alphabet), "".join(sorted(set(word))))
    cuts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    likely = {left + right[1] + right[0] + right[2:] for left, right in cuts if len(right) > 1}
    likely |= {left + right[0] + right for left, right in cuts if right}
    likely |= {left + right[1:] for left, right in cuts if len(right) > 1 and right[0] == right[1]}
    possible = {left + right[1:] for left, right in cuts if right}
    possible |= {left + letter + right for left, right in cuts for letter in letters}
    possible |= {left + letter + right[1:] for left, right in cuts if right for letter in letters}
    return likely - {word}, possible - likely - {word}


def distance(one: str, other: str) -> int:
    """Return how many letters are to be added, left out, changed or swapped with the next to get from one to other."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one, 1):
        earlier, before, row = before, row, [place]
        for column, wanted in enumerate(other, 1):
            best = min(before[column] + 1, row[-1] + 1, before[column - 1] + (letter != wanted))
            if place > 1 and column > 1 and letter == other[column - 2] and one[place - 2] == wanted:
                best = min(best, earlier[column - 2] + 1)
            row.append(best)
    return row[-1]


def _replaced(text: str, token: Token, word: str, by: str) -> str:
    """Return a composed text with a word of a token replaced; what is around it stays."""
    start, end = token.start, token.end
    folded = fold(text[start:end])
    at = folded.text.find(word)
    if at < 0:
        return text
    first, last = folded.span(at, at + len(word))
    return text[: start + first] + by + text[start + last :]
