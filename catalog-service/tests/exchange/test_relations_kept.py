"""Relations of requirements are made; others that are no links are kept, and how many there are is said."""

import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import pytest
from exchange_samples import FOLDER, samples

from catalog_service.exchange import read

JIRA = """Summary,Issue key,Issue Type,Status,Parent,Custom field (Epic Link),Outward issue link (Blocks)
Light,L-2,Story,Open,10001,L-9,L-3
Bell,L-3,Story,Open,,,
"""


def notices(content: bytes | str, name: str, **options: Any) -> dict[str, Any]:
    """Return what the reader says of a whole file, by code."""
    data = content.encode() if isinstance(content, str) else content
    order = read.Order(**{"format": "auto", "kind": "all", "author": "kim", "file_name": name, **options})
    *_, end = read.found(BytesIO(data), order)
    assert end[:1] == read.END, end
    return {notice["code"]: notice for notice in orjson.loads(end[1:])["notices"]}


def made(content: bytes | str, name: str, **options: Any) -> int:
    """Return how many relations of requirements the reader makes of a file."""
    data = content.encode() if isinstance(content, str) else content
    order = read.Order(**{"format": "auto", "kind": "all", "author": "kim", "file_name": name, **options})
    rows = (one[1:].partition(b"\n")[2] for one in read.found(BytesIO(data), order) if one[:1] == read.ROWS)
    return sum(line.split(b"\t")[2] == b"relation" for lines in rows for line in lines.splitlines())


def needs(**content: Any) -> bytes:
    return orjson.dumps(
        {
            "current_version": "1",
            "versions": {
                "1": {"needs": {name: {"type": "req", "title": "t", **need} for name, need in content.items()}}
            },
        }
    )


def packed(files: dict[str, str | bytes]) -> bytes:
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w") as into:
        for name, content in files.items():
            into.writestr(name, content)
    return archive.getvalue()


def kept(content: bytes | str, name: str, **options: Any) -> int:
    """Return how many relations a file has that are made, or said to be kept."""
    found = notices(content, name, **options).get("relations_kept")
    return made(content, name, **options) + (0 if found is None else found["count"])


@pytest.mark.parametrize(
    ("name", "content", "count"),
    [
        (
            "tree.zip",
            packed(
                {
                    "reqs/.doorstop.yml": "settings: {prefix: R}",
                    "tests/.doorstop.yml": "settings: {prefix: TST}",
                    "reqs/R1.yml": "text: Doors",
                    "reqs/R2.yml": "{text: Close, links: [R1, R7]}",
                    "tests/TST1.yml": "{text: Try, links: [R1]}",
                }
            ),
            2,
        ),
        (
            "a.sdoc",
            "[DOCUMENT]\nTITLE: Doors\n\n[REQUIREMENT]\nUID: R-1\nTITLE: Close\nRELATIONS:\n- TYPE: Parent\n"
            "  VALUE: SYS-1\n- TYPE: File\n  VALUE: doors.c\n\n[TEST_CASE]\nUID: T-1\nTITLE: Try\nRELATIONS:\n"
            "- TYPE: Parent\n  VALUE: R-1\n",
            1,
        ),
        (
            "needs.json",
            needs(R1={"links": []}, R2={"links": ["R1"], "parent_need": "R1"}, R3={"links": ["R1", "S9"]}),
            3,
        ),
        ("a.md", "# Close\n`req~close~1`\n\nCovers:\n- `feat~doors~1`\n\nNeeds: utest\n", 1),
        ("a.csv", "ID,Title,Parent ID\nR-1,Doors,\nR-2,Close,R-1\nR-3,Open,R-1\n", 2),
        ("a.csv", "ID;Titel;Übergeordnete Anforderung\nR-1;Türen;\nR-2;Schließen;R-1\n", 1),
        ("a.csv", "ID,Title,Made from\nR-1,Doors,\nR-2,Close,\nR-3,Lock,R-1;R-2\n", 2),
        ("jira.csv", JIRA, 3),
        ("ado.csv", "ID,Work Item Type,Title,State,Parent\n7,Feature,Doors,New,\n8,Requirement,Close,New,7\n", 1),
    ],
)
def test_the_relations_of_a_file_are_counted(name: str, content: str | bytes, count: int) -> None:
    assert kept(content, name) == count


def test_relations_are_told_in_a_sentence() -> None:
    said = notices("ID,Title,Parent\nR-1,Doors,\nR-2,Close,R-1\n", "a.csv")["relations_kept"]
    assert said["message"] == (
        "1 relation between requirements is kept as further data; Traceline does not make it yet."
    )


@pytest.mark.parametrize(
    "content",
    [
        "ID,Title,Effort\n1,Doors,\n2,Close,1\n3,Lock,2\n",  # numbers are no ids of rows
        "ID,Title,Key\nR-1,Doors,R-1\nR-2,Close,R-2\n",  # each row names itself
        "ID,Title,Epic\nR-1,Doors,All about doors\n",  # a title that names no row
    ],
)
def test_what_names_no_other_row_is_no_relation(content: str) -> None:
    assert kept(content, "a.csv") == 0


def test_relations_of_rows_that_are_left_out_are_not_counted() -> None:
    content = (
        "# Close\n`req~close~1`\n\nCovers:\n- `feat~doors~1`\n\n# Try\n`utest~try~1`\n\nCovers:\n- `utest~all~1`\n"
    )
    assert [kept(content, "a.md", kind=kind) for kind in ("requirements", "links")] == [1, 0]


def test_a_tree_of_work_items_says_that_its_levels_are_lost() -> None:
    content = "ID,Work Item Type,Title 1,Title 2\n7,Feature,Doors,\n8,Requirement,,Close\n9,Requirement,,Open\n"
    assert notices(content, "tree.csv")["levels_not_kept"]["count"] == 2


@pytest.mark.parametrize("path", samples("doorstop/*"))
def test_trees_of_doorstop_say_how_many_relations_they_have(path: Path) -> None:
    files = {file.relative_to(path).as_posix(): file.read_bytes() for file in path.rglob("*") if file.is_file()}
    assert kept(packed(dict(files)), "reqs.zip") == {"edgar": 3, "rpmget": 10}[path.name]


RELATIONS = {
    "needs-json/demo-needs.json": 2,
    "openfasttrace/exasol-rls/system_requirements.md": 21,
    "reqif/enterprise-architect.reqif": 1,
    "reqif/rmf-TC1700.reqifz": 1,
    "reqif/polarion-01.reqif": 0,
    "csv/jira-nasa-hk.csv": 0,
    "xlsx/strictdoc-import-basic.xlsx": 1,
}


@pytest.mark.parametrize("path", samples(*RELATIONS))
def test_files_of_real_tools_say_how_many_relations_they_have(path: Path) -> None:
    assert kept(path.read_bytes(), path.name) == RELATIONS[path.relative_to(FOLDER).as_posix()]


@pytest.mark.parametrize("path", samples("strictdoc/zephyr-mutex"))
def test_requirements_whose_parents_are_in_another_file_say_so(path: Path) -> None:
    files = {file.name: file.read_bytes() for file in path.iterdir()}
    assert kept(packed(dict(files)), "mutex.zip") == 12
