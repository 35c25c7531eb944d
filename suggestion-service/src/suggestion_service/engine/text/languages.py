"""The language of a text, by its letters and the words that hold it together; and how words of it are stemmed."""

import re
import threading
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import Stemmer

from suggestion_service.engine.text.stop_words import STOP_WORDS

ENGLISH = "en"
_READ = 4_000
"""Characters, of the beginning, that a language shows in."""
_FEWEST = 2
"""Words of its own from which on a text is taken to be in a language; one where letters of it are there, too."""
_MOST_STEMMED = 4
"""Times that a term is stemmed in each of some languages."""


class Language(NamedTuple):
    """`snowball` is the name of its stemmer, `letters` are those that English does not have."""

    snowball: str
    letters: frozenset[str]
    stop_words: frozenset[str]


def _language(snowball: str, letters: str, words: str) -> Language:
    return Language(snowball, frozenset(letters), frozenset(words.split()))


LANGUAGES: dict[str, Language] = {
    ENGLISH: Language("english", frozenset(), STOP_WORDS),
    "de": _language(
        "german",
        "äöüß",
        """
        ab aber alle allem allen aller alles als also am an andere anderem anderen anderer anderes auch auf aus
        außer bei beim bereits bevor bin bis bist bzw da dabei dadurch dafür daher damit danach dann daran
        darauf darf darin das dass davon dazu dein deine dem den denen denn der deren des dessen die dies diese
        diesem diesen dieser dieses doch dort du durch dürfen ein eine einem einen einer eines einige einigen er
        es etwa etwas euch euer falls für gegen gegenüber gemäß haben hat hatte hatten hier hin hinter ich ihm
        ihn ihnen ihr ihre ihrem ihren ihrer ihres im immer in indem innerhalb ins ist ja je jede jedem jeden
        jeder jedes jedoch jeweils jeweilige jeweiligen kann kein keine keinem keinen keiner können könnte man
        mein mehr mit mittels muss müssen nach nachdem neben nicht nichts noch nun nur ob oben oder ohne pro
        sein seine seinem seinen seiner seit sich sie sind so sobald sofern solche sollen sollte sollten soll
        sonst sowie sowohl statt über um und uns unser unter usw vom von vor wann war waren was weder weil
        welche welchem welchen welcher welches wenn wer werden wie wieder will wir wird wo wobei wodurch wurde
        wurden während worden würde z zu zum zur zwar zwischen
        """,
    ),
    "fr": _language(
        "french",
        "àâçèéêëîïôœùû",
        """
        à afin ai ainsi alors après au aucun aucune aussi autre autres aux avant avec avoir c car ce ceci cela
        celle celles celui ces cet cette ceux chaque ci comme d dans de depuis des deux doit doivent donc dont
        du elle elles en encore entre est et étaient était être eu eux fait faire faut ici il ils je l la là le
        les leur leurs lors lorsque lorsqu lui ma mais me même mes moins mon n ne ni non nos notre nous on ont
        or ou où par parmi pas pendant peu peut peuvent plus pour pourra puis qu quand que quel quelle quelles
        quels qui s sa sans se selon sera ses si soit son sont sous sur t ta tant tous tout toute toutes très tu
        un une vers via vos votre vous y
        """,
    ),
    "es": _language(
        "spanish",
        "áéíñóú¿¡",
        """
        a al algo algunas alguno algunos ante antes aquel así aún aunque cada como con contra cual cuales
        cualquier cuando de debe deben deberá del desde después donde dos durante e el él ella ellas ellos en
        entre era es esa esas ese eso esos esta está están estas este esto estos fue ha haber hace hacia han
        hasta hay la las le les lo los más me mediante mi mientras muy nada ni no nos o os otra otras otro otros
        para pero poco por porque puede pueden que quien se sea según ser será si sí sin sino sobre son su sus
        también tanto te tiene tienen toda todas todo todos tras tu un una unas uno unos y ya
        """,
    ),
    "it": _language(
        "italian",
        "àèéìòù",
        """
        a ad agli ai al alla alle allo altra altre altri altro anche ancora avere c che chi ci ciò coi col come
        con contro cui d da dagli dai dal dalla dalle dallo degli dei del della delle dello deve devono di dopo
        dove due e è ed essere fra già gli ha hanno i il in io l la le lei li lo loro lui ma mentre mi nei nel
        nella nelle nello né no noi non o od ogni oltre per perché più poi prima può possono qualsiasi quale
        quali quando quella quelle quelli quello questa queste questi questo quindi s sarà se secondo sei senza
        si sia solo sono sopra sotto su sua sue sugli sui sul sulla sulle suo suoi tra tramite tutte tutti tutto
        un una uno vi viene vengono
        """,
    ),
    "pt": _language(
        "portuguese",
        "ãáâàçéêíóôõú",
        """
        a ao aos após aquela aquele as às até cada com como da das de deve devem deverá depois do dos e é ela
        elas ele eles em entre era essa essas esse esses esta está estas este estes eu foi for foram há isso
        isto já lhe mais mas me mediante mesmo meu muito na nas não nem no nos nós o os ou outra outras outro
        outros para pela pelas pelo pelos pode podem por porque qual quais qualquer quando que quem se seja sem
        ser será seu seus só sobre sua suas também tem têm toda todas todo todos um uma umas uns
        """,
    ),
    "nl": _language(
        "dutch",
        "ëï",
        """
        aan al alle alleen als andere bij daar dan dat de deze die dit door dus een eens elke en er ook geen had
        hebben heeft het hij hoe hun ik in indien is ja je kan kunnen maar meer men met mijn moet moeten na naar
        niet niets nog nu of om onder ons op over te tegen tijdens tot tussen u uit uw van veel via voor waar
        wanneer want waren was wat we wel welke werd worden wordt ze zich zij zijn zo zoals zodat zonder zou
        """,
    ),
    "sv": _language(
        "swedish",
        "åäö",
        """
        alla allt att av bara blev bli blir de dem den denna deras dess dessa det detta dig din du där då efter
        ej eller en enligt er ett från för genom göra ha han hans har hon hur här i icke in inom inte jag kan
        kunna man med mellan men mig min mot mycket måste ner ni nu något några när och om oss på samma sedan
        sig sin sina sitt ska skall som så till under upp ut utan vad var varje vara vart vi via vid vilka
        vilken vilket är över
        """,
    ),
    "da": _language(
        "danish",
        "åæø",
        """
        af alle alt anden andre at blev blive bliver da de dem den denne der deres det dette dig din disse dog
        du efter eller en end er et for fra før gennem ham han hans har have hun hvad hver hvis hvor hvordan
        hvornår i ikke ind jeg jer kan kun man med mellem men mens mig min mod må ned nogle nogen nu når og også
        om op os over på samme sig sin sine skal skulle som så til ud uden under var ved vi via vil være været
        """,
    ),
    "no": _language(
        "norwegian",
        "åæø",
        """
        alle alt andre at av ble bli blir da de dem den denne der deres det dette dersom din disse du eller en
        enn er et etter for fra før gjennom ha han har hun hva hver hvis hvor hvordan i ikke inn jeg kan kun man
        med mellom men mens mot må ned noe noen nå når og også om opp oss over på samme seg sin sine skal som så
        til under ut uten var ved vi via vil være
        """,
    ),
    "fi": _language(
        "finnish",
        "äö",
        """
        ei eikä en että hän jälkeen ja jo jolloin jos joka jokainen jossa jota jotka jotta kaikki kanssa kun
        kuin kuten me mikä mukaan mutta myös niin niiden ne nämä näiden ole oli olla on ovat pitää se sekä sen
        siitä sitä tai tulee tämä tämän tätä vaan vai vain voi voidaan ettei
        """,
    ),
    "ru": _language(
        "russian",
        "",
        """
        а без более бы был была были было быть в вам вас весь во вот все всего всех вы где да для до его ее если
        есть еще же за здесь и из или им их к как ко когда который которая которое которые которых кто ли либо
        между меня мне может могут мы на над надо не него нет ни них но ну о об однако он она они оно от по под
        после при про с со так также такой там те тем то того тоже той только том тот ту ты у уже чего чем что
        чтобы чтоб эта эти это этого этой этом этот я должен должна должно должны
        """,
    ),
}

