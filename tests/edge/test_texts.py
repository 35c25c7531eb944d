"""Text of every script and none: refused with 422, or exactly what was sent comes back, wherever it is read."""

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acceptance import texts
from acceptance.client import Json, Traceline, created, ok, problem, requirement, test_case

JSON_TYPE = {"Content-Type": "application/json"}
FRAGMENTS = [
    "\0",
    "\ud800",
    "\udfff",
    "\x01\x1b[31m\x7f",
    "\x85\u2028\u2029",
    "\t\r\n ",
    "\u00a0\u3000\u200b\ufeff",
    "\ufffe\uffff\U0010ffff",
    "שלום עולם",
    "\u202eevil\u2066\u2069",
    "مرحبا",
    "é",
    "e\u0301",
    "각",
    "\u1100\u1161\u11a8",
    "a" + "\u0301" * 30,
    "🚪",
    "👨\u200d👩\u200d👧\u200d👦",
    "🏴\U000e0067\U000e0062\U000e007f",
    "𝄞𐍈",
    "ßſİıǅ",
    "\\u0000\\",
    "%00%",
    "';--\"",
    "<script>",
    "${x}{{x}}",
]
TEXTS = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.characters(), st.just("word")), max_size=12).map("".join)
UNSEEN = {"Cc", "Cf", "Zs", "Zl", "Zp"}
"""Categories of Unicode: controls, formats and blanks."""
BOUNDED = settings(
    max_examples=40,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def is_text(value: str) -> bool:
    """Whether it is what a database can hold: Unicode without surrogates and NUL."""
    return not any(character == "\0" or "\ud800" <= character <= "\udfff" for character in value)


def is_acceptable(value: str, most: int | None = None) -> bool:
    return is_text(value) and bool(value.strip()) and (most is None or len(value) <= most)


def send(user: Traceline, method: str, path: str, body: Json) -> Any:
    """Send JSON, everything beyond ASCII escaped; UTF-8 cannot carry half a surrogate pair."""
    return user.request(method, path, content=json.dumps(body), headers=JSON_TYPE)


@given(title=TEXTS, text=TEXTS, tag=TEXTS, name=TEXTS, key=TEXTS)
@BOUNDED
def test_a_requirement_comes_back_as_it_was_sent(
    reviewer: Traceline, title: str, text: str, tag: str, name: str, key: str
) -> None:
    external_id = texts.word(20)
    sent = requirement(
        title=title,
        description=text,
        tags=[tag, "plain"],
        module=name,
        created_by=name,
        custom_metadata={key: {"text": text, "list": [title]}},
        external_id=external_id,
    )
    response = send(reviewer, "POST", "/requirements", sent)
    is_right = is_acceptable(title, 500) and is_acceptable(text) and is_acceptable(tag) and is_text(key)
    if not (is_right and is_text(name) and len(name) <= 100):
        problem(response, 422)
        return
    made = created(response)
    assert made["title"] == title.strip()
    for field in ("description", "tags", "custom_metadata"):
        assert made[field] == sent[field]
    for field in ("module", "created_by"):
        assert made[field] == (name if name.strip() else (None if field == "module" else reviewer.me()["email"]))
    path = f"/requirements/{made['id']}"
    assert reviewer.read(path) == made
    (row,) = reviewer.items("/requirements", external_id=external_id)
    assert row.pop("etag")
    assert row == made
    changed = ok(send(reviewer, "PATCH", path, {"title": f"x{text}"[:500], "tags": [title]}))
    assert changed["title"] == f"x{text}"[:500].strip()
    assert changed["tags"] == [title]
    assert reviewer.read(path) == changed


@given(step=TEXTS, condition=TEXTS, value=TEXTS)
@BOUNDED
def test_a_test_case_comes_back_as_it_was_sent(reviewer: Traceline, step: str, condition: str, value: str) -> None:
    sent = test_case(
        steps={"1": step, "2": "plain"},
        preconditions=condition,
        postconditions=condition,
        test_data={value: [step, value]},
    )
    response = send(reviewer, "POST", "/test-cases", sent)
    if not (is_text(step) and is_text(condition) and is_text(value)):
        problem(response, 422)
        return
    made = created(response)
    assert made["steps"] == sent["steps"]
    assert made["test_data"] == sent["test_data"]
    for field in ("preconditions", "postconditions"):
        assert made[field] == (condition if condition.strip() else None)
    assert reviewer.read(f"/test-cases/{made['id']}") == made


@given(notes=TEXTS)
@BOUNDED
def test_notes_of_a_link_come_back_as_they_were_sent(reviewer: Traceline, notes: str) -> None:
    pair = {
        "requirement_id": reviewer.create_requirement()["id"],
        "test_case_id": reviewer.create_test_case()["id"],
    }
    response = send(reviewer, "POST", "/links", pair | {"notes": notes})
    if not is_text(notes):
        problem(response, 422, field="notes")
        return
    made = created(response)
    assert made["notes"] == (notes if notes.strip() else None)
    assert reviewer.read(f"/links/{made['id']}") == made


@given(name=TEXTS)
@BOUNDED
def test_the_name_of_a_user_comes_back_as_it_was_sent(admin: Traceline, name: str) -> None:
    body = {"email": texts.email(), "password": "correct horse battery", "full_name": name}
    response = send(admin, "POST", "/users", body)
    can_be_seen = any(unicodedata.category(character) not in UNSEEN for character in name)
    if not (is_acceptable(name, 200) and can_be_seen):
        problem(response, 422, field="full_name")
        return
    made = created(response)
    assert made["full_name"].strip() == name.strip()
    assert made["full_name"] in name
    assert admin.read(f"/users/{made['id']}") == made


@given(text=TEXTS.filter(lambda text: not any("\ud800" <= character <= "\udfff" for character in text)))
@BOUNDED
def test_any_query_is_answered_or_refused(admin: Traceline, text: str) -> None:
    for path, name in (
        ("/search", "q"),
        ("/requirements", "search"),
        ("/test-cases", "module"),
        ("/requirements", "tag"),
        ("/suggestions", "search"),
        ("/users", "q"),
        ("/reports/traceability-matrix", "module"),
    ):
        response = admin.get(path, params={name: text})
        if "\0" in text or (path == "/search" and not text.strip()):
            problem(response, 422, field=name)
        elif name in ("module", "tag") and response.status_code == 422:
            # A filter has a syntax of its own; quoted, every text is one value.
            problem(response, 422, field=name)
            ok(admin.get(path, params={name: '"{}"'.format(text.replace('"', '""'))}))
        else:
            ok(response)


CHARACTERS = ["x", "é", "各", "🚪", "\U0010fffd", "\u0301"]


@pytest.mark.parametrize("character", CHARACTERS, ids=ascii)
def test_lengths_are_counted_in_code_points(reviewer: Traceline, character: str) -> None:
    longest = requirement(title=character * 500, module=character * 100, created_by=character * 100, tags=[character])
    made = created(reviewer.post("/requirements", json=longest))
    for field in ("title", "module", "created_by", "tags"):
        assert made[field] == longest[field]
    assert reviewer.read(f"/requirements/{made['id']}") == made
    ok(reviewer.get("/search", params={"q": character * 500}))
    for field, most in (("title", 500), ("module", 100), ("created_by", 100), ("external_id", 100)):
        body = requirement(**{field: character * (most + 1)})
        problem(reviewer.post("/requirements", json=body), 422, field=field)
        problem(reviewer.post("/test-cases", json=body), 422, field=field)
    problem(reviewer.get("/search", params={"q": character * 501}), 422, field="q")


def test_composed_and_decomposed_texts_stay_two(reviewer: Traceline) -> None:
    word = texts.word()
    composed, decomposed = (
        created(reviewer.post("/requirements", json=requirement(external_id=name)))
        for name in (f"{word}é", f"{word}e\u0301")
    )
    for item in (composed, decomposed):
        (row,) = reviewer.items("/requirements", external_id=item["external_id"])
        assert row["id"] == item["id"]


def test_texts_are_the_same_in_lists_searches_and_reports(reviewer: Traceline) -> None:
    word, module = texts.word(), texts.word()
    good = [fragment.strip() for fragment in FRAGMENTS if is_acceptable(fragment)]
    titles = sorted(f"{word} {fragment} end" for fragment in good)
    for title in titles:
        made = reviewer.create_requirement(title=title, module=module, tags=[title])
        reviewer.create_link(made["id"], reviewer.create_test_case(title=title, module=module)["id"])
    assert sorted(item["title"] for item in reviewer.items("/requirements", module=module)) == titles
    assert sorted(item["title"] for item in reviewer.items("/requirements", search=word)) == titles
    found = reviewer.items("/search", q=word, type="requirement")
    assert sorted(hit["title"] for hit in found) == titles
    matrix = reviewer.read("/reports/traceability-matrix", module=module, limit=100)
    assert sorted(row["title"] for row in matrix["items"]) == titles
    assert sorted(cell["title"] for row in matrix["items"] for cell in row["test_cases"]) == titles


def test_a_megabyte_of_different_words_is_stored_or_refused(reviewer: Traceline) -> None:
    description = " ".join(f"word{number:x}" for number in range(100_000))
    response = reviewer.post("/requirements", json=requirement(description=description))
    if response.status_code == 201:
        assert reviewer.read(f"/requirements/{response.json()['id']}")["description"] == description
    else:
        problem(response, 422)
