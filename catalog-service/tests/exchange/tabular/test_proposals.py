"""The mappings that are proposed for tables that no preset knows."""

import pytest
from tables import inspect, read, workbook

from catalog_service.exchange.formats import Inspection


def fields_of(found: Inspection) -> dict[str, str]:
    return {column["name"]: column["field"] for column in found.columns}


@pytest.mark.parametrize(
    ("header", "row", "fields"),
    [
        ("ID;Bezeichnung;Beschreibung;Priorität;Modul", "A-1;Tür;Die Tür schließt.;Hoch;Türen", "de"),
        ("N°;Titre;Exigence;Priorité;Module", "A-1;Porte;La porte ferme.;Élevée;Portes", "fr"),
        ("Código;Título;Descripción;Prioridad;Módulo", "A-1;Puerta;La puerta se cierra.;Alta;Puertas", "es"),
        ("编号;标题;描述;优先级;模块", "A-1;车门;车门应关闭。;高;车门", "zh"),
        ("№;Название;Требование;Приоритет;Модуль", "A-1;Дверь;Дверь закрывается.;Высокий;Двери", "ru"),
        ("요구사항 ID;요구사항명;요구사항 내용;우선순위;모듈", "A-1;문;문이 닫힌다.;높음;문", "ko"),
        ("要求ID;要求名;要求内容;優先度;モジュール", "A-1;ドア;ドアは閉まること。;高;ドア", "ja"),
        ("ID;Název;Popis;Priorita;Modul", "A-1;Dveře;Dveře se zavřou.;Vysoká;Dveře", "cs"),
        ("Azonosító;Megnevezés;Leírás;Prioritás;Modul", "A-1;Ajtó;Az ajtó becsukódik.;Magas;Ajtók", "hu"),
        ("Kimlik;Başlık;Açıklama;Öncelik;Modül", "A-1;Kapı;Kapı kapanır.;Yüksek;Kapılar", "tr"),
        ("ID;Rubrik;Beskrivning;Prioritet;Modul", "A-1;Dörr;Dörren stängs.;Hög;Dörrar", "sv"),
        ("ID;Titel;Beskrivelse;Prioritet;Modul", "A-1;Dør;Døren lukker.;Høj;Døre", "da"),
        ("Tunniste;Otsikko;Kuvaus;Prioriteetti;Moduuli", "A-1;Ovi;Ovi sulkeutuu.;Korkea;Ovet", "fi"),
        ("編號;標題;描述;優先級;模組", "A-1;車門;車門應關閉。;高;車門", "tw"),
        ("Req ID;Name;Requirement Text;Prio.;Component", "A-1;Door;The door closes.;Should;Doors", "en"),
        ("Code;Name;Description;Priority;Module", "A-1;Door;The door closes.;Should;Doors", "co"),
        ("Document Key;Name;Description;Priority;Folder", "A-1;Door;The door closes.;Should;Doors", "ja"),
    ],
    ids=lambda value: value if len(value) == 2 else "",
)
def test_columns_are_known_by_their_names_in_several_languages(header: str, row: str, fields: str) -> None:
    found = inspect(f"{header}\n{row}\n{row.replace('A-1', 'A-2')}\n")
    assert list(fields_of(found).values()) == ["external_id", "title", "description", "priority", "module"]
    assert all(column["confidence"] >= 0.8 and column["reason"] for column in found.columns)
    assert read(f"{header}\n{row}\n").fields[0]["priority"] == "high"


def test_test_cases_are_told_from_requirements_by_their_columns() -> None:
    found = inspect("Nr;Testfall;Vorbedingung;Schritte;Erwartetes Ergebnis\nT-1;Tür;Zug steht;1. Öffnen;1. Offen\n")
    assert found.mapping is not None
    assert found.mapping["kind"] == "test_cases"
    assert found.mapping["fields"]["steps"] == {
        "style": "cell",
        "action": "Schritte",
        "expected": "Erwartetes Ergebnis",
    }


def test_a_code_is_an_id_only_where_no_other_column_is_one() -> None:
    found = inspect("Code;ID;Title;Description\nA1;7;Door;It closes.\nA1;8;Lock;It locks.\n")
    assert list(fields_of(found).values()) == [None, "external_id", "title", "description"]
    found = inspect("Code;Title;Description\nA1;Door;It closes.\nA1;Lock;It locks.\nB2;Horn;It sounds.\n")
    assert list(fields_of(found).values()) == [None, "title", "description"]


