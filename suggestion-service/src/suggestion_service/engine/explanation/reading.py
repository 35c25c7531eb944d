"""The texts of an item, read once for the explanations of all its pairs."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise, product

from suggestion_service.engine.text.languages import ENGLISH
from suggestion_service.engine.text.sentences import MOST_SENTENCES, sentences
from suggestion_service.engine.text.terms import (
    ItemText,
    count_words,
    find_words,
    is_whole,
    item_language,
    item_texts,
    normalised,
    terms_of,
    tokens,
    unspaced_runs,
)

_MOST_READ = 50_000
"""Characters: the twenty pages at the beginning of an item. A text of a megabyte would take a second."""

Bigram = tuple[str, str]
"""Two terms, the second right after the first, that are one to a reader."""

BETWEEN = re.compile(r"[ \u00a0\u202f-]?")
"""What may stand between a number and its unit."""
_NAME = re.compile(r"\w+(?:[-./:]\w+)+")
_JOINT = re.compile(r"[-./:]\b")
"""What there is in every name, found in a fraction of the time."""
_SPLINTER = 4
_KANJI = "[\u3400-\u9fff\u3005]"
_DIGIT = re.compile(r"\d")
_NO_TERMS, _NO_BIGRAMS = frozenset[str](), frozenset[Bigram]()
_QUANTITY = re.compile(rf"(?<!\w)(\d+){BETWEEN.pattern}([^\W\d_]+)(?!\w)")


@dataclass(frozen=True, slots=True)
class Reading:
    """The texts of an item as explanations need them.

    `words` has every term of it, and how it is shown to a person. `passages_with` has which passages have a term:
    bit n is set for passage n. `compounds` names, for terms that stand in longer words alone, the terms of these.
    `quantities` are numbers with their units, as they are shown. `bigrams` follow one another in `unspaced`, the
    texts in scripts without spaces. `title` has the words of the title as they are shown, by term; the first
    `titles` passages are those of the title. `fragments` are the terms that stand in longer words or in names
    alone. `cut`: only the beginning was read. `names` are those of terms that are called otherwise here than in their
    language.
    """

    words: Mapping[str, str]
    passages_with: Mapping[str, int]
    compounds: Mapping[str, Set[str]]
    quantities: Mapping[Bigram, str]
    bigrams: frozenset[Bigram]
    unspaced: str
    title: Mapping[str, str]
    passages: Sequence[str]
    titles: int
    language: str = ENGLISH
    fragments: Set[str] = frozenset()
    cut: bool = False
    names: Mapping[str, str] = field(default_factory=dict)

    def renamed(self, names: Mapping[str, str]) -> "Reading":
        """Return the same with its terms called by their `names`; those that have none keep theirs."""

        def name(term: str) -> str:
            return names.get(term, term)

        words: dict[str, str] = {}
        for term, shown in self.words.items():
            words.setdefault(name(term), shown)
        places: dict[str, int] = {}
        for term, bits in self.passages_with.items():
            places[name(term)] = places.get(name(term), 0) | bits
        return replace(
            self,
            words=words,
            passages_with=places,
            compounds={name(term): {name(word) for word in words} for term, words in self.compounds.items()},
            quantities={(name(one), name(other)): shown for (one, other), shown in self.quantities.items()},
            title={name(term): shown for term, shown in self.title.items()},
            fragments={name(term) for term in self.fragments},
            names=names,
        )

    def terms_of(self, word: str) -> Set[str]:
        """Return the terms of one of its words."""
        terms = terms_of(word, self.language)
        return {self.names.get(term, term) for term in terms} if self.names else terms

    def has_run(self, run: str) -> bool:
        """Check whether letters of a script without spaces stand together here, and no piece of a longer word does.

        In Chinese nothing tells words apart.
        """
        if self.language != "ja":
            return len(run) > 1 and run in self.unspaced
        return re.search(f"(?<!{_KANJI}){re.escape(run)}(?!{_KANJI})", self.unspaced) is not None

    def shown(self, term: str) -> str:
        """Return how a term is shown to a person: as it is where it stands behind what was read."""
        return self.words.get(term, term)


def read(item: ItemText, language: str | None = None) -> Reading:
    """Read an item, of very long texts the beginning; takes some tenths of a millisecond for a text of a page.

    `language`: that which its terms were counted in; else the one that it shows.
    """
    item, cut = _beginning(item)
    language = item_language(item) if language is None else language
    title, *texts = item_texts(item)
    of_title, of_texts = normalised(title), normalised("\n".join(texts))
    whole_text = f"{of_title}\n{of_texts}"
    titles = _passages([title])
    body = [item.description, item.preconditions or "", *(item.steps or {}).values(), item.postconditions or ""]
    passages = [*titles, *_passages(body)][:MOST_SENTENCES]
    words, compounds = _spelt(count_words(of_title, of_texts), language)
    unspaced = "" if whole_text.isascii() else "\n".join(run[0] for run in unspaced_runs(whole_text))
    return Reading(
        words=words,
        passages_with=_passages_with(passages, language),
        compounds=compounds,
        quantities=dict(_quantities(whole_text, language)) if _DIGIT.search(whole_text) else {},
        bigrams=frozenset(_bigrams(unspaced)) if unspaced else _NO_BIGRAMS,
        unspaced=unspaced,
        title={
            token.term: token.shown
            for word in find_words(normalised(_whole_words(item)))
            for token in tokens(word, language)
        },
        passages=passages,
        titles=len(titles),
        language=language,
        fragments=_in_names_alone(whole_text, language) | compounds.keys(),
        cut=cut,
    )


def _beginning(item: ItemText) -> tuple[ItemText, bool]:
    """Return an item with as much of its texts as is read, and whether that is less than all."""
    texts = [item.description, item.preconditions or "", *(item.steps or {}).values(), item.postconditions or ""]
    if sum(map(len, texts)) <= _MOST_READ:
        return item, False
    left = _MOST_READ

    def some(text: str) -> str:
        nonlocal left
        begin = text[:left]
        left -= len(begin)
        return begin

    beginning = replace(
        item,
        description=some(item.description),
        preconditions=None if item.preconditions is None else some(item.preconditions),
        steps=None if item.steps is None else {number: some(text) for number, text in item.steps.items()},
        postconditions=None if item.postconditions is None else some(item.postconditions),
    )
    return beginning, True


def _whole_words(item: ItemText) -> str:
    """Return the title without a last word that was cut, where it is the beginning of the description."""
    title, description = item.title.strip(), item.description.strip()
    following = description[len(title) : len(title) + 1]
    if following.isalnum() and title[-1:].isalnum() and description.startswith(title) and " " in title:
        return title.rpartition(" ")[0]
    return title


def _passages(texts: Iterable[str]) -> list[str]:
    found = (" ".join(sentence.split()) for text in texts if text for sentence in sentences(text))
    return list(islice(found, MOST_SENTENCES))


def _passages_with(passages: Sequence[str], language: str) -> dict[str, int]:
    places: dict[str, int] = {}
    for number, passage in enumerate(passages):
        words = dict.fromkeys(find_words(normalised(passage)))
        bit = 1 << number
        for term in _NO_TERMS.union(*[terms_of(word, language) for word in words]):
            places[term] = places.get(term, 0) | bit
    return places


def _spelt(counts: Mapping[str, int], language: str) -> tuple[dict[str, str], dict[str, set[str]]]:
    """Return for each term the word that stands for it most often; and for those that stand in longer words alone, the
    terms of these.
    """
    words: dict[str, str] = {}
    rivals: set[str] = set()
    compounds: dict[str, set[str]] = {}
    for word in counts:
        of_word = tokens(word, language)
        for term, shown, _, _ in of_word:
            if words.setdefault(term, shown) != shown:
                rivals.add(term)
        if len(of_word) > 1 and is_whole(of_word):
            for part in of_word[1:]:
                compounds.setdefault(part.term, set()).add(of_word[0].term)
    if rivals:
        forms: dict[str, Counter[str]] = {term: Counter() for term in rivals}
        for word, times in counts.items():
            if not rivals.isdisjoint(terms_of(word, language)):
                for term, shown, _, _ in tokens(word, language):
                    if term in rivals:
                        forms[term][shown] += times
        words |= {term: of_term.most_common(1)[0][0] for term, of_term in forms.items()}
    if compounds:
        for word in counts:
            of_word = tokens(word, language)
            if not is_whole(of_word):
                for term, _, _, _ in of_word:
                    compounds.pop(term, None)
    return words, compounds


def _in_names_alone(text: str, language: str) -> set[str]:
    """Return the terms that stand in names like `pub-lang` or `CMT-0012` alone: splinters, as far as one can tell.

    A word of a compound with a hyphen, as in `account-locking`, is long and has no number beside it.
    """
    if not _JOINT.search(text):
        return set()
    names = [name[0] for name in _NAME.finditer(text)]
    elsewhere = set(find_words(_NAME.sub(" ", text)))
    found: set[str] = set()
    for name in names:
        has_number = any(map(str.isdigit, name)) or "_" in name
        for word in find_words(name):
            if word not in elsewhere and (has_number or len(word) <= _SPLINTER):
                found |= terms_of(word, language)
    return found


def _quantities(text: str, language: str) -> Iterator[tuple[Bigram, str]]:
    for number, unit in _QUANTITY.findall(text):
        for first, second in product(tokens(number, language)[:1], tokens(unit, language)[:1]):
            yield (first.term, second.term), f"{number} {unit}"


def _bigrams(unspaced: str) -> Iterator[Bigram]:
    for run in unspaced.split("\n"):
        yield from pairwise(run[i : i + 2] for i in range(len(run) - 1))
