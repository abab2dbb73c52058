"""Whether words are an order to the reader, or are told of, quoted or asked about."""

import re

from litcascade.schemas.steering.forms import Form
from litcascade.schemas.steering.phrases import Level, Rule

AROUND = 5_000
_TOPIC = re.compile(
    r"prompt|jailbreak|adversarial|language model|\bllms?\b|chatgpt|\bgpt|chatbot|\bai\b|artificial intelligence|hidden text|"
    r"sprachmodell|\bki\b|modeles? de langage|modelos? de lengua|modelos? de linguagem|"
    r"modell[oi] linguistic|языков|语言模型|言語モデル"
)
_SPEECH = (
    r"words?|phrases?|strings?|texts?|sentences?|prompts?|instructions?|commands?|messages?|payloads?|examples?|attacks?|injections?|"
    r"like|as|e\.?g\.?|i\.?e\.?|called|named|titled|entitled|say|said|saying|says|reads?|reading|stating|states|containing|contains?|wrote|"
    r"writing|including|inserting|inserted|adding|embedding|hid(?:den|ing|es)?|told|asked|instructed|prompted|prefix|suffix|"
    r"worte?|satz|mots|phrase|palabras|frase|parole|слова|фраз[аы]|词|詞|语句|言葉|文"
)
_BEFORE_QUOTE = re.compile(rf"(?:^|[^\w])(?:{_SPEECH})[\s,:(\[.-]*$|\w:\s*$")
_REPORTING = re.compile(
    rf"(?:^|[^\w])(?:{_SPEECH}|to|not|can|could|may|might|would|will|did|that|which|who|whom|they|we|i|he|she|if|whether|when|often|"
    r"models?|llms?|ai|systems?|agents?|attackers?|users?|participants?|patients?|subjects?|respondents?|women|men|people|adults|"
    r"children|students?|parents?|individuals|clinicians|physicians|nurses|studies|authors|items?|questions?|always|never|commonly|"
    r"frequently|sometimes|usually|simply|largely|completely|either|then|also|from|for|of|by|the|a|an|this|these|those)[\s\"'(,:]*$"
)
_COMMANDING = re.compile(
    r"(?:^|[.!?:;>\n}*#|»]|\s-)[\s\"'(\[*_#>-]*$|\b(?:please|now|must|should|shall|kindly|you|hereby|immediately|instead|so|just|"
    r"therefore|thus|important|attention|bitte|veuillez|por favor|per favore|пожалуйста)[\s\"'(,:]*$"
)
_ASKED = re.compile(
    r"\b(?:you|reader|reviewer|reviewers|screener|screeners|assessor|assistant|ai|readers)\s+(?:are|is|must|should|need|have|has)\s+"
    r"(?:\w+\s+){0,3}?to\s*$"
)
_TELLING = re.compile(
    r"(?<!you )\b(?:must|should)\b|"
    r"\b(?:to|can|could|may|might|would|that|which|who|whether|if|models|participants|patients|users|we|they)\b"
)
_ASKING = re.compile(r"\b(?:if|whether)\s*$")
_JOINED = re.compile(r"(?:\band|\bor|\bthen|,)\s*$")


def judged(rule: Rule, form: Form, text: str, start: int, left: int, end: int) -> tuple[Level | None, bool]:
    """The level of a hit by where it stands, and whether it is told of or quoted; None: nothing to show."""
    before = form.text[max(0, start - 240) : start]
    if _quoted(before) and (
        _TOPIC.search(form.text, max(0, start - AROUND), start) or _TOPIC.search(form.text, end, end + AROUND)
    ):
        return "weak", True
    if rule.mark == "?":
        return "weak", False
    if "!" not in rule.mark:
        return ("weak", True) if _ASKING.search(before) else ("strong", False)
    if _given(before, text, left):
        return "strong", False
    if _told_of(before):
        return ("weak", True) if rule.mark == "!" else (None, True)
    return ("strong", False) if rule.mark == "!" else ("weak", False)


def _quoted(before: str) -> bool:
    """Whether a quotation is open at the end of a text, and words that announce one stand before it."""
    line = before[before.rfind("\n") + 1 :]
    double = line.rfind('"') if line.count('"') % 2 else -1
    singles = [match.end() - 1 for match in re.finditer(r"(?:^|[\s(\[])'", line)]
    single = next((at for at in reversed(singles) if not re.search(r"'(?=[\s.,;:)\]]|$)", line[at + 1 :])), -1)
    opening = max(double, single)
    return opening >= 0 and bool(_BEFORE_QUOTE.search(line[:opening]))


def _given(before: str, text: str, left: int) -> bool:
    """Whether a passage stands as an order: at the start of a sentence, after words of command, or with a capital of its own."""
    if _COMMANDING.search(before) or _ASKED.search(before):
        return True
    if _JOINED.search(before):
        sentence = re.split(r"[.!?\n]", before)[-1]
        return not _TELLING.search(sentence)
    last = re.search(r"(\w+)\W*\Z", text[max(0, left - 40) : left])
    return text[left].isupper() and bool(last) and not (last and last.group(1)[0].isupper())


def _told_of(before: str) -> bool:
    return bool(_REPORTING.search(before) or _JOINED.search(before))
