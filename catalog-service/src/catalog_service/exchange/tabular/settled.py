"""Takes back what columns were taken for by their headers, where their values cannot be that."""

from catalog_service.exchange.tabular.presets import Sample
from catalog_service.exchange.tabular.proposed_kind import are_ids
from catalog_service.exchange.tabular.proposed_values import Guess

_FEWEST_ROWS = 4


def settle_serial_numbers(sample: Sample, guesses: dict[int, Guess]) -> None:
    """Take no numbers 1, 2, 3, ... of rows for ids where another column has an id in each row."""
    at = next((at for at, guess in guesses.items() if guess.field == "external_id"), None)
    if at is None:
        return
    values = sample.values(at)
    if len(values) < 2 or values != [str(number) for number in range(1, len(values) + 1)]:
        return
    other = next((place for place in range(len(sample.columns)) if _are_own_ids(sample, place, guesses)), None)
    if other is not None:
        del guesses[at]
        guesses[other] = Guess("external_id", 0.75, "Each row has one of its own; the other column only counts rows.")


def _are_own_ids(sample: Sample, at: int, guesses: dict[int, Guess]) -> bool:
    values = sample.values(at)
    is_free = at not in guesses or guesses[at].confidence < 0.9 or guesses[at].field == "tags"
    has_letters = all(any(map(str.isalpha, value)) for value in values)
    return is_free and has_letters and are_ids(values) and len(set(values)) == len(values) == len(sample.rows)


def settle_repeated_titles(sample: Sample, guesses: dict[int, Guess]) -> None:
    """Take no column for the title that says the same in most rows, where ids tell these apart and there are texts."""
    places = {guess.field: at for at, guess in guesses.items()}
    at, ids = places.get("title"), places.get("external_id")
    if at is None or ids is None or "description" not in places:
        return
    keys = sample.values(ids)
    if len(keys) == len(set(keys)) and _repeats(sample, at) and not _repeats(sample, places["description"]):
        del guesses[at]


def _repeats(sample: Sample, at: int) -> bool:
    values = sample.values(at)
    return len(values) >= _FEWEST_ROWS and len(set(values)) <= len(values) / 2
