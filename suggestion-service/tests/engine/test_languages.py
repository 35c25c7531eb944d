"""Which language a text is in, how its words are read then, and what is found between two languages."""

from uuid import UUID

import pytest

from suggestion_service.engine import Corpus, Entry, ItemText, Query, Scorer, read, read_terms


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
    cosines = [
        [scorer.explain("tfidf", UUID(int=i), UUID(int=j)).components["tfidf"]["score"] for j in range(len(ENGLISH))]
        for i in range(len(GERMAN))
    ]
    assert [row.index(max(row)) for row in cosines] == [0, 1, 2]
    assert max(cosines[0]) > 0.05


def test_the_reason_names_the_words_of_both_languages_and_no_pieces_of_them() -> None:
    corpus = Corpus()
    requirement, test_case = UUID(int=1), UUID(int=2)
    for side, item_id, text in (("requirement", requirement, GERMAN[0]), ("test_case", test_case, ENGLISH[0])):
        counted, language = read_terms(item(text))
        corpus.put(side, item_id, Entry(counted, language=language))  # type: ignore[arg-type]
    readings = {requirement: read(item(GERMAN[0])), test_case: read(item(ENGLISH[0]))}
    told = Scorer(corpus.snapshot()).explain("tfidf", requirement, test_case, readings)
    assert "“Authentifizierung” and “authentication”" in told.reason
    assert told.language == {"requirement": "de", "test_case": "en"}
    assert all(term["term"].isalpha() for term in told.matched_terms)


def test_a_compound_has_the_words_that_the_record_has_by_themselves() -> None:
    scorer = scorer_of(
        ["Das Benutzerkonto wird nach drei Fehlversuchen gesperrt.", "Der Bericht wird gedruckt."],
        ["Das Konto eines Benutzers ist nach Fehlversuchen nicht mehr nutzbar.", "Die Lampe ist an."],
    )
    with_parts = scorer.explain("tfidf", UUID(int=0), UUID(int=0))
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
