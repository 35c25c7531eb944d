"""Tables as people save them: nothing of them is lost unsaid, and words mean what their tools mean by them."""

from io import BytesIO
from typing import Any

import openpyxl
import pytest
import xlsxwriter
from openpyxl.comments import Comment
from tables import inspect, read

from catalog_service.exchange.records import Unreadable


def saved(book: openpyxl.Workbook) -> bytes:
    file = BytesIO()
    book.save(file)
    return file.getvalue()


def test_what_a_link_has_no_place_for_is_named() -> None:
    found = read("Requirement,Test Case,Type,Notes,Reviewer\nR-1,T-1,verifies,why,kim\nR-2,T-2,covers,,\n")
    assert [link.fields for link in found.links] == [
        {"link_type": "verifies", "notes": "why"},
        {"link_type": "covers"},
    ]
    assert found.notices["columns_dropped"].message.startswith("No field takes 'Reviewer'")


def test_a_hidden_sheet_is_named() -> None:
    book = openpyxl.Workbook()
    for sheet in (book.active, book.create_sheet("Later")):
        assert sheet is not None
        sheet.append(["ID", "Title"])
        sheet.append([f"{sheet.title}-1", "Doors close"])
    book["Later"].sheet_state = "hidden"
    found = read(saved(book), "book.xlsx")
    assert [fields["external_id"] for fields in found.fields] == ["Sheet-1"]
    assert "'Later' (1 row below 'ID', 'Title')" in found.notices["hidden_sheet_not_read"].message
    assert found.notices["hidden_sheet_not_read"].unclean
    assert "hidden_sheet_not_read" in {warning["code"] for warning in inspect(saved(book), "book.xlsx").warnings}


def test_comments_and_addresses_of_cells_are_counted() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["ID", "Title"], ["R-1", "Doors close"], ["R-2", "Doors open"]):
        sheet.append(row)
    sheet["B2"].comment = Comment("only when the train stands", "kim")
    sheet["B3"].comment = Comment("never in tunnels", "kim")
    sheet["B3"].hyperlink = "https://wiki.example/doors"
    notices = read(saved(book), "book.xlsx").notices
    assert notices["comments_not_read"].count == 2
    assert notices["addresses_not_read"].count == 1


def test_chapters_between_the_rows_are_no_items_and_hide_no_ids() -> None:
    content = (
        "ID,Requirement,Priority\n1 Introduction,,\nREQ-1,The doors close.,High\nModes,,\n"
        "1.1 Details of it,,\nREQ-2,The doors open.,Low\nREQ-3,,\n"
    )
    found = read(content)
    assert [item.get("external_id") for item in found.fields] == ["REQ-1", "REQ-2", "REQ-3"]
    assert found.notices["headings_left_out"].count == 3
    assert found.notices["headings_left_out"].message == (
        "Rows 2, 4 and 5 were left out as headings, with nothing but a text where ids are: '1 Introduction', 'Modes'"
        " and '1.1 Details of it'."
    )


@pytest.mark.parametrize(
    ("kind", "types", "said"),
    [
        ("requirements", ["Story", "Test", "Xray Test", "Bug"], {"Row 3": 2}),
        ("test_cases", ["Test Case", "Requirement"], {"Row 3": 1}),
        ("requirements", ["Story", "Latest", "Functional"], {}),
    ],
)
def test_rows_that_say_that_they_are_of_the_other_kind_are_named(
    kind: str, types: list[str], said: dict[str, int]
) -> None:
    content = "\n".join(["ID,Title,Work Item Type", *(f"S-{at},Doors close,{name}" for at, name in enumerate(types))])
    notices = read(content, mapping=inspect(content, kind=kind).mapping).notices
    notice = notices.get("rows_of_other_kind")
    assert ({notice.message.partition(" says")[0]: notice.count} if notice else {}) == said


def test_a_workbook_without_any_says_nothing_of_them() -> None:
    file = BytesIO()
    with xlsxwriter.Workbook(file) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["ID", "Title"])
        sheet.write_row(1, 0, ["R-1", "Doors close"])
    assert not read(file.getvalue(), "book.xlsx").notices