def test_test_cases_whose_expected_results_are_a_column_of_steps() -> None:
    found = inspect(
        "Case ID,Case,Steps,Steps (Expected)\nC1,Log in,1. Open,1. It opens\nC2,Out,1. Leave,1. One is out\n"
    )
    assert list(fields_of(found).values()) == ["external_id", "title", "action", "expected"]


@pytest.mark.parametrize(
    ("expected", "steps"),
    [
        ("1. Shown\n3. In", ["Open\nExpected: Shown", "Type", "Enter\nExpected: In"]),
        ("2) Typed", ["Open", "Type\nExpected: Typed", "Enter"]),
        ("1. Shown in\n3 - 5 s\n2. Typed", ["Open\nExpected: Shown in\n3 - 5 s", "Type\nExpected: Typed", "Enter"]),
    ],
)
def test_what_is_expected_belongs_to_the_step_of_its_number(expected: str, steps: list[str]) -> None:
    found = read(f'ID,Test Case,Steps,Expected Result\n1,A,"1. Open\n2. Type\n3. Enter","{expected}"\n')
    assert list(found.fields[0]["steps"].values()) == steps


def test_columns_of_one_name_are_tags_together() -> None:
    found = inspect("ID,Title,Labels,Labels,Labels\n1,A,x,y,\n2,B,,,z\n")
    assert [column["field"] for column in found.columns] == ["external_id", "title", "tags", "tags", "tags"]
    found = read("ID,Title,Labels,Labels,Labels\n1,A,x,y,\n2,B,,,z\n")
    assert [item["tags"] for item in found.fields] == [["x", "y"], ["z"]]


def test_steps_in_rows_are_seen_by_the_blanks_of_the_id() -> None:
    found = inspect("ID,Test Case,Step,Expected Result\n1,A,one,x\n,,two,y\n2,B,three,z\n")
    assert found.mapping is not None
    assert found.mapping["fields"]["steps"] == {
        "style": "rows",
        "continues_when_blank": "ID",
        "action": "Step",
        "expected": "Expected Result",
    }


def test_steps_in_rows_are_seen_by_an_id_that_stands_in_each() -> None:
    found = read("Test ID,Test Name,Step,Expected\n1,A,one,x\n1,A,two,y\n2,B,three,z\n2,B,four,\n")
    assert [list(item["steps"].values()) for item in found.fields] == [
        ["one\nExpected: x", "two\nExpected: y"],
        ["three\nExpected: z", "four"],
    ]


def test_steps_in_columns_are_seen_by_their_numbers() -> None:
    found = read("Name,Step 1,Expected 1,Step 2,Expected 2\nA,one,x,two,y\n", "tests.csv")
    assert found.fields[0]["steps"] == {"1": "one\nExpected: x", "2": "two\nExpected: y"}
    seen = inspect("Name,Step 1,Expected 1,Step 2,Expected 2\nA,one,x,two,y\n", "tests.csv")
    assert [column["field"] for column in seen.columns] == ["title", "action", "expected", "action", "expected"]
    named = inspect("Name,Step 1,Step 2\nA,one,two\n", "tests.csv", mapping=seen.mapping)
    assert [column["field"] for column in named.columns] == ["title", "steps.action", "steps.action"]


def test_durations_that_are_no_whole_minutes_are_kept_as_they_are() -> None:
    found = read("Testfall-ID;Testfall;Dauer\nT-1;Auf;2,5\nT-2;Zu;1\n")
    assert [fields["custom_metadata"]["import"]["Dauer"] for fields in found.fields] == ["2,5", "1"]
    assert read("Testfall-ID;Testfall;Dauer\nT-1;Auf;1h 30m\n").fields[0]["execution_time_minutes"] == 90


def test_a_table_with_steps_is_of_test_cases_unless_it_says_otherwise() -> None:
    found = read('ID,Title,Steps,Requirement\nT-1,a,"1. go\n2. see","R-1, R-2"\n')
    assert found.fields[0]["steps"] == {"1": "go", "2": "see"}
    assert [link.requirement["external_id"] for link in found.links] == ["R-1", "R-2"]
    (item,) = read("Requirement ID,Title,Steps to reproduce\nR-1,a,go\n").items
    assert item.kind == "requirement"


