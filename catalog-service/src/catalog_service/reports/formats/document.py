"""What documents that are written row by row have in common."""

from collections.abc import Sequence
from typing import IO, ClassVar, Generic, Protocol, TypeVar

A = TypeVar("A")
R_contra = TypeVar("R_contra", contravariant=True)
A_co = TypeVar("A_co", covariant=True)


class Document(Protocol[A_co, R_contra]):
    """A document under way: begun with what it is about, given the rows, finished, closed; its needs go to `folder`."""

    media_type: ClassVar[str]
    headers: ClassVar[dict[str, str]]
    worst_first: ClassVar[bool]
    """Whether what is worst comes first; otherwise rows stand by module."""

    def __init__(self, file: IO[bytes], folder: str, about: A_co) -> None: ...

    def write(self, rows: Sequence[R_contra]) -> None:
        """Take some more rows."""

    def finish(self) -> None:
        """Write what comes last."""

    def close(self) -> None:
        """Release what it holds; the file stays open."""


class TextDocument(Generic[A]):
    """What documents of text have in common."""

    headers: ClassVar[dict[str, str]] = {}
    worst_first: ClassVar[bool] = False

    def __init__(self, file: IO[bytes], folder: str, about: A) -> None:
        self._file = file
        self._about = about

    def _put(self, text: str) -> None:
        self._file.write(text.encode())

    def finish(self) -> None:
        """See Document.finish."""

    def close(self) -> None:
        """See Document.close."""
