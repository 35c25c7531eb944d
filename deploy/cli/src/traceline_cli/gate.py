"""`traceline gate`: whether the record passes, as an exit code."""

import os
import random
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import httpx

from traceline_cli import ci
from traceline_cli.api import content_of
from traceline_cli.context import Context, pass_context
from traceline_cli.exchange import pairs
from traceline_cli.failures import Exit, Failure
from traceline_cli.policies import check_not_blank, read_policy

_MOST_NAMED = 10
_LET_PASS = {"accepted": "Accepted failures that were let pass", "older": "Results of other commits"}
_FIRST_PAUSE, _LONGEST_PAUSE = 3.0, 30.0
"""Seconds between two looks at a gate that is waited for."""
_FOR_GOOD = frozenset(
    (
        *("max_failed", "max_failed_requirements", "max_flaky", "max_unsteady", "max_suspect", "min_coverage"),
        *("max_uncovered", "max_pending_suggestions", "max_unlinked_tests"),
        *("max_without_parent", "max_without_child", "max_suspect_relations"),
    )
)
"""Rules that more results do not open."""
_UNITS = {"h": 3600, "m": 60, "s": 1}
_WAIT = re.compile(r"(\d{1,6})([hms]?)", re.ASCII)


def _checked_wait(_: click.Context, __: click.Parameter, wait: str | None) -> float | None:
    """Return the seconds of a time such as 20m."""
    if wait is None:
        return None
    found = _WAIT.fullmatch(wait)
    if found is None:
        raise click.BadParameter(f"{wait} is no time; write 20m, 90s or 1h.")
    return float(int(found[1]) * _UNITS[found[2] or "s"])


@click.command()
@click.option("--policy", help="A saved policy by its name, or the path of a file with rules: ./gate.json.")
@click.option(
    "--rule", "rules", multiple=True, metavar="NAME=LIMIT", help="A rule such as max_failed=0 or require_run=true."
)
@click.option("--branch", callback=check_not_blank, help="Without it that of CI, else the default branch.")
@click.option("--commit", callback=check_not_blank, help="Without it that of CI; without both the newest.")
@click.option("--environment", help="Results of this environment alone.")
@click.option("--allow-flaky", is_flag=True, help="Flaky requirements are verified, too.")
@click.option("--allow-older", is_flag=True, help="What did not run at the commit has its last result of the branch.")
@click.option(
    "--wait",
    callback=_checked_wait,
    metavar="TIME",
    help="While runs or expected lanes are not finished, wait as long as this, such as 20m; then end with 5.",
)
@click.option("--summary", is_flag=True, help="Write the reasons to $GITHUB_STEP_SUMMARY, too.")
@click.option("--format", "file_format", type=click.Choice(["text", "json", "markdown", "junit"]), default="text")
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Write the document there.")
@pass_context
def gate(
    context: Context,
    policy: str | None,
    rules: tuple[str, ...],
    branch: str | None,
    commit: str | None,
    *,
    environment: str | None,
    allow_flaky: bool,
    allow_older: bool,
    wait: float | None,
    summary: bool,
    file_format: str,
    output: Path | None,
) -> None:
    """Hold the record against rules; end with 0 when it passes and with 1 when it does not."""
    found = ci.detect(os.environ)
    query: dict[str, Any] = {
        "branch": branch or found.branch,
        "commit": commit or found.commit,
        "environment": environment,
        "allow_flaky": allow_flaky or None,
        "older": "allow" if allow_older else None,
        **pairs(rules),
    }
    body = read_policy(policy)
    if body is None and policy is not None:
        query["policy"] = policy
    if body is not None and rules:
        raise click.UsageError("A policy of a file and --rule exclude one another.")
    api = context.api()

    def ask(as_format: str) -> httpx.Response:
        if body is None:
            return api.get("/reports/gate", **query, format=as_format)
        return api.post("/reports/gate", params={**query, "format": as_format}, json=body)

    # The exit code is of this answer; a document in another format is asked for anew.
    try:
        response = _when_finished(context, lambda: ask("json"), wait)
    except Failure as failure:
        codes = [error["code"] for error in failure.problem.get("errors", ())]
        if policy is None or "policy_not_found" not in codes or not Path(policy).is_file():
            raise
        said = f"{failure.message} The file of this name is ./{policy}."
        raise Failure(Exit.REFUSED, said, problem=failure.problem) from None
    answer = _answer(response)
    if summary:
        if place := os.environ.get("GITHUB_STEP_SUMMARY"):
            with Path(place).open("ab") as stream:
                stream.write(ask("markdown").content)
        else:
            context.terminal.say("There is no GITHUB_STEP_SUMMARY to write the reasons to.")
    if file_format in {"markdown", "junit"} or output is not None:
        document = ask(file_format) if file_format in {"markdown", "junit"} else response
        _write(output, document.content)
    if output is not None or file_format == "text":
        tell(context, answer)
    elif file_format == "json":
        context.terminal.document(answer)
    if wait is not None and (unfinished := _unfinished(answer)):
        raise Failure(Exit.TIMED_OUT, f"Not finished after {_shown(wait)}: {'; '.join(unfinished)}.")
    if not answer["passed"]:
        raise SystemExit(Exit.NOT_PASSED)