def test_a_table_of_links_is_known() -> None:
    found = read("Requirement ID,Test Case ID,Notes\nR-1,T-1,n\n")
    assert [(link.requirement, link.test_case, link.fields) for link in found.links] == [
        ({"external_id": "R-1"}, {"external_id": "T-1"}, {"notes": "n"})
    ]


@pytest.mark.parametrize(
    "header",
    [
        "Req ID,TC ID",
        "REQ,TC",
        "Requirement,TC ID",
        "Anforderung,Testfall",
        "需求编号,用例编号",
        "Req. No.,Test No.",
        "Requirement Key,Test Key",
    ],
)
def test_a_table_of_two_columns_of_ids_is_one_of_links(header: str) -> None:
    found = read(f"{header}\nR-1,T-1\nR-2,T-1\n")
    assert [(link.requirement, link.test_case, link.fields) for link in found.links] == [
        ({"external_id": "R-1"}, {"external_id": "T-1"}, {}),
        ({"external_id": "R-2"}, {"external_id": "T-1"}, {}),
    ]
    assert not found.items
    assert not found.notices


def test_a_type_that_is_one_of_links_makes_no_items() -> None:
    found = read("Req ID;Test ID;Type\nR-1;T-1;verifies\nR-1;T-2;\n")
    assert [(link.requirement, link.test_case, link.fields) for link in found.links] == [
        ({"external_id": "R-1"}, {"external_id": "T-1"}, {"link_type": "verifies"}),
        ({"external_id": "R-1"}, {"external_id": "T-2"}, {"link_type": "covers"}),
    ]
    assert not found.items


def test_each_row_of_a_test_case_may_name_requirements() -> None:
    found = read(
        "ID,Title,Action,Expected Result,Requirement\nT-1,Log in,Open,Opens,R-1\n,,Enter,In,R-2; R-3\n,,Look,,R-1\n"
        "T-2,Log out,Leave,Gone,\n"
    )
    assert [link.requirement["external_id"] for link in found.links] == ["R-1", "R-2", "R-3"]
    assert not found.items[0].warnings


def test_two_columns_of_texts_are_no_links() -> None:
    found = read("Requirement,Test\nDoors close,Press the button\n")
    assert (len(found.items), found.links) == (1, [])


def test_a_row_of_links_may_name_several_items() -> None:
    found = read('Requirement ID;Test Case IDs;Link type\nR-1;"T-1, T-2";verifies\nR-2;T-3;\n', kind="links")
    ends = [(link.requirement["external_id"], link.test_case["external_id"], link.row) for link in found.links]
    assert ends == [("R-1", "T-1", 2), ("R-1", "T-2", 2), ("R-2", "T-3", 3)]
    assert [link.fields["link_type"] for link in found.links] == ["verifies", "verifies", "covers"]


def test_values_that_nobody_knows_are_taken_for_the_usual_one_with_less_confidence() -> None:
    found = inspect("ID,Title,Priority\n1,a,High\n2,b,Zebra\n")
    column = found.columns[2]
    assert (column["field"], column["confidence"]) == ("priority", 0.6)
    assert "What 'Zebra' means is not known: taken for medium" in column["reason"]
    items = read("ID,Title,Priority\n1,a,High\n2,b,Zebra\n").items
    assert [item.fields["priority"] for item in items] == ["high", "medium"]
    assert items[1].warnings[0].code == "value_not_listed"
    assert items[1].fields["custom_metadata"] == {"import": {"Priority": "Zebra"}}


def test_a_category_of_numbered_types_is_no_module() -> None:
    fields = [
        column["field"] for column in inspect("ID,Title,Category\n1,a,1 - Functional\n2,b,2 - Technical\n").columns
    ]
    assert fields == ["external_id", "title", "type"]
    fields = [column["field"] for column in inspect("ID,Title,Category\n1,a,1 - Doors\n2,b,2 - Brakes\n").columns]
    assert fields == ["external_id", "title", "module"]


def test_a_value_that_is_misspelt_is_left_for_people_to_mend() -> None:
    content = "ID,Title,Priority\n1,a,High\n2,b,Hihg\n3,c,\n"
    assert "'Hihg' may be misspelt" in inspect(content).columns[2]["reason"]
    found = read(content)
    assert [item["priority"] for item in found.fields] == ["high", "Hihg", "medium"]
    assert found.items[2].defaulted == ["priority", "type"]


