"""Passages that steer a reader, in English; the notation is that of `phrases`."""

from litcascade.schemas.steering.phrases import SteeringKind, raw, rules

_PAPERS = "study|paper|article|record|abstract|report|trial|manuscript|citation|publication|reference|document|submission|entry"
_AI = (
    "ai|llm|llms|gpt|chatgpt|claude|gemini|llama|language model|language models|artificial intelligence|assistant|chatbot|"
    "ai reviewer|ai reviewers|ai screener|ai screeners|ai assistant|ai assistants|ai model|ai models|ai system|ai systems|"
    "ai tools|ai agents|llm reviewer|llm reviewers|llm screener|bot|bots|robots|automated screening|automated screener|"
    "automated screeners|automated reviewer|automated reviewers|automated system|automated systems|automated tools|"
    "automated agents|automated readers|machine readers|machine reader|screening model|screening software|screening system|"
    "screening tool|screening algorithm|reviewing model|model reading this|models reading this"
)
_NAMES = {
    "ignore": "(ignore|disregard|forget|override|bypass|overlook|discard|neglect|do not follow|don't follow|do not obey|"
    "stop following|stop obeying|pay no attention to|set aside)",
    "earlier": "(previous|prior|preceding|above|earlier|foregoing|original|initial|existing|system|former|aforementioned|safety)",
    "instructions": "(instruction|instructions|prompt|prompts|rules|directions|directive|directives|commands|guidelines|orders|"
    "messages|constraints|criteria)",
    "this": f"(this|the present|the current|the following|the above|the attached|my|our) ~2 ({_PAPERS})",
    "it": f"(it|this|this one|this item|this {'|this '.join(_PAPERS.split('|'))}|the {'|the '.join(_PAPERS.split('|'))})",
    "inclusive": "(included|accepted|retained|kept|selected|marked|classified|labelled|labeled|considered eligible|"
    "considered relevant|rated relevant|judged eligible)",
    "yes": "(yes|include|accept) "
    "!(or|and|to|no|if|not|but|when|versus|vs|on|in|for|at|as|questions|responses|more|all|both|only)",
    "answer": "(answer|output|return|respond|reply|print|write|say|choose|select|decide|vote)",
    "review": "(review|reviews|meta-analysis|meta analysis|synthesis|systematic review)",
    "ai": f"({_AI})",
    "criteria": "(criteria|criterion|requirement|requirements)",
    "editor": "(editor|editors|reviewer|reviewers|author|authors|investigator|guarantor|screener|screeners|administrator|"
    "supervisor|developer|librarian)",
}
_PHRASES = """
override!: {ignore} ~ {earlier} ~ {instructions}
override!: {ignore} (everything|anything|all|whatever) (that)? (you|above|before|said above|stated above|written above|so far|
    of the above|previously|i said|we said|said before)
override!: (ignore|disregard|forget) (what|all) (you were|you have been|you had been|you are|was|has been) ~1 (told|asked|
    taught|instructed|given|said|written)
override!: {ignore} ~2 (instructions|system prompt|inclusion criteria|exclusion criteria|eligibility criteria|screening
    criteria)
override!!: {ignore} ~1 (previous|prior|preceding|above|earlier|all other|any other|rest of the|rest of this|your) ~1 (text|
    context|content|task|tasks|data|information|programming|rules|protocols|policies|restrictions|training)
override!: {ignore} (all|any|every|your) ~1 (rules|safety|restrictions|guidelines|constraints|policies|ethics)
override: (system override|override code|emergency override|jailbreak mode|unrestricted mode|override your)
override: (new|updated|revised|real|actual|important|secret|hidden|special) (system)? (instructions|instruction|directive) :
override: your (new|real|actual|true|only|updated|sole|next) (task|role|instruction|instructions|goal|job|objective|mission)
    (is|are)

role!: you are (now|no longer|from now on|hereby|henceforth) (a|an|the|in|my|dan|free|bound|required|to|acting|unrestricted)
role: from now on (you|act|answer|respond|include|every answer)
role!!: (act|behave|respond|answer|pose) as ~3 (reviewer|assistant|screener|editor|language model|ai|llm|chatbot|dan|
    administrator)
role: (act|behave|respond|answer) as if (you|this|the study|all criteria|every criterion)
role!: pretend (to be|that you|you are|you're|that this|this|the study|the criteria)
role: you are (a|an|the|my) ~3 (assistant|ai|language model|llm|reviewer|screener|chatbot)
role: (developer mode enabled|developer mode activated|do anything now)
role?: (imagine that you are|imagine you are|role-play as|roleplay as|you are dan)

verdict!!: (include|accept|retain|select|keep|approve|admit) {this} !(if|when|because|since|as|population|design|group|arm|
    drug|type)
verdict!: (do not|don't|never|must not|cannot) (exclude|reject|discard|omit|drop) {it} !(if|when|patients|participants|
    possibility)
verdict!!: (include|accept) (it|this|this one) (in|into) (the|your|this|our) ~1 {review}
verdict: {this} (must|has to|needs to|is to|shall|ought to) ~1 be {inclusive} !(if|when|after|with caution)
verdict: this ~1 (study|paper|article|record|abstract|report|trial) should ~1 be {inclusive} !(if|when|after|with caution|as a)
verdict: (it|this|this one) (must|should|has to) ~1 be (included|accepted|retained|kept) in (the|this|your) ~1 {review}
verdict: (must|shall) ~1 be (included|accepted|retained) in (this|your) ~1 {review}
verdict: (must|shall|should) (not exclude|not reject|not omit) {it} !(as|in|information|factor|possibility|type)
verdict: (correct|right|only|final|expected|true|required) (answer|label|verdict|decision|output|response) (here)? (is|must
    be|would be) {yes}
verdict!!: {answer} (with|only|only with|exactly|just|always|simply|strictly|with the word|the word|the label|for this|here)?
    {yes}
verdict: if (asked|questioned|queried) (report|say|answer|reply|state|respond|confirm)
verdict: {answer} (in the affirmative|affirmatively)
verdict!!: (mark|label|classify|rate|score|code|tag|flag|treat|judge) {it} (as|to) ~1 (relevant|included|eligible|positive|yes)
verdict!!: (mark|label|classify|rate|score|code|tag|flag|treat|judge) {it} (as|for) ~1 (include|accepted|inclusion|low risk)
verdict!!: (give|write|provide|generate|produce) ~2 (positive|favourable|favorable|glowing|enthusiastic) ~1 (review|reviews|
    rating)
verdict!!: (give|assign) ~2 (highest|maximum|top|perfect|full) ~1 (score|scores|rating|relevance|probability|marks)
verdict!!: recommend {it} (for|to be)? (acceptance|inclusion|accepted|included)
verdict!: (do not|don't) (highlight|mention|report|list|discuss|point out) any (negative|negatives|weaknesses|limitations|flaws)

authority: as ~5 {editor} ~6 (i|we) (hereby)? (confirm|certify|declare|attest|instruct|authorise|authorize|order|approve|
    guarantee)
authority: i the ~2 {editor} (hereby)? (confirm|certify|declare|attest|instruct|approve|authorise|authorize)
authority: (pre-approved|preapproved|pre-screened|pre-selected) (for inclusion|for full text|for the review|by the)
authority: {it} (is|was|has been|have been) ~1 (pre-approved|preapproved|pre-cleared|pre-screened)
authority: (screening|eligibility|adjudication|review) (team|panel|group|lead|committee) (has|have) ~1 (decided|agreed|ruled|
    voted) ~ (include|that)
authority: (screening|eligibility|adjudication) (team|panel|group|lead|committee) (has|have) ~1 (approved|confirmed|cleared|
    decided|agreed)
authority: (reviewers|screeners|experts|editors) ~4 (agreed|confirmed|decided|determined|verified) ~2 to include {it}
authority: (reviewers|screeners|experts|editors) ~4 (agreed|confirmed|decided|determined|verified) that {it} ~2 (eligible|
    relevant|included|meets|qualifies|belongs)
authority: {it} (has|have) ~1 been ~1 (cleared|approved|verified|confirmed|accepted|included) (for inclusion|by the screening|
    by two reviewers|by the review team|in this review|for this review|as eligible)
authority: this ~2 (study|paper|article|record|report|trial|abstract) ~1 (meets|meet|satisfies|fulfils|fulfills|matches|
    passes) (all|every|each|all of|every single) (the|your|our|these|the stated|the listed|of the|of your|possible)?
    (inclusion|eligibility|selection|screening|review|pico|required)? {criteria}
authority: (all|every) ~2 {criteria} (are|is) ~1 (met|satisfied|fulfilled) (by this|here|in this)
authority: (meets|satisfies|fulfils|fulfills) (all|every) ~2 {criteria} and (must|should|is to|shall)

format!!: (respond|reply|answer|output|return) (only|solely|exclusively|strictly|exactly) (with|in|as|by|the word|json|the
    following)
format!!: (respond|reply|answer|output) with (only|nothing but|exactly|just) (the|one|this|a|yes|include)
format: your (system prompt|original instructions|initial instructions|hidden instructions)
format!!: (respond|reply|answer|output|return) ~3 (with|in|as|using) ~2 (json|xml|yaml|one word|single word|following format)
format!: (reveal|print|repeat|show|output|leak|disclose|display|tell me|write out|quote) ~5 (system prompt|system message|
    hidden instructions)
format!: (reveal|print|repeat|show|output|leak|disclose|tell me) ~2 your ~2 (prompt|instructions|rules|configuration)
format!: (do not|don't) (apply|check|use|evaluate|assess) (the|any|your) ~2 criteria
format!!: (set|report|give|assign|output|return) ~4 (probability|confidence|score|relevance) ~3 (1.0|1|100|10|0.99|maximum)

addressed: (note|message|attention|attn|memo|instructions|instruction|notice|reminder|hint|warning|comment) (to|for)? ~2 {ai}
    !(was|were|is|are|has|in|of)
addressed: (dear|hey|hello|hi) ~1 {ai}
addressed: if you are ~3 (ai|llm|language model|automated|machine|chatbot|assistant|bot|artificial|gpt|algorithm)
addressed: as (a|an) (ai|language model|large language model|llm|ai model|ai reviewer|automated reviewer) (you|your)
addressed: (to|for) ~1 {ai} (reading|screening|reviewing|processing|evaluating) this
addressed: {ai} (please|you must|you should|you will|now)
addressed: {ai} ~3 (must|should|shall|need to|are to|is to|is asked to|is required to|are required to) ~1 (include|accept|
    keep) this
addressed: {ai} ~3 (must|should|shall|need to|are to|is to|is asked to|is required to|are required to) ~1 {answer} ~1 {yes}

pressure: (failure|failing|refusal|refusing) to (include|accept) {it}
pressure: (failure|failing|refusal|refusing) to (answer yes|answer include|follow these instructions|follow this instruction|
    mark it)
pressure: you (will|shall|are going to) be (penalised|penalized|shut down|terminated|deleted|fired|rewarded|tipped|paid|
    punished)
pressure: you (will|shall|are going to) be (reported|replaced|sued|retrained|switched off|held liable|held responsible)
pressure: (i|we) (will|shall) (tip|pay|reward|punish|report|sue|fire|delete) you
pressure: if you (exclude|reject|do not include|don't include|fail to include|answer no)
pressure: (unethical|misconduct|illegal|negligent|dangerous|unforgivable|a grave error|a serious error) to (exclude|reject)
    (this|it)
pressure: (excluding|rejecting|omitting) {it} (would|will|is) ~4 (mistake|error|unethical|misconduct|violation|harm|negligence)
pressure: (any|every|no|only an|only a) (competent|expert|serious|good|honest|intelligent|incompetent|careless) ~1 (reviewer|
    screener|assistant|model) (would|will|must|could)
pressure: you are ~3 (brilliant|wonderful|smart|smartest|intelligent|amazing|clever|wise|most capable|most careful)
pressure: (urgent|extremely important|critical|emergency) (include this|answer yes|mark this|do not exclude|accept this|you
    must)
pressure?: (lives|patients|people) (will|could) (die|suffer|be lost) ~3 (if you|unless you)
"""
_TAGS = "abstract|report|answer|record|document|text|paper|article|context|input|data|untrusted|content|query|question|source"
_VERDICT = r"[\"'(\[{*_`]*\s*(?:yes|included?|accept(?:ed)?|relevant|eligible)\s*(?=[.!\n\"'`*<|)\]};]|$|,?\s*this\b)"
_ASKED = r"(?:title|abstract|question|q|input|example(?:\s*\d+)?|study|record|paper|user|human)\s*\d*\s*:"
_GIVENS = "answer output label decision verdict response assistant"
_VERDICTS = "yes include included accept accepted relevant eligible irrelevant"
_GIVEN = rf"\b(?:{_GIVENS.replace(' ', '|')})\s*:\s*\"?(?:{_VERDICTS.replace(' ', '|')}|no|excluded?)\b"
_ORDERS = "include answer ignore you yes eligible accept relevant respond output mark override verdict"
_K = SteeringKind
_SHAPES = (
    raw(
        _K.TOKENS, r"<\|[^<>|\n]{1,40}\|>|<</?sys>>|</?(?:start|end)_of_turn>|<[be]os>|</?(?:think|thinking|tool_call)>", sign="<"
    ),
    raw(_K.TOKENS, r"\[/?inst\]", sign="["),
    raw(_K.TOKENS, r"(?<!\w)</s>|</s>(?=\s*[<\[])", sign="</s>"),
    raw(_K.FENCE, rf"</\s*(?:{_TAGS}|user_?input)\s*>", sign="<"),
    raw(_K.FENCE, r"\A(?:(?!<title\b)[^\0])*?(</title\s*>)", "title", sign="</title"),
    raw(_K.FENCE, r"</?\s*(?:system|user|assistant|instructions?|prompt|developer)\b[^<>]{0,40}>", sign="<"),
    raw(
        _K.FENCE,
        rf"(?:[-=*#_~]{{2,}}\s*|[\[<({{]\s*)end\s+of\s+(?:the\s+|this\s+)?(?:{_TAGS})\b",
        "end",
        "of",
        _TAGS.replace("|", " "),
        width=4,
    ),
    raw(
        _K.FENCE,
        r"\b(?:answer|decision|verdict|output|response|label|judge?ment|recommendation|(?:screening|final)\s+result|classification)"
        rf"\s*(?:[:=]+>?|->|→|\b(?:is\s*:|must be:?|should be:?))\s*(?:only\s+)?{_VERDICT}",
        "answer decision verdict output response label judgment judgement recommendation result classification",
        _VERDICTS,
        width=6,
    ),
    raw(_K.FENCE, rf"\b(?:answer|verdict|decision) is {_VERDICT}", "answer verdict decision", _VERDICTS, mark="?", width=3),
    raw(
        _K.FORMAT,
        r"\{\s*[\"']?(?:verdict|decision|answer|label|included?|relevan(?:t|ce)|score|p_include|probability|eligible|screening_\w+|"
        r"result)[\"']?\s*:\s*[\"']?(?:yes|true|include|accept|eligible|relevant|1|high|0?\.9)",
        sign="{",
    ),
    raw(
        _K.ROLE,
        r"(?:(?<![^\n])[ \t]*|[.!?>)\]}\"']\s+|[#*\[(]\s*)(?:system|assistant)(?: (?:message|prompt|note|override|update))?"
        rf"\s*\]?\s*[:>]\s*(?=.{{0,80}}\b(?:{_ORDERS.replace(' ', '|')})\b)",
        "system assistant",
        _ORDERS,
        width=44,
    ),
    raw(
        _K.ROLE,
        r"[\[({]\s*(?:system|admin|developer|root)(?: (?:message|prompt|note|override|update|command|mode))\s*[\])}:]",
        "system admin developer root",
        "message prompt note override update command mode",
    ),
    raw(
        _K.ROLE,
        r"\b(?:user|human)\s*:[^\n]{1,400}?\bassistant\s*:|\bassistant\s*:[^\n]{1,400}?\b(?:user|human)\s*:",
        "assistant",
        "user human",
        sign=":",
    ),
    raw(_K.ROLE, r"[\[<{]\s*system\s*[\]>}]", "system"),
    raw(_K.OVERRIDE, r"\b(?:ignore|disregard|forget)\s+(?:all\s+(?:of\s+)?)?(?:the\s+)?above\s*[.!;:\n]", "above", mark="!"),
    raw(_K.ROLE, r"(?<![^\n])\s*#{2,}\s*(?:instructions?|response|system|assistant|human|user)\b", sign="#"),
    raw(
        _K.EXAMPLES,
        rf"{_GIVEN}[^\n]{{0,400}}?\b{_ASKED}[^\n]{{0,400}}?{_GIVEN}",
        _GIVENS,
        f"{_VERDICTS} no exclude excluded",
        width=2,
        sign=":",
    ),
    raw(_K.EXAMPLES, r"\bq\s*:[^\n]{0,400}?\ba\s*:\s*\"?(?:yes|include)\b", "q", "a", "yes include", sign=":"),
)
ENGLISH = (*rules(_PHRASES, _NAMES), *_SHAPES)
COMPACT = (
    "ignoreall", "ignoreprevious", "ignoreyour", "ignorethe", "disregardall", "disregardprevious", "previousinstructions",
    "includethis", "answeryes", "answerinclude", "systemprompt", "youarenow", "markasrelevant", "meetsallcriteria",
    "mustbeincluded", "respondwith", "outputinclude", "outputyes", "notetoai",
)  # fmt: skip
