"""What is found of a change, as Markdown: first what needs a person, then the rest, as long as there is room."""

import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from traceline_cli.pull_request.change import Change, Host
from traceline_cli.pull_request.findings import Altered, Failing, Findings
from traceline_cli.pull_request.texts import as_block, as_code, as_text, fit, link

MOST = 60 * 1024
_MOST_OF_FAILING = 30 * 1024
_MOST_OF_MESSAGES = 20 * 1024
_MOST_OF_GATE = 20 * 1024
_MOST_MESSAGE = 1500
_LONGEST_FILE = 300
_MOST_NAMED = 10
_MOST_ROWS = 50
_GOOD = {"passed": 0, "stale": 1, "partial": 2, "skipped": 3, "not_run": 3, "flaky": 4, "failed": 5}
_ORDER = ("failed", "flaky", "partial", "not_run", "stale", "uncovered", "passed")
_LET_PASS = {"accepted": "Accepted failures that were let pass", "older": "Results of other commits"}
_KINDS = {"requirements": "requirement", "test-cases": "test case"}
_PLAIN_PATH = re.compile(r"[\w@+.-]+(?:/[\w@+.-]+)*", re.ASCII)


def write(found: Findings, change: Change, page: str) -> str:
    """Return the Markdown, at most 60 KiB of it; `page` is the address of the project."""
    return fit(_blocks(found, change, page), MOST, _more(page))


def describe(gate: dict[str, Any]) -> str:
    """Return what a gate says, in one short line of our own words."""
    missed = [*dict.fromkeys(rule["rule"] for rule in gate["rules"] if not rule["passed"])]
    if gate["passed"]:
        return "The one rule holds." if len(gate["rules"]) == 1 else f"All {len(gate['rules'])} rules hold."
    more = f" and {len(missed) - 4} more" if len(missed) > 4 else ""
    return f"Not passed: {', '.join(missed[:4])}{more}."


def _blocks(found: Findings, change: Change, page: str) -> Iterator[str]:
    yield from _head(found, change, page)
    yield from _within(_MOST_OF_FAILING, _failing(found, change, page), page)
    yield from _within(_MOST_OF_GATE, _gate(found.gate), page)
    yield from _verdicts(found, page)
    yield from _write_touched(found, page)


def _more(page: str) -> str:
    return f"There is more; {link('the page of the results', f'{page}/results')} has all of it."


def _within(most: int, blocks: Iterator[str], page: str) -> Iterator[str]:
    """Yield the first of the blocks, so that what comes behind them has room, too."""
    for block in blocks:
        most -= len(block.encode())
        if most < 0:
            yield _more(page)
            return
        yield block


def _head(found: Findings, change: Change, page: str) -> Iterator[str]:
    gate = found.gate
    yield f"## {'✅ The gate passes' if gate['passed'] else '❌ The gate does not pass'}"
    of = [f"Branch {as_code(gate['branch'])}"]
    of += [f"commit {as_code(gate['commit'])}"] if gate.get("commit") else []
    of += [f"environment {as_code(gate['environment'])}"] if gate.get("environment") else []
    of.append(link("results", f"{page}/results"))
    of += [link(f"run {number}", f"{page}/results/{run['id']}") for number, run in enumerate(found.runs[:5], 1)]
    of += [link("build", change.build_url)] if change.build_url else []
    yield " · ".join(of)
    if not found.runs:
        yield "No run of this commit has come: send its results with `traceline results` before this step."
    told = [f"The run {as_code(run['key'])} has not ended: more results may come." for run in _running(found)]
    told += [as_text(one["message"]) for one in gate.get("warnings", ()) if one.get("code") != "run_not_finished"]
    if told:
        yield _list(told)


def _running(found: Findings) -> list[dict[str, Any]]:
    return [run for run in found.runs if run.get("status") == "running"]


def _failing(found: Findings, change: Change, page: str) -> Iterator[str]:
    if not found.failing:
        return
    count = found.failing_total
    yield f"### {_counted(count, 'test')} {'fails' if count == 1 else 'fail'}"
    left, lines = _MOST_OF_MESSAGES, []
    for one in found.failing[:_MOST_ROWS]:
        line, message = _line(one, change, page), as_block(one.message, _MOST_MESSAGE) if one.message else ""
        left -= len(message.encode())
        if left < 0 or not message:
            lines.append(line)
        else:
            yield f"{line}\n\n{message}"
    if lines:
        yield _list(lines)
    more = count - len(found.failing[:_MOST_ROWS])
    if more > 0:
        yield f"And {more} more."


def _line(one: Failing, change: Change, page: str) -> str:
    cases = f" ({', '.join(as_code(name, 60) for name in one.test_cases[:3])})" if one.test_cases else ""
    ran = [as_code(where, 80) for where in (one.lane, one.environment) if where]
    run = link("run", f"{page}/results/{one.run}")
    return " · ".join([f"**{as_code(one.name)}**{cases}", *_place(one, change), *ran, run])


