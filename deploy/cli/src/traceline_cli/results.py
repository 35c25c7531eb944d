"""`traceline results`: sends what tests reported."""

import glob
import hashlib
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any

import click

from traceline_cli import ci, unmatched
from traceline_cli.api import Api, content_of, expected
from traceline_cli.context import Context, pass_context
from traceline_cli.failures import Exit, Failure

_AT_ONCE = 4
_LARGE = 1024 * 1024
"""Bytes; what became of larger files is asked for, since a proxy may not wait as long for an answer."""
_TRIES = 3
"""How often a file is sent whose upload was cut off by a restart; its run has a key, so nothing doubles."""
_SHARD = re.compile(r"([1-9]\d{0,4})/([1-9]\d{0,4})")
_LONGEST_NAME = 200
_LONGEST_JOB = 500
"""Characters of the name of a run; that of a job of a matrix may be longer."""
_LONGEST_PATH = 1000
_PATIENCE = 600
"""Seconds until an upload that goes on is given up; it goes on all the same."""
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_TIME_OF_GIT = 10
_EARLY = timedelta(days=1)
"""So far the time of a commit may lie in the future."""
_REASONS = {
    "no_results": "a file holds no result",
    "plan_not_kept": "the tests are not those that were planned",
    "crashed": "the program of the tests ended before its end",
    "suite_failed": "a suite failed beside its tests",
    "errors_of_run": "the run had errors of no test",
    "shards_missing": "shards are missing",
}
_Outcome = dict[str, Any] | Failure
_OF_ANSWER = ("run", "tests", "matched", "counts", "duplicate", "warnings")


def _checked_shard(_: click.Context, __: click.Parameter, shard: str | None) -> str | None:
    if shard is not None:
        found = _SHARD.fullmatch(shard)
        if found is None or int(found[1]) > int(found[2]):
            raise click.BadParameter(f"{shard} is no shard; write which of how many, such as 2/4.")
    return shard


@click.command()
@click.argument("patterns", nargs=-1, required=True, type=click.Path(), metavar="FILES...")
@click.option("--format", "file_format", help="The format; by default what each file looks like.")
@click.option("--run", help="The key of the run; in CI, the pipeline.")
@click.option("--branch", help="Without it that of CI, else the default branch.")
@click.option("--commit", help="Without it that of CI.")
@click.option("--environment", help="What the tests ran on; each environment has results of its own.")
@click.option("--lane", help="The line of runs that this is of; in CI, the workflow and the job.")
@click.option("--partial", is_flag=True, help="A selection of the tests: those that it lacks are not missing.")
@click.option("--shard", metavar="K/N", callback=_checked_shard, help="Which part of the run this is.")
@click.option("--attempt", type=click.IntRange(1, 100), help="Which try of the run this is; CI often says it.")
@click.option("--unknown", type=click.Choice(["keep", "create", "ignore", "fail"]), help="Tests without a test case.")
@click.option(
    "--duplicates",
    type=click.Choice(["worst", "last"]),
    help="A test several times in a file: iterations, of which the worst counts, or tries, of which the last does.",
)
@click.option("--undefined", type=click.Choice(["fail", "skip"]), help="Steps of Cucumber that nobody has written.")
@click.option("--link", is_flag=True, help="Link test cases to the requirements that results name.")
@click.option("--allow-empty", is_flag=True, help="A file may hold no result; otherwise the command ends with 4.")
@click.option(
    "--complete",
    is_flag=True,
    help="Nothing more comes for this run; else it is incomplete, unless all its shards came.",
)
@click.option("--no-fail", is_flag=True, help="End with 0 whatever happens: for steps that must not break a build.")
@pass_context
def results(context: Context, /, patterns: tuple[str, ...], *, no_fail: bool, **options: Any) -> None:
    """Send FILES (names or patterns such as 'build/**/*.xml') to the run that they belong to."""
    try:
        _send_all(context, patterns, options)
    except (Failure, OSError) as error:
        if not no_fail:
            raise
        failure = error if isinstance(error, Failure) else Failure(Exit.WRONG_USE, str(error))
        raise failure.ending_with(Exit.DONE) from None


