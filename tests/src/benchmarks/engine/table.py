"""Tables of figures, a row at a time: the next one may take minutes."""

_NAME = 44
_CELL = 14


def header(title: str, *columns: str) -> None:
    """Print what the table shows, and the names of its columns."""
    print(f"\n{title}")
    row("", *columns)


def row(name: str, *cells: str) -> None:
    """Print a row; an empty cell has no figure."""
    print((f"{name:{_NAME}}" + "".join(f"{cell:>{_CELL}}" for cell in cells)).rstrip(), flush=True)


def seconds(value: float) -> str:
    """Return seconds with as many digits as mean something."""
    return f"{value:,.{3 if value < 1 else 2 if value < 100 else 0}f}"