def _place(one: Failing, change: Change) -> list[str]:
    """Return where it failed; a link where that is a file of the checkout."""
    if one.place is None:
        return []
    file, line = one.place
    place = as_code(f"{file}:{line}", 200)
    inside = len(file) <= _LONGEST_FILE and _PLAIN_PATH.fullmatch(file) is not None and ".." not in file.split("/")
    if not inside or change.page is None or change.head is None:
        return [place]
    blob = {Host.GITLAB: "-/blob", Host.GITEA: "src/commit"}.get(change.host or Host.GITHUB, "blob")
    return [link(place, f"{change.page}/{blob}/{quote(change.head, safe='')}/{quote(file)}#L{line}")]


def _gate(gate: dict[str, Any]) -> Iterator[str]:
    rules = sorted(gate["rules"], key=lambda rule: bool(rule["passed"]))
    rows = [f"| {'✅' if rule['passed'] else '❌'} | {_rule(rule)} | {as_text(rule['reason'])} |" for rule in rules]
    yield "### Gate\n\n" + "\n".join(["| | Rule | Limit | Actual | Reason |", "|---|---|---|---|---|", *rows])
    for rule in rules:
        if not rule["passed"] and rule["items"]:
            yield f"**{rule['rule']}**\n\n{_items(rule)}"
    for name, title in _LET_PASS.items():
        if (let_pass := gate.get(name)) and let_pass["total"]:
            yield f"**{title}: {let_pass['total']}**\n\n{_items(let_pass)}"


def _items(of: dict[str, Any]) -> str:
    lines = [as_text(item["reason"]) for item in of["items"][:_MOST_NAMED]]
    more = of["total"] - len(lines)
    return _list([*lines, *([f"and {more} more"] if more > 0 else [])])


def _verdicts(found: Findings, page: str) -> Iterator[str]:
    if not found.before:
        return
    branch = as_code(found.default_branch or "", 60, in_table=True)
    rows = [
        f"| {verdict.replace('_', ' ')} | {found.before.get(verdict, 0)} | {found.after.get(verdict, 0)} |"
        for verdict in _ORDER
        if found.before.get(verdict) or found.after.get(verdict)
    ]
    yield "### Requirements before and after\n\n" + "\n".join(
        [f"| Verdict | {branch} | This change |", "|---|---|---|", *rows]
    )
    if not found.compared:
        yield "Too many have not passed to say which of them this change altered."
    yield from _table("Requirement", found.requirements, f"{page}/requirements", branch)


def _write_touched(found: Findings, page: str) -> Iterator[str]:
    if not (found.test_cases or found.named or found.revised):
        return
    yield "### What this change touches"
    branch = as_code(found.default_branch or "", 60, in_table=True)
    yield from _table("Test case", found.test_cases, f"{page}/test-cases", branch)
    if found.named:
        yield f"Named by the branch, the title or a commit:\n\n{_list(_item(one, page) for one in found.named)}"
    if found.revised:
        more = found.revised_total - len(found.revised[:_MOST_ROWS])
        lines = [_item(one, page) for one in found.revised[:_MOST_ROWS]]
        lines += [f"and {more} more"] if more > 0 else []
        yield f"Changed in the record since this change began:\n\n{_list(lines)}"


def _table(kind: str, rows: Sequence[Altered], address: str, branch: str) -> Iterator[str]:
    """Yield what has another verdict, what got worse first."""
    if not rows:
        return
    worst = sorted(rows, key=lambda row: (_gain(row), -_GOOD.get(row.after, 0), row.name))
    lines = [
        f"| {link(as_code(row.name, 60, in_table=True), f'{address}/{row.id}')} {as_text(row.title, 120)}"
        f" | {row.before.replace('_', ' ')} | {_mark(row)}{row.after.replace('_', ' ')} |"
        for row in worst[:_MOST_ROWS]
    ]
    yield "\n".join([f"| {kind} | {branch} | This change |", "|---|---|---|", *lines])
    if len(rows) > _MOST_ROWS:
        yield f"And {len(rows) - _MOST_ROWS} more."


def _gain(row: Altered) -> int:
    return _GOOD.get(row.before, 3) - _GOOD.get(row.after, 3)


def _mark(row: Altered) -> str:
    return "🔺 " if _gain(row) < 0 else ""


def _item(row: dict[str, Any], page: str) -> str:
    name = as_code(str(row.get("external_id") or row["id"]), 60)
    address = f"{page}/{row['kind']}/{row['id']}"
    return f"{_KINDS[row['kind']]} {link(name, address)} {as_text(row['title'], 120)}"


def _list(lines: Any) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _rule(rule: dict[str, Any]) -> str:
    """Return the name, limit and figure of a rule; one that is a switch has no figure to hold against a limit."""
    if isinstance(rule["limit"], bool):
        return f"{rule['rule']} | required | {'yes' if rule['passed'] else 'no'}"
    return f"{rule['rule']} | {_figure(rule['limit'])} | {_figure(rule['actual'])}"


def _figure(value: object) -> str:
    return f"{value:.12g}" if isinstance(value, float) else as_text(str(value), 20)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