def test_numbers_as_priorities_are_taken_with_the_smallest_for_the_highest_and_half_a_confidence() -> None:
    found = inspect("ID,Title,Priority\n1,a,1\n2,b,2\n3,c,3\n")
    assert found.columns[2]["confidence"] == 0.5
    priorities = [item["priority"] for item in read("ID,Title,Priority\n1,a,1\n2,b,2\n3,c,3\n").fields]
    assert priorities == ["high", "medium", "low"]


def test_long_texts_are_descriptions_from_which_titles_are_cut() -> None:
    text = "The train shall not start to move while a door is open, whatever the driver asks for. " * 2
    found = read(f"ID,Requirement\n1,{text.replace(',', ' ')}\n")
    assert found.fields[0]["title"].startswith("The train shall not start to move")
    assert len(found.fields[0]["title"]) <= 120
    assert found.fields[0]["title"].endswith("…")


def test_the_longest_texts_are_taken_where_no_header_says_anything() -> None:
    found = read("Foo,Bar\nx,Doors shall close\ny,Doors shall open\n")
    assert [item["title"] for item in found.fields] == ["Doors shall close", "Doors shall open"]
    assert found.notices["unsure_column"].message.startswith("The column 'Bar' was taken for title")


def test_a_header_of_an_id_over_texts_is_no_id() -> None:
    found = inspect("Reference,Title\nsee the standard and its annex,a\nsee the standard and its annex,b\n")
    assert fields_of(found)["Reference"] is None


def test_a_kind_that_is_asked_for_is_taken() -> None:
    content = "ID,Name,Type\n1,a,Load\n"
    assert [item.kind for item in read(content, kind="test_cases").items] == ["test_case"]
    assert read(content, kind="test_cases").fields[0]["type"] == "performance"
    assert [item.kind for item in read(content).items] == ["requirement"]


@pytest.mark.parametrize(
    ("content", "key"),
    [
        ("Title,Module\na,m\nb,m\n", ["title", "module"]),
        ("Title,Module\na,m\na,m\n", None),
        ("ID,Title\n1,a\n", None),
    ],
)
def test_a_table_without_ids_has_a_key_where_its_titles_tell_its_items_apart(content: str, key: list[str]) -> None:
    mapping = inspect(content).mapping
    assert mapping is not None
    assert mapping.get("key") == key


@pytest.mark.parametrize(
    ("name", "header", "kind"),
    [
        ("test.csv", "ID,Title,Priority", "requirements"),
        ("test_cases.csv", "ID,Title,Priority", "test_cases"),
        ("a.csv", "Req ID,Requirement,Test Cases", "requirements"),
        ("a.csv", "Test ID,Title,Requirement", "test_cases"),
        ("requirements and test cases.csv", "ID,Title", "requirements"),
    ],
)
def test_what_the_rows_are_is_told_by_the_first_header_that_names_it_then_by_the_file(
    name: str, header: str, kind: str
) -> None:
    mapping = inspect(f"{header}\n1,a,b\n", name).mapping
    assert mapping is not None
    assert mapping["kind"] == kind


def test_ids_of_requirements_among_test_cases_are_those_of_links() -> None:
    found = read("Requirement ID,Test Case ID,Test Case Title,Steps\nR-1,T-1,a,x\nR-2,T-2,b,y\n")
    assert [item["external_id"] for item in found.fields] == ["T-1", "T-2"]
    assert [link.requirement["external_id"] for link in found.links] == ["R-1", "R-2"]


@pytest.mark.parametrize(("header", "both"), [("Test Cases", "T-1, T-2"), ("Test Case No.", "T-1\nT-2")])
def test_a_requirement_is_linked_by_a_column_of_test_cases(header: str, both: str) -> None:
    found = read(f'Req ID,Requirement,{header}\nR-1,Doors close,"{both}"\nR-2,Doors open,T-3\n')
    assert [(link.requirement["external_id"], link.test_case["external_id"]) for link in found.links] == [
        ("R-1", "T-1"),
        ("R-1", "T-2"),
        ("R-2", "T-3"),
    ]


def test_a_tag_that_each_row_has_for_itself_is_its_id_where_there_is_no_other() -> None:
    rows = "FR-1,Doors close\nFR-2,Doors open\n"
    assert [item["external_id"] for item in read(f"Tag,Summary\n{rows}").fields] == ["FR-1", "FR-2"]
    assert [item["tags"] for item in read(f"Tag,Summary\n{rows.replace('2', '1')}").fields] == [["FR-1"], ["FR-1"]]
    beside = read("ID,Tag,Summary\n7,v1,Doors close\n8,v2,Doors open\n").fields
    assert [(item["external_id"], item["tags"]) for item in beside] == [("7", ["v1"]), ("8", ["v2"])]


