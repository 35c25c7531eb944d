"""Made-up words, texts and names that no other test uses, since tests share one server."""

import secrets
import string


def word(letters: int = 9) -> str:
    """A lower-case word that no one has used before, so that it matches nothing but itself."""
    return "".join(secrets.choice(string.ascii_lowercase) for _ in range(letters))


def project_key() -> str:
    """The key of a project that nobody has made."""
    return word(10).upper()


def words(count: int) -> str:
    """``count`` such words with a space between them."""
    return " ".join(word() for _ in range(count))


def email() -> str:
    """An address nobody has registered; ``.test`` is reserved, so that no mail can ever reach it."""
    return f"{word()}@people.test"