def test_a_table_without_a_header_is_suspected() -> None:
    found = read("R-1,Doors shall close before departure,High\nR-2,Doors shall open,Low\n")
    message = found.notices["unknown_header"].message
    assert message.startswith("Row 1 was taken for the header, though none of its names is known: 'R-1', 'Doors shall")
    assert "unknown_header" not in read("ID,Something\nR-1,Doors shall close\n").notices


@pytest.mark.parametrize(
    ("table", "field", "expected"),
    [
        ("ID,Title,Priority\n1,a,H\n2,b,M\n3,c,L\n", "priority", ["high", "medium", "low"]),
        ("ID,Title,Priority\n1,a,M\n2,b,S\n3,c,C\n", "priority", ["medium"] * 3),
        ("ID,Title,Priority\n1,a,1 - High\n2,b,2 - Medium\n3,c,3. Low\n", "priority", ["high", "medium", "low"]),
        ("ID;Titre;Type\n1;a;Fonctionnelle\n2;b;Non fonctionnelle\n", "type", ["functional", "non_functional"]),
        (
            '"ID","Title","Section","Priority","Steps (Step)"\n"C1","a","s","4 - Must Test","x"\n'
            '"C2","b","s","2 - Test If Time","x"\n"C3","c","s","3 - High","x"\n',
            "priority",
            ["critical", "low", "high"],
        ),
    ],
)
def test_words_are_known_by_what_stands_for_them(table: str, field: str, expected: list[str]) -> None:
    assert [fields[field] for fields in read(table).fields] == expected


@pytest.mark.parametrize(
    ("header", "row", "expected"),
    [
        (
            "Nr;Anforderung;Beschreibung;Prio",
            "1;Tür;Die Tür schließt;hoch",
            {"title": "Tür", "description": "Die Tür schließt"},
        ),
        (
            "ID,Description,Requirement",
            "1,Doors,The doors shall close.",
            {"title": "Doors", "description": "The doors shall close."},
        ),
    ],
)
def test_of_two_columns_of_texts_the_shorter_is_the_title(header: str, row: str, expected: dict[str, Any]) -> None:
    (fields,) = read(f"{header}\n{row}\n").fields
    assert {name: fields[name] for name in expected} == expected


def test_html_of_tools_is_read_as_people_see_it() -> None:
    found = read(
        "ID,Work Item Type,Title,State,Description,Acceptance Criteria\n"
        "7,User Story,Doors &amp; windows,New,<div>All <b>doors</b> close</div><ul><li>left</li><li>right</li></ul>,"
        "<p>x</p>\n"
        "8,User Story,Speed < 5,New,,\n"
    )
    first, second = found.fields
    assert first["title"] == "Doors & windows"
    assert first["description"].replace("\n\n", "\n") == "All doors close\n- left\n- right"
    assert first["custom_metadata"]["azure-devops"]["Acceptance Criteria"] == "<p>x</p>"
    assert second["title"] == "Speed < 5"
    assert found.notices["html_as_text"].count == 1
    assert found.items[0].source is not None
    assert "<b>doors</b>" in found.items[0].source[4], "what is refused is given back as it was sent"


def test_html_of_steps_is_read_as_people_see_it() -> None:
    found = read(
        "Module,Name,Id,Description,Precondition,Test Step #,Test Step Description,Test Step Expected Result\n"
        "M,Log in,TC-1,<p>Desc</p>,,1,<p>Open &quot;it&quot;</p>,<p>Shown</p>\n,,,,,2,Type,Typed\n"
    )
    (fields,) = found.fields
    assert fields["steps"] == {"1": 'Open "it"\nExpected: Shown', "2": "Type\nExpected: Typed"}
    assert fields["description"] == "Desc"


def test_breaks_of_zephyr_are_lines() -> None:
    part = "Test Script (Step-by-Step) - "
    (fields,) = read(f"Key,Name,Status,{part}Step,{part}Expected Result\nP-T1,A,Draft,Press<br />now,Closed\n").fields
    assert fields["steps"] == {"1": "Press\nnow\nExpected: Closed"}


