"""What files of tools come to as a whole: their items, links and what is said of the rest, a case a kind."""

import io
import zipfile
from dataclasses import dataclass, field
from typing import Any

import pytest

from catalog_service.exchange import registry
from catalog_service.exchange.formats import ReadOptions
from catalog_service.exchange.records import Item, Link, Notice, Record


@dataclass
class Case:
    """A file, the external ids of its items by their kind, its links, and codes of what is said of it."""

    name: str
    content: str | bytes
    requirements: list[str] = field(default_factory=list)
    test_cases: list[str] = field(default_factory=list)
    links: set[tuple[str, str]] = field(default_factory=set)
    said: set[str] = field(default_factory=set)
    fields: dict[str, dict[str, Any]] = field(default_factory=dict)


def tree(files: dict[str, str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


DOORS = """"Object Identifier","Object Level","Object Heading","Object Text","Priority","In-links"
"BRK1","1","Brakes","","",""
"BRK2","2","","The brake holds the car on a slope.","High","TBR1; TBR2"
"BRK3","2","Hand brake","","",""
"BRK4","3","","The hand brake holds without power.","Low",""
"BRK5","2","","","",""
"BRK6","2","","The pedal returns by itself.","Low",""
"""
TESTLINK = """<testcases><testcase internalid="3" name="Pump fills"><fullexternalid>PMP-3</fullexternalid>
<steps><step><step_number>3</step_number><actions>third</actions><expectedresults>c</expectedresults></step>
<step><step_number>1</step_number><actions>first</actions><expectedresults>a</expectedresults></step>
<step><step_number>2</step_number><actions>second</actions><expectedresults>b</expectedresults></step></steps>
<requirements><requirement><doc_id>PUMP-REQ-1</doc_id></requirement></requirements></testcase></testcases>"""
OPENFASTTRACE = """# Pump
## Filling
`req~fills~1`

The pump fills the tank.

Needs: utest

### It is tried
`utest~fills~1`

Covers: `req~fills~1`

`dsn --> impl, utest : req~fills~1`
"""
AZURE = """ID,Work Item Type,Title,Test Step,Step Action,Step Expected
,Test Case,Tap opens,1,Turn the tap,Water runs
,,,1,Turn the tap,Water runs
,,,2,Turn it back,Water stops
"""
DOORSTOP = tree(
    {
        "req/.doorstop.yml": "settings:\n  digits: 3\n  prefix: PMP\n  sep: '-'\n",
        "req/PMP-001.yml": "active: true\nheader: Pump\nlevel: 1.0\nnormative: false\ntext: ''\nlinks: []\n",
        "req/PMP-002.yml": "active: true\nheader: Fills\nlevel: 1.1\nnormative: true\ntext: It fills.\nlinks: []\n",
        "test/.doorstop.yml": "settings:\n  digits: 3\n  parent: PMP\n  prefix: TST\n  sep: '-'\n",
        "test/TST-001.yml": "active: true\nlevel: 1.0\nnormative: true\ntext: Fill it.\nlinks:\n"
        "- PMP-002: abc\n- PMP-050: null\n",
    }
)
GERMAN = "Nr;Titel;Beschreibung;Priorität;Typ;Prüffall\nP-1;Pumpe;Die Pumpe füllt.;hoch;nicht funktional;T-1;\n"

POLARION = """ID,Title,Type,Status,Linked Work Items
PMP-1,Pump fills,System Requirement,Approved,"is verified by: PMP-3 - Fill it, twice, is refined by: PMP-2 - Light"
PMP-2,Light,System Requirement,Draft,refines: PMP-1 - Pump fills
PMP-3,Fill it,System Test Case,Approved,verifies: PMP-2 - Light
"""
IN_OTHER_WORDS = """ID,Title,Description,Verified by
R-1,Pump,The pump fills the tank in time.,is verified by: T-3 - Fill it
R-2,Light,The light tells that it fills.,T-4;T-5
R-3,Bell,The bell tells that it is full.,"[ISSUE:17] - Ring, ring"
R-4,Lid,The lid closes by itself.,T-6 - Lid; T-7 - Lid again
"""
FRENCH = "Identifiant,Titre,Description,Vérifié par\nE-1,Pompe,La pompe remplit la cuve.,T-1\n"
GERMAN_TESTS = "Testfall-ID;Titel;Schritt;Deckt Anforderung ab\nT-1;Pumpe;Pumpe füllen;R-1\n"
KEYS = "Req,Test\nR-1,T-1\nR-2,T-2\nR-2,T-3\n"

STEPS = """Test ID,Title,Steps,Expected Result
T-1,In a line,1. Open the lid 2. Fill the pump 3. Close it,1. It opens 2. It fills 3. It closes
T-2,Labelled,"Step 1: Open
Step 2: Close","ER-1: It opens
ER-2: It closes"
T-3,Numbered,"1. Open
2. Wait
3. Close","1. It opens
3. It closes"
T-4,Named,"1. Open (ER-2)
2. Close (ER-1)","ER-1: It closes
ER-2: It opens"
T-5,Acts,Open the lid; fill the pump; close the lid,
T-6,One act,Open the lid; it is red,It opens
"""

STEP_NUMBERS = """Test ID,Title,Step,Action,Expected
T-1,Fill,2,Close the lid,It closes
T-1,Fill,1,Open the lid,It opens
T-2,Drain,1,Turn the tap,It drains
"""

CASES = [
    Case(
        "numbers.csv",
        STEP_NUMBERS,
        test_cases=["T-1", "T-2"],
        fields={
            "T-1": {"steps": {"1": "Open the lid\nExpected: It opens", "2": "Close the lid\nExpected: It closes"}},
            "T-2": {"steps": {"1": "Turn the tap\nExpected: It drains"}},
        },
    ),
    Case(
        "steps.csv",
        STEPS,
        test_cases=[f"T-{number}" for number in range(1, 7)],
        fields={
            "T-1": {
                "steps": {
                    "1": "Open the lid\nExpected: It opens",
                    "2": "Fill the pump\nExpected: It fills",
                    "3": "Close it\nExpected: It closes",
                }
            },
            "T-2": {"steps": {"1": "Open\nExpected: It opens", "2": "Close\nExpected: It closes"}},
            "T-3": {"steps": {"1": "Open\nExpected: It opens", "2": "Wait", "3": "Close\nExpected: It closes"}},
            "T-4": {"steps": {"1": "Open (ER-2)\nExpected: It opens", "2": "Close (ER-1)\nExpected: It closes"}},
            "T-5": {"steps": {"1": "Open the lid", "2": "fill the pump", "3": "close the lid"}},
            "T-6": {"steps": {"1": "Open the lid; it is red\nExpected: It opens"}},
        },
    ),
    Case(
        "polarion.csv",
        POLARION,
        requirements=["PMP-1", "PMP-2"],
        test_cases=["PMP-3"],
        links={("PMP-1", "PMP-3"), ("PMP-2", "PMP-3")},
        fields={"PMP-2": {"Linked Work Items": "refines: PMP-1 - Pump fills"}},
    ),
    Case(
        "words.csv",
        IN_OTHER_WORDS,
        requirements=["R-1", "R-2", "R-3", "R-4"],
        links={("R-1", "T-3"), ("R-2", "T-4"), ("R-2", "T-5"), ("R-3", "17"), ("R-4", "T-6"), ("R-4", "T-7")},
    ),
    Case("exigences.csv", FRENCH, requirements=["E-1"], links={("E-1", "T-1")}),
    Case("testfaelle.csv", GERMAN_TESTS, test_cases=["T-1"], links={("R-1", "T-1")}),
    Case("keys.csv", KEYS, links={("R-1", "T-1"), ("R-2", "T-2"), ("R-2", "T-3")}),
    Case(
        "doors.csv",
        DOORS,
        requirements=["BRK2", "BRK4", "BRK6"],
        links={("BRK2", "TBR1"), ("BRK2", "TBR2")},
        said={"headings_as_sections", "empty_objects"},
        fields={
            "BRK2": {"sections": ["Brakes"]},
            "BRK4": {"sections": ["Brakes", "Hand brake"]},
            "BRK6": {"sections": ["Brakes"]},
        },
    ),
    Case(
        "testlink.xml",
        TESTLINK,
        test_cases=["PMP-3"],
        links={("PUMP-REQ-1", "PMP-3")},
        fields={"PMP-3": {"steps": {"1": "first\nExpected: a", "2": "second\nExpected: b", "3": "third\nExpected: c"}}},
    ),
    Case(
        "pump.md",
        OPENFASTTRACE,
        requirements=["req~fills~1"],
        test_cases=["utest~fills~1"],
        links={("req~fills~1", "utest~fills~1")},
        said={"forward_not_taken"},
        fields={"utest~fills~1": {"description": "It is tried"}},
    ),
    Case(
        "azure.csv",
        AZURE,
        test_cases=["Tap opens"],
        said={"step_repeated"},
        fields={
            "Tap opens": {
                "steps": {"1": "Turn the tap\nExpected: Water runs", "2": "Turn it back\nExpected: Water stops"}
            }
        },
    ),
    Case(
        "pump.zip",
        DOORSTOP,
        requirements=["PMP-002"],
        test_cases=["TST-001"],
        links={("PMP-002", "TST-001"), ("PMP-050", "TST-001")},
        said={"headings_left_out"},
    ),
    Case(
        "pumpe.csv",
        GERMAN,
        requirements=["P-1"],
        links={("P-1", "T-1")},
        fields={"P-1": {"type": "non_functional", "priority": "high"}},
    ),
]


def read(case: Case) -> list[Record]:
    content = case.content.encode() if isinstance(case.content, str) else case.content
    chosen = registry.recognise(io.BytesIO(content), case.name, None)
    return list(chosen.read(io.BytesIO(content), ReadOptions(file_name=case.name)))


def said_of(item: Item) -> dict[str, Any]:
    """Return the fields of an item with those that its tool has of it."""
    further = item.fields.get("custom_metadata") or {}
    return {
        **item.fields,
        **{name: value for part in further.values() if isinstance(part, dict) for name, value in part.items()},
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_file_of_a_tool_comes_to_what_it_says(case: Case) -> None:
    records = read(case)
    items = [record for record in records if isinstance(record, Item)]
    names = {id(item): item.fields.get("external_id") or item.fields["title"] for item in items}
    found = {kind: [names[id(one)] for one in items if one.kind == kind] for kind in ("requirement", "test_case")}
    assert found == {"requirement": case.requirements, "test_case": case.test_cases}
    links = {(one.requirement["external_id"], one.test_case["external_id"]) for one in records if isinstance(one, Link)}
    assert links == case.links
    assert case.said <= {record.code for record in records if isinstance(record, Notice)}
    for item in items:
        wanted = case.fields.get(names[id(item)], {})
        assert {name: said_of(item).get(name) for name in wanted} == wanted


def test_fewer_results_than_steps_without_numbers_are_told() -> None:
    case = Case("few.csv", 'Test ID,Title,Steps,Expected Result\nT-1,Few,"1. Open\n2. Close",It opens\n')
    (item,) = (record for record in read(case) if isinstance(record, Item))
    assert item.fields["steps"] == {"1": "Open\nExpected: It opens", "2": "Close"}
    assert [one.code for one in item.warnings] == ["results_by_position"]
