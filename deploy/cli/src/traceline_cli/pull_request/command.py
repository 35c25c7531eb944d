"""`traceline pr`: tells a pull request what its results say."""

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from traceline_cli.api import Api
from traceline_cli.context import Context, pass_context
from traceline_cli.deadline import Deadline
from traceline_cli.exchange import pairs
from traceline_cli.failures import Exit, Failure
from traceline_cli.policies import check_not_blank, read_policy
from traceline_cli.pull_request import markdown
from traceline_cli.pull_request.change import Change, Host, find_change
from traceline_cli.pull_request.findings import Findings, Question, find
from traceline_cli.pull_request.github import GitHub
from traceline_cli.pull_request.gitlab import GitLab
from traceline_cli.pull_request.hosts import CodeHost
from traceline_cli.pull_request.texts import Secrets


@click.command("pr")
@click.option("--comment", is_flag=True, help="Keep one comment at the pull request.")
@click.option("--status", is_flag=True, help="Set the status traceline/gate of its commit.")
@click.option("--summary", is_flag=True, help="Write it to $GITHUB_STEP_SUMMARY, too.")
@click.option("--policy", help="A saved policy by its name, or the path of a file with rules: ./gate.json.")
@click.option(
    "--rule", "rules", multiple=True, metavar="NAME=LIMIT", help="A rule such as max_failed=0 or require_run=true."
)
@click.option("--branch", callback=check_not_blank, help="The branch of the results; what CI says without it.")
@click.option("--commit", callback=check_not_blank, help="The commit of the results; what CI says without it.")
@click.option("--environment", help="Results of this environment alone.")
@click.option("--allow-flaky", is_flag=True, help="Flaky requirements are verified, too.")
@click.option("--allow-older", is_flag=True, help="What did not run at the commit has its last result of the branch.")
@click.option("--number", type=click.IntRange(min=1), help="The pull request; what CI says without it.")
@click.option("--author", help="The account that our comments are by, where the token is of an app of your own.")
@click.option("--no-fail", is_flag=True, help="End with 0 although the gate does not pass.")
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Write the Markdown there.")
@pass_context
def pull_request(
    context: Context,
    policy: str | None,
    rules: tuple[str, ...],
    branch: str | None,
    commit: str | None,
    *,
    comment: bool,
    status: bool,
    summary: bool,
    environment: str | None,
    allow_flaky: bool,
    allow_older: bool,
    number: int | None,
    author: str | None,
    no_fail: bool,
    output: Path | None,
) -> None:
    """Tell a pull request its gate, what fails and where, and what it changes, as Markdown.

    --comment and --status need GITHUB_TOKEN in GitHub Actions, Gitea and Forgejo, and GITLAB_TOKEN in GitLab CI, whose
    job token may write neither. Ends with 0 when the gate passes and with 1 when it does not.
    """
    context.deadline = deadline = Deadline(context.timeout)
    change = find_change(os.environ)
    if number is not None:
        change = replace(change, number=number)
    body = read_policy(policy)
    if body is not None and rules:
        raise click.UsageError("A policy of a file and --rule exclude one another.")
    asked: dict[str, Any] = {"allow_flaky": allow_flaky or None, **pairs(rules)}
    if body is None and policy is not None:
        asked["policy"] = policy
    question = Question(
        branch or change.branch, (commit,) if commit else change.commits, environment, allow_older, asked, body
    )
    host = _host(change, author, deadline, context.terminal.say) if comment or status else None
    secrets = Secrets(os.environ)
    api = _api(context, change)
    found = find(api, replace(change, title=secrets.hide(change.title or "") or None), question, secrets)
    text = markdown.write(found, change, api.page)
    _print(context, found, text, output)
    if summary:
        _write_summary(context, text)
    refused: list[Failure] = []
    for tell in _tellings(context, change, host, found, text, api, comment=comment, status=status):
        try:
            context.terminal.say(tell())
        except Failure as failure:
            refused.append(failure)
    if refused:
        for another in refused[1:]:
            context.terminal.say(f"Error: {another.message}")
        raise refused[0]
    if not (found.gate["passed"] or no_fail):
        raise SystemExit(Exit.NOT_PASSED)


def _api(context: Context, change: Change) -> Api:
    try:
        return context.api()
    except Failure as failure:
        if not (change.is_fork and failure.exit_code == Exit.UNREACHABLE):
            raise
        said = f"{failure.message} A pull request of a fork has no secrets: README, Forks, shows the form in two steps."
        raise Failure(Exit.UNREACHABLE, said) from None


def _host(change: Change, author: str | None, deadline: Deadline, say: Callable[[str], None]) -> CodeHost:
    match change.host:
        case Host.GITLAB:
            return GitLab(change, os.environ, deadline=deadline, say=say)
        case Host.GITHUB | Host.GITEA:
            return GitHub(change, os.environ, author=author, deadline=deadline, say=say)
        case _:
            said = "--comment and --status are for GitHub Actions, Gitea, Forgejo and GitLab CI."
            raise Failure(Exit.WRONG_USE, f"{said} Elsewhere leave them out, and take the Markdown that is printed.")


def _tellings(
    context: Context,
    change: Change,
    host: CodeHost | None,
    found: Findings,
    text: str,
    api: Api,
    *,
    comment: bool,
    status: bool,
) -> list[Callable[[], str]]:
    """Return what is to be done at the host, each by itself: one that is refused does not hide the other."""
    if host is None:
        return []
    tellings: list[Callable[[], str]] = []

    def set_status() -> str:
        if change.reported is None:
            raise Failure(Exit.WRONG_USE, "No variable says which commit this is; --status has nothing to be of.")
        address = change.build_url or f"{api.page}/results"
        passed, said = bool(found.gate["passed"]), markdown.describe(found.gate)
        state = host.set_status(change.reported, passed=passed, description=said, address=address)
        return f"Status traceline/gate of {change.reported}: {state}."

    def keep_comment() -> str:
        number = change.number
        if number is None and change.source is not None and change.head is not None:
            number = host.find_change(change.source, change.head)
        if number is None:
            return "This is no run of a pull request: no comment is written. --number says which it is."
        project = context.project or "MAIN"
        return f"Comment of {number}: {host.keep_comment(number, project, text)}."

    if status:
        tellings.append(set_status)
    if comment:
        tellings.append(keep_comment)
    return tellings


def _print(context: Context, found: Findings, text: str, output: Path | None) -> None:
    if output is not None:
        output.write_text(text, encoding="utf-8")
    if context.terminal.as_json:
        context.terminal.answer({"passed": found.gate["passed"], "gate": found.gate, "markdown": text})
    elif output is None:
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        sys.stdout.flush()
        context.terminal.has_answered = True


def _write_summary(context: Context, text: str) -> None:
    if place := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(place).open("ab") as stream:
            stream.write(text.encode("utf-8", "replace"))
    else:
        context.terminal.say("There is no GITHUB_STEP_SUMMARY to write it to.")