def test_markup_of_other_tables_stays() -> None:
    (fields,) = read("ID,Title,Description\n1,<b>,a &amp; b\n").fields
    assert (fields["title"], fields["description"]) == ("<b>", "a &amp; b")


def test_a_csv_of_excel_on_an_old_mac_has_its_letters() -> None:
    table = "ID;Titel;Priorität\r1;Türen schließen – „sofort“;Hoch\r"
    found = read(table.encode("mac_roman"))
    assert found.fields[0]["title"] == "Türen schließen – „sofort“"
    assert found.fields[0]["priority"] == "high"
    assert "mac_roman" in found.notices["encoding_guessed"].message


@pytest.mark.parametrize(
    "page",
    [b"<html><table><tr><td>ID</td></tr></table></html>", b'\xef\xbb\xbf\n<?xml version="1.0"?><Workbook></Workbook>'],
)
def test_a_page_under_the_name_of_a_workbook_is_named(page: bytes) -> None:
    with pytest.raises(Unreadable, match=r"web page or XML under the name of a workbook.*save it as \.xlsx"):
        read(page, "export.xls")


@pytest.mark.parametrize("page", ["<!DOCTYPE html>\n<title>Log in, please</title>", " <html lang=en><body>Log in"])
def test_a_web_page_in_place_of_a_table_is_named(page: str) -> None:
    with pytest.raises(Unreadable, match="This is a web page, and no table"):
        read(page, "requirements.csv")


@pytest.mark.parametrize(
    ("modules", "expected"),
    [
        (["Doors", "", "", "Windows", ""], ["Doors", "Doors", "Doors", "Windows", "Windows"]),
        (["Doors", "Doors", "", "Windows"], ["Doors", "Doors", None, "Windows"]),
        (["Doors", "", "Doors", ""], ["Doors", None, "Doors", None]),
        (["", "Doors", ""], [None, "Doors", None]),
    ],
)
def test_a_blank_module_is_that_above_it_only_where_each_is_said_once(
    modules: list[str], expected: list[str | None]
) -> None:
    table = "ID,Title,Module\n" + "".join(f"{number},a {number},{module}\n" for number, module in enumerate(modules))
    assert [fields["module"] for fields in read(table).fields] == expected


def test_one_id_that_is_too_long_makes_no_others_unknown() -> None:
    ids = [*(f"R-{number}" for number in range(9)), "R" * 101]
    table = "ID,Title\n" + "".join(f"{name},Doors\n" for name in ids)
    assert [fields["external_id"] for fields in read(table).fields] == ids


@pytest.mark.parametrize(
    ("header", "row"),
    [
        (
            "Zusammenfassung,Vorgangsschlüssel,Vorgangs-ID,Status,Priorität,Stichwörter,Stichwörter",
            "Doors,PROJ-1,10001,Fertig,Hoch,a,b",
        ),
        ("Résumé,Clé de ticket,ID de ticket,État,Priorité,Étiquettes", 'Doors,PROJ-1,10001,Terminé,Haute,"a,b"'),
        ("課題 ID,課題キー,要約,ステータス,優先度,ラベル", '10001,PROJ-1,Doors,完了,高,"a,b"'),
        ("이슈 ID,이슈 키,요약,상태,우선순위,레이블", '10001,PROJ-1,Doors,완료,높음,"a,b"'),
        ("Issue id,问题关键字,概要,状态,优先级,标签", '10001,PROJ-1,Doors,完成,高,"a,b"'),
        ("ID da item,Chave da item,Resumo,Status,Prioridade,Rótulos", '10001,PROJ-1,Doors,Concluído,Alta,"a,b"'),
        ("ID zgłoszenia,Klucz zgłoszenia,Podsumowanie,Status,Priorytet,Etykiety", '1,PROJ-1,Doors,Gotowe,Wysoki,"a,b"'),
        ("reqId,reqTitle,reqStatus,reqPriority,reqTags", 'PROJ-1,Doors,Done,High,"a,b"'),
    ],
)
def test_what_jira_and_programmers_call_columns_is_known(header: str, row: str) -> None:
    (fields,) = read(f"{header}\n{row}\n").fields
    assert (fields["external_id"], fields["title"]) == ("PROJ-1", "Doors")
    assert (fields["status"], fields["priority"], fields["tags"]) == ("implemented", "high", ["a", "b"])


