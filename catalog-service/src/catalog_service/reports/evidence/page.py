"""The evidence of a requirement as one HTML page that needs nothing else, runs nothing, and prints well."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from html import escape
from typing import Any

from catalog_service.reports.formats.html_format import policy_of
from catalog_service.timeline.schemas import TimelineKind
from chassis.db.erasure import without_pseudonyms

_STYLE = """
:root { color-scheme: light; font: 14px/1.5 system-ui, sans-serif; color: #1b2733; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; border-bottom: 2px solid #c3ced9; }
h3 { font-size: 1rem; margin: 1.1rem 0 .2rem; break-after: avoid; }
p { margin: .25rem 0; white-space: pre-wrap; }
.quiet { color: #536373; }
.note { color: #a4262c; font-weight: 600; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: .75rem 0; }
dt { color: #536373; }
dd { margin: 0; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid #e3e9ef; }
thead { display: table-header-group; }
tr { break-inside: avoid; }
section { break-inside: auto; }
@page {
  size: A4; margin: 18mm 15mm;
  @bottom-right { content: counter(page) " / " counter(pages); font: 9px system-ui, sans-serif; color: #536373; }
}
@media print { :root { font-size: 11px; } body { margin: 0; padding: 0; max-width: none; } }
"""
_POLICY = policy_of(_STYLE)
HEADERS = {
    "Content-Security-Policy": f"{_POLICY}; frame-ancestors 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
_KINDS = {
    TimelineKind.LINK_MADE: "made",
    TimelineKind.LINK_ACCEPTED: "accepted",
    TimelineKind.LINK_CHANGED: "changed",
    TimelineKind.LINK_SUSPECTED: "became suspect",
    TimelineKind.LINK_CONFIRMED: "confirmed",
    TimelineKind.LINK_REMOVED: "removed",
    TimelineKind.SUGGESTION_REJECTED: "suggestion rejected",
}


def write(evidence: Mapping[str, Any]) -> str:
    """Return the page."""
    item = evidence["requirement"]
    title = f"Evidence of {item['external_id'] or item['title']}"
    facts = [
        ("Project", evidence["project"]),
        ("Made", _moment(evidence["made_at"]) + _say_by_whom(evidence["made_by"])),
        ("Verdict", f"{(item['verdict'] or 'none').replace('_', ' ')}, by results of {evidence['branch']}"),
        ("Status", item["status"]),
        ("Module", item["module"]),
        ("Version", str(item["version"])),
        ("Created", _moment(item["created_at"]) + _say_by_whom(item["created_by"])),
    ]
    parts = [
        f'<p class="quiet">{_text(title)}</p>\n<h1>{_text(item["title"])}</h1>',
        "<dl>" + "".join(f"<dt>{name}</dt><dd>{_text(value)}</dd>" for name, value in facts if value) + "</dl>",
        *(f'<p class="note">{_text(note)}</p>' for note in evidence["notes"]),
        _section("What it says", map(_version, evidence["versions"])),
        _section("Links", [_links(evidence["links"])]),
        _section("What happened to its links", [_events(evidence["events"])]),
        _section("Results", [_results(evidence["results"])]),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


def _section(title: str, parts: Iterable[str]) -> str:
    return f"<section><h2>{title}</h2>\n{''.join(parts)}</section>"


def _version(version: Mapping[str, Any]) -> str:
    said = f"Version {version['version']}"
    when = "" if version["at"] is None else f"{_moment(version['at'])}{_say_by_whom(version['actor'])}"
    return (
        f'<h3>{said} <span class="quiet">{_text(when)}</span></h3><p><strong>{_text(version["title"])}</strong></p>'
        f'<p>{_text(version["description"])}</p><p class="quiet">{_text(version["type"])},'
        f" {_text(version['priority'])} priority</p>\n"
    )


def _links(links: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for link in links:
        test_case = link["test_case"]
        made = {"manual": "made", "imported": "imported"}.get(link["link_source"], "accepted")
        by = f"{made}{_say_by_whom(link['created_by'])}, {_moment(link['created_at'])}"
        if made == "accepted" and link["confidence_score"] is not None:
            by += f", from a suggestion with a score of {link['confidence_score']:.2f}"
        confirmed = ""
        if link["confirmed_at"] and link["confirmed_at"] != link["created_at"]:
            confirmed = f"confirmed{_say_by_whom(link['confirmed_by'])}, {_moment(link['confirmed_at'])}"
        versions = f"for versions {link['requirement_version']} and {link['test_case_version']}"
        suspect = link["suspect_reason"]["summary"] if link["suspect"] else "not suspect"
        rows.append(
            (
                f"{test_case['external_id'] or ''} {test_case['title']}".strip(),
                link["link_type"],
                "; ".join(filter(None, (by, confirmed, versions))),
                link["notes"] or "",
                suspect,
            )
        )
    return _table(("Test case", "Link", "Who says so", "Note", "Suspicion"), rows, "No test case is linked to it.")


def _events(events: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for event in events:
        test_case = event["test_case"] or {}
        said = _KINDS.get(event["kind"], event["kind"])
        if event["suspected_by"]:
            side = event["suspected_by"].replace("_", " ")
            said += f": the {side} went to version {event['version']} ({', '.join(event['fields'])})"
        name = f"{test_case.get('external_id') or ''} {test_case.get('title') or ''}".strip()
        rows.append((_moment(event["at"]), name, said, without_pseudonyms(event["actor"] or ""), event["note"] or ""))
    return _table(("When", "Test case", "What", "Who", "Note"), rows, "Nothing is known.")


def _results(results: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for result in results:
        run, test = result["run"], result["test"]
        name = " ".join(filter(None, (test["class_name"], test["name"])))
        where = " · ".join(filter(None, (run["branch"], run["commit"], run["environment"])))
        who = without_pseudonyms(run["recorded_by"] or "")
        message = (result["message"] or "").partition("\n")[0]
        rows.append((_moment(result["at"]), result["status"], name, where, who, message))
    headings = ("When", "Result", "Test", "Branch, commit, environment", "Recorded by", "Message")
    return _table(headings, rows, "Nothing was executed for it.")


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]], none: str) -> str:
    if not rows:
        return f'<p class="quiet">{none}</p>'
    head = "".join(f'<th scope="col">{heading}</th>' for heading in headings)
    body = "".join(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>\n" for row in rows)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"


def _say_by_whom(who: str | None) -> str:
    return f" by {without_pseudonyms(who)}" if who else ""


def _moment(at: datetime | str) -> str:
    """Return a moment to the minute; one of JSON, of an item that was deleted, is written already."""
    return f"{at[:10]} {at[11:16]} UTC" if isinstance(at, str) else f"{at:%Y-%m-%d %H:%M} UTC"


def _text(value: str) -> str:
    return escape(value)
