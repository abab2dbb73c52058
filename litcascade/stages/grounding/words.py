"""The word lists: numbers, negations, directions, groups without a name. All folded: lower case, no hyphens inside words."""

import re


def words_of(text: str) -> tuple[str, ...]:
    """The words of a list as it is written here, blanks between."""
    return tuple(text.split())


_ONES = words_of("one two three four five six seven eight nine")
_TEENS = words_of("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
_TENS = words_of("twenty thirty forty fifty sixty seventy eighty ninety")
NUMBER_WORDS: dict[str, int] = {
    **{word: value for value, word in enumerate(_ONES, 1)},
    **{word: value for value, word in enumerate(_TEENS, 10)},
    **{word: 10 * value for value, word in enumerate(_TENS, 2)},
    **{f"{ten}{gap}{one}": 10 * t + o for t, ten in enumerate(_TENS, 2) for o, one in enumerate(_ONES, 1) for gap in ("", " ")},
}
BIG_WORDS = ("hundred", "thousand", "million", "billion", "thirds?", "fourths?", "fifths?", "half", "quarters?")
LABEL_WORDS = words_of(
    "table tables fig figs figure figures appendix section chapter box panel equation ref reference supplement"
)

NEGATIONS: dict[str, str] = {
    "en": (
        r"not|no|never|none|neither|nor|without|cannot|lack of|lacked|lacking|absence of|absent|failed to|n't|nobody|non|denied|"
        r"rather than|instead of|unable|impossible|omitted|abandoned|waived"
    ),
    "de": r"nicht|kein|keine|keiner|keinen|keinem|keines|ohne|weder|nie|niemals|fehlte|fehlten",
    "fr": r"ne|n'|pas|sans|aucun|aucune|ni|jamais|non",
    "es": r"no|sin|ningún|ninguno|ninguna|nunca|tampoco|ni",
    "it": r"non|senza|nessun|nessuno|nessuna|mai|né",
    "pt": r"não|sem|nenhum|nenhuma|nunca|nem",
    "nl": r"niet|geen|zonder|nooit|noch",
    "pl": r"nie|bez|żaden|żadna|żadnych|nigdy|brak",
}
FUNCTION_WORDS: dict[str, frozenset[str]] = {
    "en": frozenset(words_of("the of and in to was were with for that by")),
    "de": frozenset(words_of("der die das und mit von den wurde wurden im eine")),
    "fr": frozenset(words_of("le la les des et du dans une été par pour")),
    "es": frozenset(words_of("el la los las del y con una fue fueron para")),
    "it": frozenset(words_of("il la di e della dei con una sono nel stato")),
    "pt": frozenset(words_of("o a os as do da e com uma foi foram para")),
    "nl": frozenset(words_of("de het een van en met werd werden voor op bij")),
    "pl": frozenset(words_of("w i z na do się było były oraz przez dla")),
}
NO_NEGATION = re.compile(r"not only|no (?:fewer|less|more|later|earlier) than|not (?:less|fewer|more) than|no\.? ?\d|nos\. ?\d")
PREFIXES = ("non", "un", "nicht", "quasi", "pseudo", "semi", "in", "im", "dis", "a")

HIGHER = (
    r"higher|greater|larger|longer|more|increased?|increases|increasing|rose|raised|elevated|exceeded|grew|gained|höher|größer|"
    r"länger|mehr|plus élevée?s?|mayor(?:es)?|aumentó"
)
LOWER = (
    r"lower|smaller|shorter|less|fewer|decreased?|decreases|decreasing|reduced?|reduces|reducing|reductions?|fell|declined|dropped|"
    r"diminished|niedriger|geringer|kürzer|weniger|plus faibles?|menor(?:es)?|disminuyó"
)
SAME = (
    r"no (?:\w+ ){0,3}(?:differences?|effect|change|benefit|association|correlation)|"
    r"(?:did|does|do|was|were|is|are) not (?:\w+ )?(?:differ|different|changed?|affect|associated)|"
    r"similar|comparable|unchanged|equivalent|nonsignificant(?:ly)?|not significantly|not statistically|"
    r"kein(?:e|en)? (?:\w+ ){0,2}unterschiede?|ähnlich|aucune différence|sin diferencias?"
)
MORE_OR_LESS = (
    r"higher|lower|greater|smaller|larger|longer|shorter|less|fewer|more|better|worse|reduction|increase|decrease|difference|"
    r"improvement|decline|drop|gain"
)
STATISTIC = (
    r"difference|differences|ratio|odds|hazard|risk|rr|or|hr|md|smd|wmd|irr|ci|confidence interval|effect size|cohen's d|"
    r"reduction|increase|p|p value|pvalue|t|f|z|r|χ\^2|chisquared?|κ|kappa|auc|nnt"
)

UNNAMED_GROUPS = re.compile(
    r"(?<!\w)(?:(?:the )?(?:control|controls|comparator|comparison|intervention|treatment|treated|experimental|active|study|"
    r"other|second|first|latter|former|usual care|standard care|untreated) (?:group|groups|arm|arms)|"
    r"controls|usual care|standard care|the latter|the former|the (?:rest|others|remainder|remaining)|"
    r"(?:group|arm) [abcd1-4i]{1,2}(?!\w))"
)
ALL_GROUPS = re.compile(
    r"(?<!\w)(?:both|all|either|each|every|across)(?: of)?(?: the)?(?: \w+)? (?:groups?|arms?|participants|patients|subjects|"
    r"children|women|men|adults|treatments)(?!\w)|(?<!\w)(?:overall|in total|a total of|altogether|combined)(?!\w)"
)


def languages(folded: str) -> tuple[str, ...]:
    """The languages whose negations count for a text: English, and any whose function words are 4 % of its words or more."""
    words = folded[:20000].split()
    shares = {name: sum(word in known for word in words) / max(1, len(words)) for name, known in FUNCTION_WORDS.items()}
    return ("en", *(name for name, share in shares.items() if name != "en" and share >= 0.04 and share >= shares["en"] / 2))