def _answer(response: httpx.Response) -> dict[str, Any]:
    return content_of(response, "passed", "branch", "rules", "runs")


def _when_finished(context: Context, ask: Callable[[], httpx.Response], wait: float | None) -> httpx.Response:
    """Return the answer of the gate; one that waits for results is asked again for as many seconds as `wait` has."""
    end, pause, told = time.monotonic() + (wait or 0), _FIRST_PAUSE, ""
    while True:
        response = ask()
        left = end - time.monotonic()
        unfinished = _unfinished(_answer(response)) if left > 0 else []
        if not unfinished:
            return response
        if (said := "; ".join(unfinished)) != told:
            context.terminal.say(f"Waiting, as long as {_shown(wait or 0)}: {said}.")
            told = said
        # Spread: several pipelines may wait for the same run.
        time.sleep(min(pause * random.uniform(0.75, 1.25), left))  # noqa: S311 - no secret
        pause = min(pause * 1.5, _LONGEST_PAUSE)


def _unfinished(answer: dict[str, Any]) -> list[str]:
    """Return what a gate that does not pass waits for; nothing where no result that is to come would open it."""
    if any(not rule["passed"] and rule["rule"] in _FOR_GOOD for rule in answer["rules"]) or answer["passed"]:
        return []
    unfinished = [f"the run {run['key']} goes on" for run in answer["runs"] if run["status"] == "running"]
    missing = (answer.get("missing_lanes") or {}).get("expected") or []
    unfinished += [f"the lane {lane} has not ended" for lane in missing]
    if not (answer["runs"] or missing) and answer.get("commit"):
        unfinished.append(f"no run of the commit {answer['commit']} has come")
    return unfinished


def _shown(seconds: float) -> str:
    return next(f"{seconds / size:g} {unit}" for unit, size in _UNITS.items() if seconds >= size or size == 1)


def _write(output: Path | None, document: bytes) -> None:
    if output is None:
        sys.stdout.buffer.write(document)
    else:
        output.write_bytes(document)


def _named(rule: dict[str, Any]) -> list[str]:
    """Return a line for each of the first that a rule is about, and how many more there are."""
    lines = [f"       {item['reason']}" for item in rule["items"][:_MOST_NAMED]]
    more = rule["total"] - len(lines)
    return lines + ([f"       and {more} more"] if lines and more > 0 else [])


def tell(context: Context, answer: dict[str, Any]) -> None:
    """Print the answer of a gate, first what does not hold."""
    lines = [f"{'passed' if answer['passed'] else 'NOT PASSED'} on {answer['branch']}"]
    rules = sorted(answer["rules"], key=lambda one: bool(one["passed"]))
    lines += [
        f"  The run {run['key']} has not ended yet: more results may come."
        for run in answer["runs"]
        if run["status"] == "running"
    ]
    for rule in rules:
        lines.append(f"  {'ok  ' if rule['passed'] else 'FAIL'} {rule['rule']}: {rule['reason']}")
        lines += [] if rule["passed"] else _named(rule)
    lines += [f"  {warning['message']}" for warning in answer.get("warnings", ())]
    for name, title in _LET_PASS.items():
        let_pass = answer.get(name, {"items": [], "total": 0})
        lines += [f"  {title}: {let_pass['total']}"] if let_pass["total"] else []
        lines += _named(let_pass)
    context.terminal.answer(answer, *lines)
