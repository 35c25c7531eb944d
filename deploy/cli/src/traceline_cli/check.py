"""`traceline check`: a verdict without a server, over files of a checkout."""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from traceline_cli.context import Context, pass_context
from traceline_cli.exchange import pairs
from traceline_cli.failures import Exit, Failure
from traceline_cli.gate import tell
from traceline_cli.policies import read_policy

_MOST_NAMED = 10
_EXTRA = "traceline_check.judging"
"""Of a package of its own: the command line needs no readers where a server reads."""


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path), metavar="PATH...")
@click.option("--policy", help="The path of a file with rules: ./gate.json.")
@click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="NAME=LIMIT",
    help="A rule such as min_verified=100; without any, require_run and max_failed=0.",
)
@click.option("--allow-flaky", is_flag=True, help="Flaky requirements are verified, too.")
@click.option(
    "--duplicates",
    type=click.Choice(["worst", "last"]),
    default="worst",
    show_default=True,
    help="A test several times in a file: iterations, of which the worst counts, or tries, of which the last does.",
)
@click.option("--summary", is_flag=True, help="Write the reasons to $GITHUB_STEP_SUMMARY, too.")
@click.option("--format", "file_format", type=click.Choice(["text", "json", "markdown", "junit"]), default="text")
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Write the document there.")
@pass_context
def check(
    context: Context,
    paths: tuple[Path, ...],
    policy: str | None,
    rules: tuple[str, ...],
    *,
    allow_flaky: bool,
    duplicates: str,
    summary: bool,
    file_format: str,
    output: Path | None,
) -> None:
    """Judge a record that lies in files, without a server.

    PATHs are files or folders: requirements, test cases and links (StrictDoc, Doorstop, sphinx-needs, OpenFastTrace,
    ReqIF, CSV, XLSX, Gherkin, exports of Traceline) and reports of tests (JUnit, CTRF, Allure, TRX, ...), which are all
    of one run. It prints coverage, verdicts and gaps, and ends with 0 when the rules hold and with 1 when they do not.

    \b
    traceline check docs report.xml
    traceline check requirements.csv tests.csv report.xml --rule min_verified=100
    """
    body = read_policy(policy)
    if body is None and policy is not None:
        raise click.UsageError(f"Without a server no policy is saved: name a file, such as ./{policy}.json.")
    if body is not None and rules:
        raise click.UsageError("A policy of a file and --rule exclude one another.")
    judging = _judging()
    try:
        answer = judging.check(paths, pairs(rules), body, allow_flaky=allow_flaky, last_counts=duplicates == "last")
    except judging.WrongRule as error:
        raise Failure(Exit.WRONG_USE, str(error)) from None
    if summary:
        if place := os.environ.get("GITHUB_STEP_SUMMARY"):
            with Path(place).open("ab") as stream:
                stream.write(judging.in_form(answer, "markdown"))
        else:
            context.terminal.say("There is no GITHUB_STEP_SUMMARY to write the reasons to.")
    if output is not None:
        output.write_bytes(judging.in_form(answer, "json" if file_format == "text" else file_format))
    if context.terminal.as_json or (file_format != "text" and output is None):
        sys.stdout.buffer.write(judging.in_form(answer, "json" if context.terminal.as_json else file_format))
        context.terminal.has_answered = True
    else:
        _tell(context, answer)
    if not answer["passed"]:
        raise SystemExit(Exit.NOT_PASSED)


def _judging() -> Any:
    try:
        return import_module(_EXTRA)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != _EXTRA.partition(".")[0]:
            raise
        said = "The readers of files are not installed: pipx install 'traceline-cli[check]'."
        raise Failure(Exit.WRONG_USE, said) from None


def _tell(context: Context, answer: dict[str, Any]) -> None:
    terminal = context.terminal
    tell(context, answer)
    terminal.out.print(answer["coverage"]["sentence"] + ".", markup=False)
    counts = {one: count for one, count in answer["coverage"]["by_verdict"].items() if count}
    if counts:
        terminal.out.print(
            "  " + ", ".join(f"{count} {one.replace('_', ' ')}" for one, count in counts.items()), markup=False
        )
    gaps = [one["external_id"] or one["title"] for one in answer["requirements"] if one["verdict"] == "uncovered"]
    for title, names in (
        ("Without a test case", gaps),
        ("Test cases without a requirement", answer["coverage"]["test_cases_without_requirement"]),
        ("Tests without a test case", answer["untraced"]),
    ):
        if names:
            more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
            terminal.out.print(f"  {title}: {', '.join(names[:_MOST_NAMED])}{more}", markup=False)
    for test in answer["failing"][:_MOST_NAMED]:
        said = (test["message"] or "").strip().split("\n")[0]
        terminal.out.print(f"  {test['status']}: {test['name']}{said and f': {said}'}", markup=False)
    if len(answer["failing"]) > _MOST_NAMED:
        terminal.out.print(f"  and {len(answer['failing']) - _MOST_NAMED} more", markup=False)
