"""Which language a text is in, how its words are read then, and what is found between two languages."""

import re
from uuid import UUID

import pytest
from explaining import explain_pair, explain_pairs
from hypothesis import given
from hypothesis import strategies as st

from suggestion_service.engine import (
    Corpus,
    Entry,
    Explanation,
    ItemText,
    Query,
    Scorer,
    Side,
    SpanFinder,
    read,
    read_terms,
)
from suggestion_service.engine.text.languages import common_form, stem


def item(text: str) -> ItemText:
    return ItemText(title="", description=text)


@pytest.mark.parametrize(
    ("text", "language", "terms"),
    [
        ("The system shall lock the accounts.", "en", {"system", "lock", "account"}),
        ("Das System muss die Konten nach dem Fehlversuch sperren.", "de", {"system", "kont", "fehlversuch", "sperr"}),
        ("Größe prüfen", "de", {"gross", "pruf"}),
        ("Le système doit verrouiller les comptes.", "fr", {"system", "verrouill", "compt"}),
        ("El sistema debe bloquear las cuentas.", "es", {"sistem", "bloqu", "cuent"}),
        ("Il sistema deve bloccare gli utenti.", "it", {"sistem", "blocc", "utent"}),
        ("O sistema não deve bloquear as contas.", "pt", {"sistem", "bloqu", "cont"}),
        ("Het systeem moet de accounts blokkeren.", "nl", {"systeem", "accounts", "blokker"}),
        ("Systemet ska låsa kontot efter tre försök.", "sv", {"system", "lås", "kontot", "tre", "försök"}),
        ("Система должна блокировать запись", "ru", {"систем", "блокирова", "зап"}),
        ("ユーザーはログイン画面で認証を行う。", "ja", {"ユーザー", "ログイン", "画面", "認証", "行"}),
        ("用户登录", "zh", {"用户", "户登", "登录"}),
        ("로그인", "ko", {"로그", "그인"}),
        ("Verify clkmgr's clk_io_div2_infra is connected to d, l and s", "en", None),
        ("@NotEmpty constraint", "en", None),
    ],
)
def test_a_text_is_read_in_the_language_that_its_words_and_letters_show(
    text: str, language: str, terms: set[str] | None
) -> None:
    found, shown = read_terms(item(text))
    assert shown == language
    if terms is not None:
        assert found.keys() == terms


def scorer_of(requirements: list[str], test_cases: list[str]) -> Scorer:
    corpus = Corpus()
    for number, text in enumerate(requirements):
        counted, language = read_terms(item(text))
        corpus.put("requirement", UUID(int=number), Entry(counted, language=language))
    for number, text in enumerate(test_cases):
        counted, language = read_terms(item(text))
        corpus.put("test_case", UUID(int=number), Entry(counted, language=language))
    return Scorer(corpus.snapshot())


GERMAN = [
    "Die Authentifizierung am Server muss über ein Zertifikat erfolgen.",
    "Die Konfiguration wird in der Datenbank gespeichert.",
    "Der Export der Berichte muss als Datei möglich sein.",
]
ENGLISH = [
    "Check that the authentication is done with a certificate.",
    "The configuration is stored in the database.",
    "Reports are to be exported as a file.",
]


def test_words_of_two_languages_that_are_written_alike_bring_a_pair_together() -> None:
    scorer = scorer_of(GERMAN, ENGLISH)
    pairs = [(UUID(int=i), UUID(int=j)) for i in range(len(GERMAN)) for j in range(len(ENGLISH))]
    found = [explained.components["tfidf"]["score"] for explained in explain_pairs(scorer, "tfidf", pairs)]
    cosines = [found[start : start + len(ENGLISH)] for start in range(0, len(found), len(ENGLISH))]
    assert [row.index(max(row)) for row in cosines] == [0, 1, 2]
    assert max(cosines[0]) > 0.05


FOREIGN = ["Nur registrierte Abonnenten dürfen Traces anlegen.", "Das Modell wird auf dem Server berechnet."]
OWN = ["The subscriber establishes a trace.", "Check that models are computed on servers."]