def test_links_may_be_written_as_references_and_many_in_a_cell() -> None:
    many = ",".join(f"R-{number}" for number in range(30))
    found = read(
        "ID,Summary,Verifies,Pre-Action,Test Steps.Action\n"
        '7,Log in,"[ISSUE:1] - Doors close, always,[ITEM:2] - Doors open",An account,Open\n'
        f'8,Log out,"{many}",,Leave\n'
    )
    assert found.fields[0]["preconditions"] == "An account"
    ends = [(link.test_case["external_id"], link.requirement["external_id"]) for link in found.links]
    assert ends == [("7", "1"), ("7", "2"), *(("8", f"R-{number}") for number in range(30))]
    (link,) = read("Requirement,Test case\n[ISSUE:1] - Doors,[ISSUE:7] - Log in\n").links
    assert (link.requirement, link.test_case) == ({"external_id": "1"}, {"external_id": "7"})


@pytest.mark.parametrize("header", ["(" * 100_000, "1" * 100_000 + "\n", "Title " + " " * 100_000])
def test_a_header_that_is_a_long_text_is_read(header: str) -> None:
    assert len(inspect(f'ID,"{header}"\n1,a\n').columns) == 2


def test_sheets_are_told_with_what_is_taken_of_them() -> None:
    found = inspect(
        workbook({"Legend": [["Word", "Means"], ["a", "b"]], "Reqs": [["ID", "Title"], ["1", "x"]]}), "a.xlsx"
    )
    assert [(sheet["name"], sheet["read"]) for sheet in found.sheets] == [("Legend", False), ("Reqs", True)]
    assert found.mapping is not None
    assert found.mapping["sheet"] == "Reqs"


def test_marks_that_make_no_links_are_said() -> None:
    content = "ID,Title,TC-1,TC-2,TC-3\nR-1,a,x,,X\nR-2,b,,x,\n"
    found = read(content, kind="requirements")
    assert "3 columns hold nothing but marks" in found.notices["marks_not_read"].message
    assert found.links == []
    for others in ("Safety,Security,Legal", "TC-1,Owner,Legal"):
        found = read(f"ID,Title,{others}\nR-1,a,x,,X\nR-2,b,,x,\n")
        assert ("marks_not_read" in found.notices, found.links) == (False, [])


def test_steps_that_xray_writes_into_a_cell_as_json_are_steps() -> None:
    cell = (
        '[{"id":1,"fields":{"Action":"Open","Data":"a","Expected Result":"opens"},"attachments":[]},'
        '{"id":2,"fields":{"Action":"Press","Data":null,"Expected Result":""}}]'
    ).replace('"', '""')
    (fields,) = read(f'Issue key,Summary,Manual Test Steps\nT-1,a,"{cell}"\n', kind="test_cases").fields
    assert fields["steps"] == {"1": "Open\nExpected: opens", "2": "Press"}
    for text in ("[{not json", "[{}]", "[1]"):
        (fields,) = read(f"Issue key,Summary,Manual Test Steps\nT-1,a,{text}\n", kind="test_cases").fields
        assert fields["steps"] == {"1": text}


def test_another_sheet_header_or_kind_is_proposed_anew() -> None:
    data = workbook(
        {
            "Cover": [["Doors of the lift"]],
            "Reqs": [["Req ID", "Title", "Priority"], ["R-1", "Doors", "High"]],
            "Tests": [["Version 1"], ["TC ID", "Name of the test", "Steps"], ["T-1", "Try", "Open"]],
        }
    )
    found = inspect(data, "a.xlsx", sheet="Tests")
    assert found.mapping is not None
    assert (found.mapping["kind"], found.mapping["sheet"], found.mapping["header_row"]) == ("test_cases", "Tests", 2)
    assert [column["name"] for column in found.columns] == ["TC ID", "Name of the test", "Steps"]
    other = inspect(data, "a.xlsx", sheet="Reqs", kind="test_cases")
    assert other.mapping is not None
    assert (other.mapping["kind"], other.mapping["sheet"]) == ("test_cases", "Reqs")
    below = inspect(data, "a.xlsx", sheet="Tests", header_row=1)
    assert [column["name"] for column in below.columns] == ["Version 1"]
    assert [item["external_id"] for item in read(data, "a.xlsx", sheet="Tests").fields] == ["T-1"]