def _send_all(context: Context, patterns: tuple[str, ...], options: dict[str, Any]) -> None:
    files = _files(patterns)
    found = ci.detect(os.environ)
    # What somebody runs by hand is what they work on: it makes nothing missing of what they leave out.
    is_of_somebody = found == ci.Pipeline() and not os.environ.get("CI") and not options["complete"]
    commit = options["commit"] or found.commit
    query = {
        "run": options["run"] or found.run,
        "name": found.name and found.name[:_LONGEST_NAME],
        "branch": options["branch"] or found.branch,
        "commit": commit,
        "commit_time": commit_time(commit, found.commit_time if commit == found.commit else None),
        # A Jenkins that does not know its own address says something else.
        "build_url": found.build_url if (found.build_url or "").startswith(("https://", "http://")) else None,
        "environment": options["environment"] or (found.environment and found.environment[:_LONGEST_NAME].strip()),
        "lane": options["lane"] or (found.lane and found.lane[:_LONGEST_NAME].strip()),
        "partial": options["partial"] or is_of_somebody or None,
        "shard": options["shard"] or found.shard,
        "attempt": options["attempt"] or found.attempt,
        **({"job": found.job[:_LONGEST_JOB], "job_try": found.job_try} if found.job and found.job_try else {}),
        "format": options["file_format"],
        "unknown": options["unknown"],
        "duplicates": options["duplicates"],
        "undefined": options["undefined"],
        "link": options["link"] or None,
        "allow_empty": options["allow_empty"] or None,
        "workspace": find_checkout(),
    }
    is_whole = options["complete"]
    if query["run"] is None:
        if os.environ.get("CI"):
            context.terminal.say("No variable of CI says which run this is; it is one of its own. --run names it.")
        # Outside of CI the files are one run all the same, which the same files find again: nothing doubles. Of another
        # commit they are another run.
        of = f"{query['branch'] or ''} {commit or ''}".encode()
        query["run"] = "local:" + hashlib.sha256(of + b"".join(map(_digest, files))).hexdigest()[:32]
        is_whole = is_whole or query["shard"] is None
    api = context.api()
    away = Event()

    def send(file: Path) -> _Outcome:
        if away.is_set():
            return Failure(Exit.UNREACHABLE, "not sent, Traceline is away.").of_file(file)
        try:
            return _send(api, file, query)
        except Failure as failure:
            if failure.exit_code == Exit.UNREACHABLE:
                away.set()
            return failure.of_file(file)

    outcomes: list[tuple[Path, _Outcome]] = []
    with context.terminal.progress("results") as look:
        for file, outcome in zip(files, _several_at_once(send, files), strict=True):
            look({"progress": len(outcomes) / len(files)})
            outcomes.append((file, outcome))
    failures = [one for _, one in outcomes if isinstance(one, Failure)]
    sent = [(file, one) for file, one in outcomes if isinstance(one, dict)]
    runs = {one["run"]["id"]: one["run"] for _, one in sent}
    if is_whole and not failures:
        for run in runs:
            runs[run] = content_of(api.post(f"/test-runs/{run}/complete"), "id", "key")
    answers = [
        {"file": str(file), **({"error": one.problem} if isinstance(one, Failure) else one)} for file, one in outcomes
    ]
    lines = []
    for file, one in sent:
        lines.append(line_of(file, one))
        for warning in _warnings(one):
            context.terminal.say(f"{file}: {warning}")
        if one["tests"] and not (one["matched"] or one["duplicate"]):
            for said in unmatched.lines_of(api, file, one):
                context.terminal.say(said)
    lines += [line for run in runs.values() for line in _not_whole(run)]
    context.terminal.answer(answers, *lines, *(f"{api.page}/results/{run}" for run in runs))
    if failures:
        for failure in failures[1:]:
            context.terminal.say(failure.format_message())
        raise failures[0]
    empty = [str(file) for file, one in sent if not one["counts"].get("results")]
    if empty and not options["allow_empty"]:
        hold = "holds" if len(empty) == 1 else "hold"
        raise Failure(
            Exit.REFUSED,
            f"{', '.join(empty)} {hold} no result: look why no test ran there. It was sent, and its run is incomplete."
            " Where that is meant, say --allow-empty.",
        )


def find_checkout() -> str | None:
    """Return the folder of the checkout, from which paths of tests are told: ours where there is none."""
    with suppress(OSError, subprocess.SubprocessError):
        command = ["git", "rev-parse", "--show-toplevel"]
        asked = subprocess.run(command, capture_output=True, text=True, check=True, timeout=_TIME_OF_GIT)
        return _within(asked.stdout.strip())
    return _within(str(Path.cwd()))


def _within(path: str) -> str | None:
    """Return a path, unless it is longer than one that can be told."""
    return path if 0 < len(path) <= _LONGEST_PATH else None


def commit_time(commit: str | None, said: str | None) -> str | None:
    """Return when a commit was made, as CI says it or the checkout knows it; None where neither does."""
    if said is None and commit is not None and _COMMIT.fullmatch(commit):
        with suppress(OSError, subprocess.SubprocessError):
            command = ["git", "show", "-s", "--format=%cI", commit]
            asked = subprocess.run(command, capture_output=True, text=True, check=True, timeout=_TIME_OF_GIT)
            said = asked.stdout.strip()
    with suppress(ValueError, TypeError):
        # A commit of a clock that goes wrong says nothing.
        if datetime.fromisoformat(said or "") <= datetime.now(UTC) + _EARLY:
            return said
    return None


