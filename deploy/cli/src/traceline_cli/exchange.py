"""`traceline import` and `traceline export`."""

import json
import secrets
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from traceline_cli.api import Api, content_of
from traceline_cli.context import Context, pass_context
from traceline_cli.failures import Exit, Failure

_WITHIN = 1800.0
_MOST_SHOWN = 20
_OF_JOB = ("id", "status", "counts", "plan_hash", "error")


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--apply", "applies", is_flag=True, help="Apply the plan when it is clean; without it nothing is changed."
)
@click.option("--dry-run", is_flag=True, help="Only plan, which is the default.")
@click.option("--check", is_flag=True, help="End with exit code 1 when the plan is not clean.")
@click.option("--mapping", help="A saved mapping or a preset, by its name.")
@click.option("--kind", type=click.Choice(["requirements", "test_cases", "links", "all"]))
@click.option("--format", "file_format", help="The format; by default what the file looks like.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="Any other option of POST /imports.")
@pass_context
def import_file(
    context: Context,
    file: Path,
    *,
    applies: bool,
    dry_run: bool,
    check: bool,
    mapping: str | None,
    kind: str | None,
    file_format: str | None,
    options: tuple[str, ...],
) -> None:
    """Plan what a FILE of another tool would change, and apply it with --apply."""
    if applies and dry_run:
        raise click.UsageError("--apply and --dry-run exclude one another.")
    api = context.api()
    query = {**pairs(options), "mapping": mapping, "kind": kind, "format": file_format, "file_name": file.name}
    with context.terminal.progress(f"import of {file.name}") as look:
        job = _planned(api, file, query, look)
        if job["status"] == "failed":
            error = job["error"]
            raise Failure(Exit.REFUSED, error["detail"], problem=error).of_file(file)
        summary = job.get("summary") or {}
        clean = bool(summary.get("clean"))
        problems = [] if clean else _problems(api, job["id"])
        if applies and clean and job["status"] == "planned":
            job = _applied(api, job, look)
    not_taken = [one for one in summary.get("warnings", ()) if one.get("unclean")]
    for line in _shown(file, [*problems, *not_taken]):
        context.terminal.say(line)
    context.terminal.answer(job, *_counts(job))
    if applies and job["status"] != "applied":
        raise Failure(
            Exit.REFUSED,
            "Nothing was applied: mend the file, see what the options of the import can do, or apply what of it can be"
            " with --option apply=always.",
        )
    if check and not clean:
        raise SystemExit(Exit.NOT_PASSED)


def _planned(api: Api, file: Path, query: dict[str, Any], look: Any) -> Any:
    headers = {"Content-Type": "application/octet-stream", "Content-Length": str(file.stat().st_size)}
    try:
        asked = api.post("/imports", params=query, file=file, headers=headers)
        return api.follow(asked, *_OF_JOB, within=_WITHIN, look=look)
    except Failure as failure:
        raise failure.of_file(file) from None


def _applied(api: Api, job: dict[str, Any], look: Any) -> Any:
    path = f"/imports/{job['id']}"
    try:
        asked = api.post(f"{path}/apply", json={"expect": job["plan_hash"]})
    except Failure:
        # An earlier try may have come through without its answer: then it is under way.
        asked = api.get(path)
        if content_of(asked, "status")["status"] not in {"applying", "applied"}:
            raise
        asked.status_code = 202
    return api.follow(asked, *_OF_JOB, within=_WITHIN, look=look)


def _problems(api: Api, job_id: str) -> list[dict[str, Any]]:
    rows = content_of(api.get(f"/imports/{job_id}/rows", action="error,conflict", limit=_MOST_SHOWN), "items")["items"]
    return [{**row, **problem} for row in rows for problem in row.get("problems") or [{"message": row.get("code")}]]


def _shown(file: Path, problems: list[dict[str, Any]]) -> list[str]:
    return [
        ":".join(str(part) for part in (file, one.get("line") or one.get("row"), one.get("column")) if part is not None)
        + f": {one.get('message') or one.get('code')}"
        for one in problems
    ]


def _counts(job: dict[str, Any]) -> list[str]:
    lines = [f"import {job['id']}: {job['status']}"]
    for kind, counts in (job.get("counts") or {}).items():
        if isinstance(counts, dict) and any(counts.values()):
            lines.append(f"  {kind}: " + ", ".join(f"{count} {action}" for action, count in counts.items() if count))
    to_score = (job.get("summary") or {}).get("to_score")
    if to_score and job["status"] in {"planned", "applied"} and (job.get("options") or {}).get("suggest", True):
        items = "item is" if to_score == 1 else "items are"
        lines.append(f"  suggestions: {to_score} {items} compared with the other side once applied")
    return lines


@click.command("export")
@click.option(
    "--format", "file_format", default="ndjson", show_default=True, help="ndjson, json, csv, xlsx, reqif, reqifz."
)
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Where to; - or nothing: stdout.")
@click.option("--kind", type=click.Choice(["requirements", "test_cases", "links", "all"]))
@click.option("--mapping", help="A table for another tool: a preset (testrail, plain, ...) or a saved mapping.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="Any other option of GET /exports.")
@pass_context
def export(
    context: Context,
    *,
    file_format: str,
    output: Path | None,
    kind: str | None,
    mapping: str | None,
    options: tuple[str, ...],
) -> None:
    """Write requirements, test cases and links as one document of one moment.

    With --mapping, and --format csv or xlsx, a table of one kind for another tool; what it has no place for is said.
    """
    query = {**pairs(options), "format": file_format, "kind": kind, "mapping": mapping}
    chunks = context.api().stream("/exports", context.terminal.say, **query)
    if file_format == "ndjson":
        chunks = _whole(chunks)
    if output is None or str(output) == "-":
        for chunk in chunks:
            sys.stdout.buffer.write(chunk)
        return
    # Beside it, so that what was there stays until the whole of the new one is.
    new = output.with_name(f".{output.name}-{secrets.token_hex(4)}")
    try:
        with new.open("xb") as stream:
            stream.writelines(chunks)
        new.replace(output)
    finally:
        new.unlink(missing_ok=True)
    context.terminal.answer({"file": str(output), "size": output.stat().st_size}, f"{output} written")


def _whole(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield an export as NDJSON; raise Failure when its last line is not the mark of its end."""
    last = b""
    for chunk in chunks:
        yield chunk
        last = (last + chunk)[-4096:]
    with suppress(ValueError, AttributeError):
        if json.loads(last.rstrip(b"\n").rpartition(b"\n")[2]).get("kind") == "end":
            return
    raise Failure(Exit.UNREACHABLE, "The export was cut off before its end.")


def pairs(options: tuple[str, ...]) -> dict[str, str]:
    """Return what is given as NAME=VALUE; raise UsageError for anything else, and for a name twice."""
    found: dict[str, str] = {}
    for option in options:
        name, is_given, value = option.partition("=")
        if not is_given:
            raise click.UsageError(f"It is to be NAME=VALUE, not {option!r}.")
        if name in found:
            raise click.UsageError(f"{name} is given twice.")
        found[name] = value
    return found