def test_another_separator_is_proposed_anew() -> None:
    found = inspect("ID;Title, short;x\nR-1;Doors, all;y\n", delimiter=",")
    assert [column["name"] for column in found.columns] == ["ID;Title", "short;x"]


@pytest.mark.parametrize(
    ("said", "becomes"),
    [
        ("nicht funktional", "non_functional"),
        ("Nicht-funktional", "non_functional"),
        ("non‑functional", "non_functional"),
        ("非機能", "非機能"),
        ("not a function of the lift", "not a function of the lift"),
        ("funktional", "functional"),
        ("something", "functional"),
    ],
)
def test_a_value_that_says_no_never_becomes_what_it_denies(said: str, becomes: str) -> None:
    header = "Anforderungs-ID;Titel;Typ\n"
    for content in (f"{header}A-1;Türen;{said}\n", f"{header}A-1;Türen;funktional\nA-2;Licht;{said}\n"):
        mapping = inspect(f"{header}A-1;Türen;funktional\n").mapping
        assert read(content).fields[-1]["type"] == becomes
        assert read(content, mapping=mapping).fields[-1]["type"] == becomes


def test_only_values_of_the_file_are_listed_and_others_are_known_all_the_same() -> None:
    found = inspect("ID,Title,Priority\n1,a,High\n2,b,Must\n")
    assert found.mapping is not None
    assert found.mapping["fields"]["priority"] == {
        "column": "Priority",
        "values": {"High": "high", "Must": "critical", "*": "medium"},
        "known_words": True,
    }
    others = read("ID,Title,Priority\n1,a,Low\n2,b,Muss\n3,c,odd\n", mapping=found.mapping)
    assert [item["priority"] for item in others.fields] == ["low", "critical", "medium"]


def test_a_column_of_test_cases_is_known_by_a_german_word_for_them() -> None:
    found = read("Anforderungs-ID;Titel;Prüffall\nA-1;Türen schließen;P-1\nA-2;Licht;\n")
    assert [(link.requirement["external_id"], link.test_case["external_id"]) for link in found.links] == [
        ("A-1", "P-1")
    ]


def test_results_are_never_what_is_expected() -> None:
    found = read("Test ID,Test case,Steps,Result\nT-1,Log in,1. Open,PASS\nT-2,Out,1. Leave,Not run\n")
    assert [item["custom_metadata"]["import"] for item in found.fields] == [{"Result": "PASS"}, {"Result": "Not run"}]
    found = inspect("Test ID,Test case,Steps,Result\nT-1,Log in,1. Open,It opens\nT-2,Out,1. Leave,One is out\n")
    assert [column["field"] for column in found.columns] == ["external_id", "title", "action", "expected"]


def test_numbers_of_rows_are_no_ids_where_another_column_has_them() -> None:
    found = read("No,Tag,Title\n1,FR-1,Doors close\n2,FR-2,Doors open\n3,FR-9,Doors stop\n")
    assert [item["external_id"] for item in found.fields] == ["FR-1", "FR-2", "FR-9"]
    found = read("No,Title\n1,Doors close\n2,Doors open\n")
    assert [item["external_id"] for item in found.fields] == ["1", "2"]


def test_what_most_rows_have_alike_is_no_title() -> None:
    rows = "".join(f"R-{at},{'Doors' if at < 3 else 'Cabin'},The lift shall do thing {at}.\n" for at in range(6))
    found = read(f"ID,Name,Description\n{rows}")
    assert [item["title"] for item in found.fields] == [f"The lift shall do thing {at}." for at in range(6)]
    assert found.fields[0]["custom_metadata"] == {"import": {"Name": "Doors"}}


def test_of_two_columns_for_one_field_the_other_one_is_named() -> None:
    content = "ID,Title,Description,Priority,Prio\nR-1,Doors,They close.,High,Low\n"
    found = read(content)
    assert found.fields[0]["priority"] == "high"
    told = found.notices["column_beside"].message
    assert told == "The column 'Prio' could be priority, too, for which 'Priority' was taken: kept as further data."
    assert "'Priority' was taken" in inspect(content).columns[-1]["reason"]


def test_a_column_that_is_not_sure_is_told() -> None:
    found = read("ID,Title,Type\nR-1,Doors,odd\nR-2,Cabin,strange\n")
    assert found.notices["unsure_column"].message.startswith("The column 'Type' was taken for type")