_KANA, _HAN, _HANGUL = re.compile(r"[\u3041-\u30ff]"), re.compile(r"[\u3400-\u9fff]"), re.compile(r"[\uac00-\ud7af]")
_CYRILLIC, _WORD = re.compile(r"[\u0400-\u04ff]"), re.compile(r"[^\W\d_]+")
_IN_LATIN = [code for code in LANGUAGES if code not in {ENGLISH, "ru"}]
_OWN = {
    code: frozenset(word for word in LANGUAGES[code].stop_words - STOP_WORDS if len(word) > 1) for code in _IN_LATIN
}
"""Words that tell a language from English: of more than a letter, which stands for everything."""
_FOREIGN = frozenset[str]().union(*_OWN.values())
_SIGNS = ".,;:!?()[]{}\"'«»„“”‚‘’…"

_of_thread = threading.local()


def language_of(texts: Iterable[str]) -> str:
    """Return the language (ISO 639-1) of normalised texts: that which more of their words belong to than to English.

    Texts that show none, as a title of two words may, are taken for English.
    """
    text = "\n".join(texts)[:_READ].lower()
    if not text.isascii():
        letters = len(_WORD.findall(text)) or 1
        if kana := len(_KANA.findall(text)):
            return "ja" if kana + len(_HAN.findall(text)) >= letters else ENGLISH
        for code, script in (("zh", _HAN), ("ko", _HANGUL), ("ru", _CYRILLIC)):
            if len(script.findall(text)) >= letters:
                return code
    # Of what stands between blanks: splinters of names say nothing.
    words = set(text.split())
    if text.isascii() and len(words & _FOREIGN) < _FEWEST:
        return ENGLISH
    words = {word.strip(_SIGNS) for word in words}
    english = len(words & STOP_WORDS)
    best, most = ENGLISH, 0
    for code in _IN_LATIN:
        own = len(words & _OWN[code])
        needed = _FEWEST - any(letter in text for letter in LANGUAGES[code].letters)
        shared = len(words & LANGUAGES[code].stop_words)
        if own >= needed and shared > max(most, english):
            best, most = code, shared
    return best if most or english else _by_letters(text)


