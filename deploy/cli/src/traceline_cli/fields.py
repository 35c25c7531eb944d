"""`traceline fields`: what the items of a project have beside the fields of all."""

import json
from pathlib import Path
from typing import Any

import click

from traceline_cli.api import content_of
from traceline_cli.context import Context, pass_context
from traceline_cli.failures import Exit, Failure


@click.command()
@click.option(
    "--set",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Define them as this file says, as --json prints them: what it leaves out is removed. For project admins.",
)
@pass_context
def fields(context: Context, file: Path | None) -> None:
    """Print the fields of the project, or define them; lists, exports and the gate filter by field.KEY."""
    api = context.api()
    answer = api.get("/fields") if file is None else api.put("/fields", json=_read(file))
    defined = content_of(answer, "fields")
    context.terminal.answer(defined, *(_line(one) for one in defined["fields"]))


def _read(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Failure(Exit.WRONG_USE, f"{file} is no JSON: {error}") from None


def _line(field: dict[str, Any]) -> str:
    of = " and ".join(f"{kind.replace('_', ' ')}s" for kind in field["of"])
    marks = [", ".join(field["choices"]), *(name for name in ("required", "meaning") if field[name])]
    rest = "".join(f"; {mark}" for mark in marks if mark)
    return f"{field['key']}  {field['name']}  {field['kind']} of {of}{rest}"