def test_a_word_that_two_languages_stem_otherwise_is_one_term_in_reason_and_quote() -> None:
    corpus = Corpus()
    ids: dict[Side, list[UUID]] = {"requirement": [UUID(int=1), UUID(int=2)], "test_case": [UUID(int=3), UUID(int=4)]}
    texts: dict[Side, list[str]] = {"requirement": FOREIGN, "test_case": OWN}
    readings = {}
    for side in texts:
        for item_id, text in zip(ids[side], texts[side], strict=True):
            counted, language = read_terms(item(text))
            corpus.put(side, item_id, Entry(counted, language=language))
            readings[item_id] = read(item(text))
    told = explain_pairs(Scorer(corpus.snapshot()), "tfidf", list(zip(*ids.values(), strict=True)), readings)
    terms = [[term["term"] for term in explained.matched_terms] for explained in told]
    assert terms == [["Traces"], ["Modell", "Server"]]
    for explained, foreign, own in zip(told, FOREIGN, OWN, strict=True):
        assert foreign in explained.reason
        assert own in explained.reason
        assert "Alike in both languages" not in explained.reason


@pytest.mark.parametrize(
    ("shown", "text", "languages", "found"),
    [
        ("Traces", OWN[0], ("en", "de"), "trace"),
        ("Modell", OWN[1], ("en", "de"), "models"),
        ("trace", FOREIGN[0], ("de", "en"), "Traces"),
    ],
)
def test_a_word_of_one_language_is_found_where_it_stands_in_the_other(
    shown: str, text: str, languages: tuple[str, str], found: str
) -> None:
    (span,) = SpanFinder([shown], *languages).find(text)
    assert text[span.start : span.end] == found


@given(
    st.text("abcdeginrstüé", min_size=1, max_size=12),
    st.sampled_from([("de", "en"), ("en", "fr"), ("en", "es"), ("de", "fr"), ("en", "ru")]),
)
def test_no_language_stems_the_common_form_of_a_term(word: str, languages: tuple[str, ...]) -> None:
    form = common_form(word, languages)
    assert [stem(form, language) for language in languages] == [form] * len(languages)


def test_the_reason_names_the_words_of_both_languages_and_no_pieces_of_them() -> None:
    corpus = Corpus()
    requirement, test_case = UUID(int=1), UUID(int=2)
    for side, item_id, text in (("requirement", requirement, GERMAN[0]), ("test_case", test_case, ENGLISH[0])):
        counted, language = read_terms(item(text))
        corpus.put(side, item_id, Entry(counted, language=language))  # type: ignore[arg-type]
    readings = {requirement: read(item(GERMAN[0])), test_case: read(item(ENGLISH[0]))}
    told = explain_pair(Scorer(corpus.snapshot()), "tfidf", requirement, test_case, readings)
    assert "“Authentifizierung” and “authentication”" in told.reason
    assert told.language == {"requirement": "de", "test_case": "en"}
    assert all(term["term"].isalpha() for term in told.matched_terms)


def test_a_compound_has_the_words_that_the_record_has_by_themselves() -> None:
    scorer = scorer_of(
        ["Das Benutzerkonto wird nach drei Fehlversuchen gesperrt.", "Der Bericht wird gedruckt."],
        ["Das Konto eines Benutzers ist nach Fehlversuchen nicht mehr nutzbar.", "Die Lampe ist an."],
    )
    with_parts = explain_pair(scorer, "tfidf", UUID(int=0), UUID(int=0))
    assert {"konto", "benutz"} <= {str(term["term"]) for term in with_parts.matched_terms}


def test_the_order_of_arrival_changes_no_score_between_languages() -> None:
    def scores(order: list[int]) -> dict[tuple[int, int], float]:
        corpus = Corpus()
        for number in order:
            for side, texts in (("requirement", GERMAN), ("test_case", ENGLISH)):
                counted, language = read_terms(item(texts[number]))
                corpus.put(side, UUID(int=number), Entry(counted, language=language))  # type: ignore[arg-type]
        return {
            (i.int, j.int): score
            for block in Scorer(corpus.snapshot()).score(Query("tfidf", 0.0))
            for i, j, score in zip(block.requirement_ids, block.test_case_ids, block.scores.tolist(), strict=True)
        }

    assert scores([0, 1, 2]) == scores([2, 0, 1])


