"""Why a file is not read."""


class FileRefused(Exception):
    """A file, or a part of it, cannot be read or breaks a limit. `message` is a sentence for the user.

    `line` and `column` count from 1, `offset` is in bytes from 0; whichever of them is known. `code` names the reason
    where the reader of a format has one of its own.
    """

    def __init__(
        self,
        message: str,
        *,
        line: int | None = None,
        column: int | None = None,
        offset: int | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column
        self.offset = offset
        self.code = code