def _not_whole(run: dict[str, Any]) -> list[str]:
    """Return the line that says why a run does not tell the whole; that more may come is no reason here."""
    later = {"not_finished", *(["shards_missing"] if run.get("status") == "running" else [])}
    reasons = [_REASONS.get(reason, reason) for reason in run.get("health_reasons", ()) if reason not in later]
    if not reasons:
        return []
    return [f"The run {run['key']} is incomplete: {', '.join(reasons)}. A gate that requires a run does not pass."]


def _several_at_once(send: Callable[[Path], _Outcome], files: list[Path]) -> Iterator[_Outcome]:
    """Yield what becomes of each file, in their order.

    Their threads end with the program: those of a pool would go through all tries after Ctrl-C.
    """
    outcomes: list[Future[_Outcome]] = [Future() for _ in files]
    waiting: SimpleQueue[tuple[Path, Future[_Outcome]]] = SimpleQueue()
    for one in zip(files, outcomes, strict=True):
        waiting.put(one)

    def work() -> None:
        with suppress(Empty):
            while True:
                file, outcome = waiting.get_nowait()
                try:
                    outcome.set_result(send(file))
                except BaseException as error:  # noqa: BLE001 - `result` raises it
                    outcome.set_exception(error)

    for _ in range(_AT_ONCE):
        Thread(target=work, daemon=True).start()
    for outcome in outcomes:
        while not outcome.done():
            wait([outcome], timeout=1)  # Ctrl-C just before it would be seen at its end alone
        yield outcome.result()


def _files(patterns: tuple[str, ...]) -> list[Path]:
    files: dict[Path, None] = {}
    for pattern in patterns:
        names = [pattern] if Path(pattern).is_file() else sorted(glob.glob(pattern, recursive=True))
        found = [Path(name) for name in names if Path(name).is_file()]
        if Path(pattern).is_dir():
            hint = f"say which files, such as '{pattern}/**/*.xml'"
            if any(Path(pattern).glob("*-result.json")):
                hint = "pack what Allure has written there into one zip, and send that"
            raise Failure(Exit.WRONG_USE, f"{pattern} is a folder; {hint}.")
        if not found:
            raise Failure(Exit.WRONG_USE, f"There is no file {pattern}.")
        files |= dict.fromkeys(found)
    return list(files)


def _send(api: Api, file: Path, query: dict[str, Any]) -> dict[str, Any]:
    error: dict[str, Any] = {}
    for _ in range(_TRIES):
        sent = _send_once(api, file, query)
        if sent.get("error") is None:
            answer = expected(sent.get("results", sent), *_OF_ANSWER, where=api.url)
            expected(answer["run"], "id", "key", where=api.url)
            return answer
        error = expected(sent["error"], "code", "detail", "status", where=api.url)
        if error["code"] != "interrupted":
            break
    raise Failure(Exit.REFUSED if error["status"] < 500 else Exit.UNREACHABLE, error["detail"], problem=error)


def _send_once(api: Api, file: Path, query: dict[str, Any]) -> dict[str, Any]:
    """Return the answer, or of a file that was taken with 202 what became of it."""
    size = file.stat().st_size
    headers = {"Content-Type": "application/octet-stream", "Content-Length": str(size)}
    if size > _LARGE:
        headers["Prefer"] = "respond-async"
    response = api.post("/test-results", params={**query, "file_name": file.name}, file=file, headers=headers)
    return api.follow(response, within=_PATIENCE, look=lambda _: None)


def _digest(file: Path) -> bytes:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


def line_of(file: Path, sent: dict[str, Any]) -> str:
    """Return what became of a file in a line."""
    if sent["duplicate"]:
        return f"{file}: the run {sent['run']['key']} has it already"
    counts = sent["counts"]
    results, tests = counts.get("results", sent["tests"]), sent["tests"]
    if not results:
        return f"No test is in {file}"
    of = _counted(tests, "test") if results == tests else f"{_counted(results, 'result')} of {_counted(tests, 'test')}"
    ends = ", ".join(f"{count} {status}" for status, count in counts.items() if count and status != "results")
    matched = f"{sent['matched']} of them {'has' if sent['matched'] == 1 else 'have'} a test case"
    if tests == 1:
        matched = f"it has {'a' if sent['matched'] else 'no'} test case"
    elif sent["matched"] in (0, tests):
        matched = f"{'each' if sent['matched'] else 'none'} of them has a test case"
    return f"{file}: {of}{ends and f': {ends}'}; {matched}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _warnings(sent: dict[str, Any]) -> Iterator[str]:
    """Yield what a person should know of a file; how many tests have no test case is in its line."""
    for one in sent["warnings"]:
        # Of a file that is there already they were told when it came.
        if not (sent["duplicate"] or one["code"] == "unknown_test"):
            times = f" ({one['count']} times)" if one["count"] > 1 else ""
            yield one["message"] + times