def test_a_category_is_the_module_where_it_says_nothing_of_types() -> None:
    (fields,) = read("#,Subject,Category\n12,Close,Doors\n").fields
    assert (fields["module"], fields["type"]) == ("Doors", "functional")
    (fields,) = read("#,Subject,Category\n12,Close,Non-functional\n").fields
    assert (fields.get("module"), fields["type"]) == (None, "non_functional")


def test_a_table_of_markdown_is_a_table() -> None:
    rule = "|:---|---:|:-:|"
    found = read(
        f"| ID | Title | Description |\n{rule}\n| R-1 | Close | They close |\n| R-2 | - | a \\ b |\n", "a.md.csv"
    )
    named = [[fields[name] for name in ("external_id", "title", "description")] for fields in found.fields]
    assert named == [["R-1", "Close", "They close"], ["R-2", "-", "a \\ b"]]
    assert [item.row for item in found.items] == [3, 4]


@pytest.mark.parametrize(
    "table",
    [
        "| ID | Title | Description |\n|----|----|----|\n| R-1 | A \\| B | They close |\n| R-2 | C | d |\n",
        "ID | Title | Description\n---|:---:|---\nR-1 | A B | They close\nR-2 | C | d\n",
        "||ID||Title||Description||\n|R-1|A \\| B|They close|\n|R-2|C|d|\n",
    ],
)
def test_a_table_of_a_text_is_read_however_it_is_drawn(table: str) -> None:
    named = [[fields[name] for name in ("external_id", "title", "description")] for fields in read(table).fields]
    assert named == [["R-1", "A | B" if "\\|" in table else "A B", "They close"], ["R-2", "C", "d"]]


def test_cells_within_single_quotes_are_read_without_them() -> None:
    (fields, other) = read("'ID','Title'\n'R-1','It''s closed, always'\n'R-2','They\nopen'\n").fields
    assert (fields["external_id"], fields["title"]) == ("R-1", "It's closed, always")
    assert (other["external_id"], other["title"]) == ("R-2", "They\nopen")


def test_ids_of_test_cases_say_what_a_table_has() -> None:
    assert [item.kind for item in read("ID,Title\nTC-1,Log in\nTC-2,Log out\n").items] == ["test_case"] * 2
    assert [item.kind for item in read("ID,Title\nTC-1,Log in\nR-2,Log out\n").items] == ["requirement"] * 2


@pytest.mark.parametrize("steps", ["Test Steps - {}", "Test Steps/{}", "Step {}"])
def test_columns_that_say_that_they_are_of_steps_are_steps(steps: str) -> None:
    header = ",".join(map(steps.format, ("Number", "Action", "Expected Results")))
    found = read(f"ID,Name,{header},Status\nV-1,Log in,1,Open,It opens,Confirmed\n,,2,Enter,One is in,\n")
    (fields,) = found.fields
    assert fields["steps"] == {"1": "Open\nExpected: It opens", "2": "Enter\nExpected: One is in"}
    assert (found.items[0].kind, fields["status"]) == ("test_case", "ready")


def test_numbers_of_steps_are_no_steps() -> None:
    rows = "TC1,Anmelden,1,Öffnen,Offen\nTC1,Anmelden,2,Eingeben,Drin\n"
    (fields,) = read(f"ID,Name,Schritt,Aktion,Erwartetes Ergebnis\n{rows}").fields
    assert fields["steps"] == {"1": "Öffnen\nExpected: Offen", "2": "Eingeben\nExpected: Drin"}


def test_texts_that_have_no_title_have_one_of_their_own_where_titles_are_those_of_chapters() -> None:
    found = read("id,heading,text\nS-1,Doors,\nS-2,,The doors shall lock\nS-3,,The doors shall open\n")
    assert [fields["title"] for fields in found.fields] == ["Doors", "The doors shall lock", "The doors shall open"]


