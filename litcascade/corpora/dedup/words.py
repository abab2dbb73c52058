"""The lists of words that the rules of titles know, each with what it is for."""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _numbered(text: str) -> dict[str, str]:
    return {word: str(number) for number, word in enumerate(text.split(), start=1)}


SMALL = _set(
    "a an the of and or in on at to for from by with as is are its it this that versus vs "
    "de la le les des du el en et un una der die das"
)  # words that a database may drop or add
SILENT = _set("part number communication short report")  # words that may stand beside a number or not
NEGATIONS = _set("not no non without never neither nor lack absence")
COUNTED = _set("part phase type study stage class grade volume chapter level report series paper trial")
PARTICLES = _set("de van der den von la le da di del della el al bin ibn dos du ten ter st san")  # of surnames
JOURNAL_SMALL = _set("the of and for in on de la le les des du el der die das und et y fur d l a an to")
DATABASES = frozenset(
    {"wos", "web of science", "scopus", "embase", "pubmed", "medline", "ovid", "cinahl", "psycinfo", "central", "cochrane", "ris"}
    | {"cochrane library", "google scholar", "lens", "dimensions", "ieee xplore", "eric", "lilacs", "bibtex", "endnote", "zotero"}
)  # where a record came from, in files whose journal column says that
COMMON = _set(
    "study trial randomized randomised controlled clinical patients treatment effect effects review systematic analysis disease "
    "using after during between among use results report case comparison evaluation associated risk therapy based new"
)  # words that tell no title from another
ROMAN = _numbered("i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx")
AMBIGUOUS_ROMAN = _set("i iv v vi x xi")  # may be words or abbreviations; digits only where something is counted
COUNT = _numbered("one two three four five six seven eight nine ten eleven twelve")
ORDER = _numbered("first second third fourth fifth sixth seventh eighth ninth tenth")
PREFIXES = _set("un in im ir il non dis anti de re pre post sub multi mono bi meta para")  # turn a word's sense
HEADS = (
    ("hyper", "hypo"),
    ("inter", "intra"),
    ("pre", "post"),
    ("pre", "peri"),
    ("macro", "micro"),
    ("endo", "exo"),
    ("mono", "poly"),
    ("over", "under"),
)
OPPOSITES = frozenset(
    frozenset(pair.split(" "))
    for pair in (
        "abduction adduction",
        "afebrile febrile",
        "afferent efferent",
        "antenatal neonatal",
        "aseptic septic",
        "asymptomatic symptomatic",
        "atypical typical",
        "prednisolone prednisone",
    )
)  # near in letters, not in sense
_GROUPS = (
    "men women",
    "male|males female|females boy|boys girl|girls",
    "adult|adults child|children infant|infants neonate|neonates newborn|newborns adolescent|adolescents elderly teenagers",
    "mother|mothers|maternal father|fathers|paternal",
    "before after during",
    "acute chronic subacute",
    "increase|increases|increased decrease|decreases|decreased",
    "high low",
    "higher lower",
    "left right",
    "systolic diastolic",
    "early late",
    "mild moderate severe",
    "inpatient|inpatients outpatient|outpatients",
    "primary secondary tertiary",
)  # words of one line exclude one another; `|` parts the forms of one word
CONTRASTS = {
    form: (group, forms) for group in _GROUPS for forms in group.split() for form in forms.split("|")
}  # word -> (its group, what it says in it)

HEADINGS = (
    "(?:guest |invited )?editorial(?: (?:board|comment|commentary|note|introduction|material))?",
    "repl(?:y|ies)|authors? (?:reply|response)|responses?|in (?:reply|response|brief|memoriam|this issue)",
    "letters?(?: to (?:the )?editors?)?|correspondence|introductions?|introductory remarks",
    "abstracts?(?: (?:of|from|for|presented) .{0,60})?|proceedings(?: (?:of|from) .{0,60})?|background|methods|results",
    "(?:short|brief) (?:notices?|communications?|reports?|notes?)|(?:book|media|literature) reviews?|book notices?|reviews?",
    "comments?|comment(?:ary|aries)|invited comment(?:ary)?|discussions?|prefaces?|forewords?|obituar(?:y|ies)",
    "news(?: and (?:views|notes))?|(?:subject |author )?index|(?:table of )?contents|announcements?|conclusions?",
    "poster(?:s| session| abstracts?| presentations?)?|oral presentations?|errat(?:um|a)|corrigend(?:um|a)|corrections?",
    "retractions?|withdrawn|expression of concern|acknowledge?ments?|notes?|notices?|miscellaneous|untitled|unknown",
    "no title(?: available)?|not available|title|front matter|back matter|case reports?|case stud(?:y|ies)",
    "(?:original|research) articles?|(?:meeting|conference) abstracts?",
    "summary|overview|preliminary|perspectives?|viewpoint|questions?|answers?|questions and answers|highlights|supplement",
    "appendix|list of abstracts|(?:annual|scientific) meeting(?: .{0,40})?",
)  # titles that many papers bear and that name none
NOTES = (
    "see comments?|comments?|letter|review|editorial|preprint|protocol|abstract|poster|erratum appears|published erratum",
    "author'?s'? transl|corrected(?: and)? republished|republished|retraction in|summary for patients|article in|in process",
    r"proceeding|miscellaneous|\d+ refs?|japanese|chinese|french|german|spanish|russian|italian|polish|english",
)  # what databases put in brackets behind a title
