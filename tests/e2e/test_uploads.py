"""Files on their way in: longer than other bodies may be, and not longer than is said."""

import json
from collections.abc import Iterator

from acceptance import texts
from acceptance.client import Traceline, problem, requirement

MIB = 1024 * 1024


def test_a_file_may_be_longer_than_other_bodies(reviewer: Traceline) -> None:
    items = [requirement(external_id=texts.word(), description="long " * 7_000) for _ in range(60)]
    file = b"".join(json.dumps({"kind": "requirement", **item}).encode() + b"\n" for item in items)
    assert len(file) > 2 * MIB
    sent = reviewer.post("/imports", content=file, headers={"Content-Type": "application/x-ndjson"})
    planned = reviewer.wait_for_import(sent)
    assert (planned["status"], planned["size"]) == ("planned", len(file))
    assert planned["counts"]["requirements"]["create"] == len(items)
    refused = problem(reviewer.post("/requirements/bulk", content=file), 413, "body_too_large")
    assert "larger than the 1 MiB that this address takes" in refused["detail"]


def test_a_file_that_is_too_long_is_refused_with_what_to_do(reviewer: Traceline) -> None:
    refused = problem(reviewer.post("/imports", content=zeros(65)), 413, "body_too_large")
    assert "larger than the 64 MiB that this address takes; split the file" in refused["detail"]


def test_who_may_not_import_is_told_so_while_the_file_still_comes(viewer: Traceline) -> None:
    problem(viewer.post("/imports", content=zeros(64)), 403)


def zeros(mebibytes: int) -> Iterator[bytes]:
    for _ in range(mebibytes):
        yield bytes(MIB)