def test_a_summary_in_html_beside_the_name_of_a_test_case_is_its_description() -> None:
    (fields,) = read("ID,Test Case,Summary\n1,Log in,<p>How to</p><ul><li>log in</li></ul>\n").fields
    assert (fields["title"], fields["description"]) == ("Log in", "How to\n- log in")


def test_a_link_that_is_no_address_is_not_the_source() -> None:
    (fields,) = read("ID,Name,Requirement Link\n1,Lock,1234: The system shall lock\n").fields
    assert "source_url" not in fields


def test_a_number_behind_a_priority_is_only_its_place() -> None:
    (fields,) = read(
        "ID;Title;Linked Work Items;Type;Status;Priority\nR-1;Lock;;Requirement;Draft;High (70.0)\n"
    ).fields
    assert fields["priority"] == "high"


def test_tags_in_brackets_are_a_list() -> None:
    tags = [fields["tags"] for fields in read('ID,Title,Tags\n1,A,"[a,b c]"\n2,B,[]\n3,C,"[a] b, [c]"\n').fields]
    assert tags == [["a", "b c"], [], ["[a] b", "[c]"]]


def test_characters_that_nobody_sees_make_no_other_header() -> None:
    (fields,) = read("ID,\ufeffTi\u00adtle\u200b\nR-1,Close\n").fields
    assert (fields["external_id"], fields["title"]) == ("R-1", "Close")


def test_the_key_of_a_parent_is_not_that_of_the_row() -> None:
    found = read("Parent Key,Mark,Name\nP-1,R-1,Close\nP-2,R-2,Open\n")
    assert ["external_id" in fields for fields in found.fields] == [False, False]


def test_a_summary_beside_a_name_is_the_description() -> None:
    (fields,) = read("ID,Name,Summary\nR-1,Close,They close\n").fields
    assert (fields["title"], fields["description"]) == ("Close", "They close")


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["<p>They <b>close</b></p>", "<div>a &lt; b</div>"], ["They close", "a < b"]),
        (["<p>They close</p>", "for all i: a<p and p>b"], ["<p>They close</p>", "for all i: a<p and p>b"]),
    ],
)
def test_descriptions_that_are_all_html_are_read_as_what_people_see(texts: list[str], expected: list[str]) -> None:
    rows = "".join(f"R-{number},Doors,{text}\n" for number, text in enumerate(texts))
    assert [fields["description"] for fields in read(f"ID,Title,Description\n{rows}").fields] == expected


def test_a_table_of_what_links_what_is_one_of_links_whatever_its_columns_are_called() -> None:
    found = read('Req ID,Test Case IDs\nR-1,"T-1, T-2"\n')
    assert [(link.requirement, link.test_case) for link in found.links] == [
        ({"external_id": "R-1"}, {"external_id": "T-1"}),
        ({"external_id": "R-1"}, {"external_id": "T-2"}),
    ]
    assert read("Req ID,Status,Test Case IDs\nR-1,Approved,T-1\n").items


def test_a_sum_below_the_table_is_no_row() -> None:
    assert [fields["external_id"] for fields in read("ID,Title\nR-1,Close\n\nTotal: 1\n").fields] == ["R-1"]


@pytest.mark.parametrize(
    ("types", "kinds"),
    [
        (["Test", "Test"], ["test_case"] * 2),
        (["Story", "Test"], ["requirement", "test_case"]),
        (["Bug"], ["requirement"]),
    ],
)
def test_a_table_of_jira_is_of_the_kind_that_all_its_rows_say(types: list[str], kinds: list[str]) -> None:
    steps = '[{""fields"":{""Action"":""Open"",""Expected Result"":""It opens""}}]'
    rows = "".join(f'T-{number},Log in,{name},"{steps}"\n' for number, name in enumerate(types))
    found = read(f"Issue key,Summary,Issue Type,Custom field (Manual Test Steps)\n{rows}")
    assert [item.kind for item in found.items] == kinds
    assert not found.items[0].warnings
    assert found.fields[0]["source_system"] == "jira"
    assert found.fields[0].get("steps") == ({"1": "Open\nExpected: It opens"} if kinds[0] == "test_case" else None)
