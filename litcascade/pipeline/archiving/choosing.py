"""What goes into an archive, and what stays out with the reason: by what was asked for, by licence, and always."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from litcascade.corpora.sets import SETS
from litcascade.errors import InputError
from litcascade.store import Store

ABSTRACTS, TEXTS, GOLD = "abstracts", "texts", "gold"
SHARED: Mapping[str, frozenset[str]] = {
    "asreview_hosted": frozenset({GOLD}),
    "clef_tar": frozenset({GOLD}),
    "csmed": frozenset({GOLD}),
    "csmed_ft": frozenset({GOLD}),
    "evidence_inference": frozenset({GOLD}),
    "rct_numeric": frozenset({GOLD}),
    "synergy": frozenset({GOLD, ABSTRACTS}),
}  # what the licence on a set's card lets everybody pass on; a set that is not named here: nothing
MADE_ANEW = {
    "meta": "notes of the store about itself, made anew",
    "migrations": "named in this manifest, made anew",
}
OF_GOLD = (
    "gold", "gold_fields", "rationales", "causes", "judgements", "judge_samples", "judge_labels", "judge_calibrations",
)  # fmt: skip
OF_JUDGES = "(stage = 'judge' or key in (select unnest(calls) from judgements))"
OF_EXAMPLES = "contains(request::text, 'assistant')"  # examples of earlier protocols are shown as turns of a talk
BESIDE = {
    "original files (PDF, exports)": "the store holds what was read of them, and their names and checksums",
    "events.jsonl, checkpoints, jobs": "traces of how a run went; nothing rests on them",
    "weights of models": "named with revision and engine; a replay needs none",
    "files of recorded replies": "every reply that was used stands in the table calls",
}


@dataclass(frozen=True)
class Asked:
    """What a person asked for; None leaves it to the licence of the set, where the review is one, else it goes in."""

    gold: bool | None = None
    texts: bool | None = None
    abstracts: bool | None = None


@dataclass(frozen=True)
class Choice:
    """What goes in. `why` says for each part that stays out why; without abstracts full texts stay out too."""

    gold: bool = True
    texts: bool = True
    abstracts: bool = True
    why: Mapping[str, str] = field(default_factory=dict)
    exemplified: frozenset[str] = frozenset()  # stages with worked examples

    @property
    def blanked(self) -> tuple[str, ...]:
        """Stages whose worked examples stay out: each holds an abstract and a label."""
        return () if self.gold and self.abstracts else tuple(sorted(self.exemplified))

    def drops(self, table: str) -> str | None:
        """Why a table stays out, None where it goes in."""
        if table in MADE_ANEW:
            return MADE_ANEW[table]
        return self.why[GOLD] if not self.gold and table in OF_GOLD else None

    def blanks(self, table: str) -> dict[str, str]:
        """Columns of a table that stay empty: SQL of the condition under which they do."""
        blank: dict[str, str] = {}
        if not self.gold and table == "records":
            blank |= {"labels": "true", "source": "true"}
        if not self.abstracts:
            blank |= {
                "records": {"abstract": "true", "source": "true"},
                "set_aside": {"raw": "true"},
            }.get(table, {})
        if not self.texts and table == "documents":
            blank |= {"sections": "true", "content": "true", "abstract": "true"}
        return blank | self._of_calls() if table == "calls" else blank

    def _of_calls(self) -> dict[str, str]:
        """Requests that quote what stays out; without gold also what judges, who are shown gold items, were asked and said."""
        requests = [] if self.abstracts else ["true"]
        if not self.texts:
            requests.append("stage is distinct from 'title_abstract'")
        blank: dict[str, str] = {}
        if not self.gold:
            requests += [OF_JUDGES, *(f"stage = {_quoted(stage)}" for stage in self.blanked), OF_EXAMPLES]
            blank = dict.fromkeys(("text", "reasoning", "logprobs", "raw", "refused"), OF_JUDGES)
        return blank | ({"request": f"({' or '.join(requests)})"} if requests else {})

    def derivable(self, stage: str) -> bool:
        """Whether what a stage reads and is shown is in the archive, so that its verdicts can be derived again."""
        return derivable(stage, self.abstracts, self.texts, self.blanked)


def derivable(stage: str, abstracts: bool, texts: bool, blanked: Collection[str]) -> bool:
    """Whether a stage can be derived again from an archive with these parts and without the examples of the stages blanked."""
    return abstracts and (stage == "title_abstract" or texts) and stage not in blanked


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def choose(store: Store, asked: Asked) -> Choice:
    """Settle what goes in; of a benchmark set only what its licence lets everybody pass on, unless asked for by name.

    Full texts asked for where abstracts stay out are an `InputError`.
    """
    sets = [row[0] for row in store.rows("select distinct path from imports where format = 'benchmark set' order by 1")]
    why: dict[str, str] = {}
    told: dict[str, bool] = {}
    for part, wish in ((ABSTRACTS, asked.abstracts), (TEXTS, asked.texts), (GOLD, asked.gold)):
        closed = [name for name in sets if part not in SHARED.get(name, frozenset())]
        told[part] = wish if wish is not None else not closed
        if wish is False:
            why[part] = f"asked for with --no-{part}"
        elif not told[part]:
            why[part] = f"the licence of the set {closed[0]} does not let everybody pass them on ({_licence(closed[0])})"
    if not told[ABSTRACTS] and asked.texts:
        raise InputError("--texts goes with abstracts; they stay out here, so add --abstracts where you may pass them on")
    if not told[ABSTRACTS] and told[TEXTS]:
        told[TEXTS] = False
        why[TEXTS] = "abstracts stay out, so full texts do too"
    return Choice(told[GOLD], told[TEXTS], told[ABSTRACTS], why)


def _licence(name: str) -> str:
    return SETS.get(name).card.licence if name in SETS.names() else "the set is not known"