def told(requirement: str, test_case: str, title: str = "", other: str = "灯りを点ける。") -> Explanation:
    """Explain a pair of texts among others, all of which say the same."""
    corpus = Corpus()
    texts = {"requirement": ItemText(title=title, description=requirement), "test_case": item(test_case)}
    readings = {}
    for number, (side, text) in enumerate(texts.items(), 1):
        counted, language = read_terms(text)
        corpus.put(side, UUID(int=number), Entry(counted, language=language))  # type: ignore[arg-type]
        readings[UUID(int=number)] = read(text, language)
    for number in range(40):
        corpus.put("test_case", UUID(int=100 + number), Entry(read_terms(item(other))[0], language="ja"))
    return explain_pair(Scorer(corpus.snapshot()), "tfidf", UUID(int=1), UUID(int=2), readings)


def test_words_in_katakana_are_found_in_those_that_are_joined_of_them() -> None:
    scorer = scorer_of(
        ["イベントサーバーが停止する。", "帳票を印刷する。"], ["サーバーのイベントを停止する。", "灯りを点ける。"]
    )
    matched = {str(term["term"]) for term in explain_pair(scorer, "tfidf", UUID(int=0), UUID(int=0)).matched_terms}
    assert {"イベント", "サーバー"} <= matched


def test_a_word_in_katakana_is_found_in_a_longer_one_whose_rest_nobody_says_alone() -> None:
    scorer = scorer_of(["サーバーを止める。", "帳票を印刷する。"], ["イベントサーバーを止める。", "灯り。"])
    matched = explain_pair(scorer, "tfidf", UUID(int=0), UUID(int=0)).matched_terms
    assert "サーバー" in {term["term"] for term in matched}


def test_words_that_merely_begin_with_the_same_preposition_are_not_alike_in_both_languages() -> None:
    requirement, test_case = "Der Intercept muss möglich sein.", "The interface is interpreted."
    assert "Alike" not in told(requirement, test_case).reason


def test_what_speaks_against_a_pair_names_no_letter_that_a_verb_begins_with() -> None:
    (sign,) = (
        sign
        for sign in told("値を受ける。", "影響を受けた。", other="管理する。").against
        if sign["code"] == "only_common_words"
    )
    assert sign["detail"] == "but for one they share only common words"


def test_a_japanese_reason_names_no_letter_alone_and_no_word_within_another() -> None:
    reason = told(
        "サブスクライバーはサブスクライバーマネージャーの管理下に置かれ、値を受ける。",
        "サブスクライバーがサブスクライバーマネージャーの管理下で値を受ける。",
    ).reason
    named, _, _ = reason.partition("Requirement:")
    assert "“管理下”" in named
    assert "“サブスクライバーマネージャー”" in named
    assert not {"“値”", "“受”", "“サブスクライバー”"} & set(re.findall("“.*?”", named))


def test_what_speaks_against_a_pair_names_whole_runs_of_kanji() -> None:
    explained = told("担当者の管理下に置く。", "管理下に移す。", other="管理する。")
    (sign,) = (sign for sign in explained.against if sign["code"] == "only_common_words")
    assert sign["detail"] == "but for “管理下” they share only common words"


def test_a_word_that_two_languages_spell_alike_is_named_once() -> None:
    reason = told("Der quantitative Wert muss über null sein.", "Check that the quantitative result is shown.").reason
    assert "Alike in both languages: “quantitative”." in reason


def test_a_title_that_was_cut_in_a_word_misses_no_piece_of_it() -> None:
    said = "The composite speculative message is sent to the models"
    (missing,) = (
        sign["detail"]
        for sign in told(said, "The lamp burns at night in models", title=said[:22]).against
        if sign["code"] == "requirement_title_unmatched"
    )
    assert "“composite”" in missing
    assert "specula" not in missing
