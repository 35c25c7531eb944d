"""The answer of a gate as Markdown, for a pull request, and as a JUnit report, for what shows those."""

from collections.abc import Iterable
from typing import Any
from xml.sax.saxutils import escape, quoteattr

Row = dict[str, Any]

MOST_MARKDOWN = 60 * 1024
_NOT_IN_XML = {code: "\ufffd" for code in (*range(32), 0xFFFE, 0xFFFF) if chr(code) not in "\t\n\r"}


_LET_PASS = {"accepted": "Accepted failures that were let pass", "older": "Results of other commits"}


def _ordered(gate: Row) -> list[Row]:
    """Return the rules of a gate, those that are not kept first."""
    return sorted(gate["rules"], key=lambda rule: rule["passed"])


def as_markdown(gate: Row, sections: Iterable[tuple[str, Iterable[str]]] = ()) -> bytes:
    """Return a gate as Markdown, failures first, then sections with their lines; at most 60 KiB."""
    of = f"`{_plain(gate['branch'])}`" + (f" at `{_plain(gate['commit'])}`" if gate["commit"] else "")
    lines = [
        f"## {'✅ Gate passed' if gate['passed'] else '❌ Gate not passed'}",
        "",
        f"{of}, {gate['evaluated_at']:%Y-%m-%d %H:%M} UTC",
        "",
        *(
            f"The run `{_plain(run['key'])}` has not ended yet: more results may come.\n"
            for run in gate["runs"]
            if run["status"] == "running"
        ),
        *(f"{_cell(warning['message'])}\n" for warning in gate["warnings"]),
        "| | Rule | Limit | Actual | Reason |",
        "|---|---|---|---|---|",
        *(
            f"| {'✅' if rule['passed'] else '❌'} | {rule['rule']}{_where(rule)} | {_limit(rule)}"
            f" | {_actual(rule)} | {_cell(rule['reason'])} |"
            for rule in _ordered(gate)
        ),
    ]
    for rule in _ordered(gate):
        if not rule["passed"] and rule["items"]:
            lines += ["", f"### {rule['rule']}: {len(rule['items'])} of {rule['total']}", ""]
            lines += [f"- {_cell(item['reason'])}" for item in rule["items"]]
    for name, title in _LET_PASS.items():
        if gate[name]["total"]:
            lines += ["", f"### {title}: {len(gate[name]['items'])} of {gate[name]['total']}", ""]
            lines += [f"- {_cell(item['reason'])}" for item in gate[name]["items"]]
    for title, said in sections:
        lines += ["", f"### {_cell(title)}", "", *(f"- {_cell(line)}" for line in said)]
    return _cut(lines)


def _cut(lines: list[str]) -> bytes:
    parts, left = [], MOST_MARKDOWN - 100
    for line in lines:
        data = f"{line}\n".encode()
        left -= len(data)
        if left < 0:
            parts.append(b"\n... and more; see the answer as JSON.\n")
            break
        parts.append(data)
    return b"".join(parts)


def _where(rule: Row) -> str:
    return (
        f" ({_cell('; '.join(f'{name}: {value}' for name, value in rule['where'].items()))})" if rule["where"] else ""
    )


def _limit(rule: Row) -> str:
    """Return the limit as what is held against it: of a switch that counts, none may be there."""
    return "0" if rule["limit"] is True and not isinstance(rule["actual"], bool) else _figure(rule["limit"])


def _actual(rule: Row) -> str:
    """Return what was found; where there is nothing to be measured, that."""
    is_found = isinstance(rule["limit"], bool) or not isinstance(rule["actual"], bool)
    return _figure(rule["actual"]) if is_found else "nothing"


def _figure(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("`", "'")


def _cell(text: str) -> str:
    flat = " ".join(text.split())
    for sign in "\\`*_[]<>|":
        flat = flat.replace(sign, f"\\{sign}")
    return flat


def as_junit(gate: Row) -> bytes:
    """Return a gate as a JUnit report: a test case a rule."""
    failed = sum(not rule["passed"] for rule in gate["rules"])
    cases = "".join(_case(rule) for rule in gate["rules"])
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuites><testsuite name="Traceline gate" tests="{len(gate["rules"])}" failures="{failed}">\n'
        f"{cases}</testsuite></testsuites>\n"
    ).encode()


def _case(rule: Row) -> str:
    where = "; ".join(f"{name}: {value}" for name, value in rule["where"].items())
    name = quoteattr(f"{rule['rule']}{f' ({where})' if where else ''}".translate(_NOT_IN_XML))
    if rule["passed"]:
        return f'<testcase classname="traceline.gate" name={name}/>\n'
    message = quoteattr(rule["reason"].translate(_NOT_IN_XML))
    items = escape("\n".join(item["reason"] for item in rule["items"]).translate(_NOT_IN_XML))
    return f'<testcase classname="traceline.gate" name={name}><failure message={message}>{items}</failure></testcase>\n'