def _by_letters(text: str) -> str:
    """Return the first language that has all letters of a text which English does not have; else English."""
    letters = {letter for letter in text if not letter.isascii() and letter.isalpha()}
    return next((code for code in _IN_LATIN if letters and letters <= LANGUAGES[code].letters), ENGLISH)


def stop_words(language: str) -> frozenset[str]:
    """Return the words of a language that say nothing; of one that we know nothing of, the English ones."""
    return LANGUAGES.get(language, LANGUAGES[ENGLISH]).stop_words


def stem(word: str, language: str) -> str:
    """Return the stem of a word in lower case."""
    known = LANGUAGES.get(language, LANGUAGES[ENGLISH])
    # A stemmer is not safe to share between threads.
    stemmers: dict[str, Stemmer.Stemmer] = _of_thread.__dict__
    stemmer = stemmers.get(known.snowball)
    if stemmer is None:
        stemmer = stemmers[known.snowball] = Stemmer.Stemmer(known.snowball)
    stemmed: str = stemmer.stemWord(word)
    return stemmed


@lru_cache(maxsize=65_536)
def common_form(term: str, languages: tuple[str, ...]) -> str:
    """Return what a term becomes that is stemmed in each of some languages until that changes nothing.

    A word that these have in common has one such form, whichever of them it was stemmed in: “Traces” is “trac” in
    German, “trace” in English.
    """
    if not term.isalpha():
        return term
    for _ in range(_MOST_STEMMED):
        before = term
        for language in languages:
            term = stem(term, language)
        if term == before:
            break
    return term
