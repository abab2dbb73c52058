"""Questions whose answers show whether a model is served as the run needs it; asked before anything is screened."""

from dataclasses import dataclass

from litcascade.backends.base import Backend
from litcascade.errors import BackendError
from litcascade.schemas import JsonShape, LabelShape, ModelRef, Reply, Request, Sampling, Shape, say

CODES = ("qzvx", "wkjp")
LONG_WORDS = 1200


@dataclass(frozen=True)
class Finding:
    """One thing that was probed: `ok`, or what is wrong and how to mend it. `fatal` findings stop a run."""

    what: str
    ok: bool
    words: str = ""
    fatal: bool = True


async def probe(backend: Backend, model: ModelRef, *, wants_json: bool = True, long_prompt: bool = True) -> list[Finding]:
    """Probe a model; raises `BackendError` where it gives no reply at all."""
    label = _request(model, "Say hello and tell me about the weather.", LabelShape(labels=CODES), 12, top_logprobs=5)
    reply = await _one(backend, label)
    if reply.refused is not None:
        return [_refused(reply.refused)]
    findings = [_constraint(reply), _scores(reply)]
    if wants_json:
        findings.append(await _json(backend, model))
    if long_prompt:
        findings.append(await _long(backend, model))
    return findings


def _constraint(reply: Reply) -> Finding:
    text = (reply.text or "").strip()
    if text in CODES:
        return Finding("answers are held to the labels", True)
    if not text and (reply.reasoning or "").strip():
        words = "the answer comes in the reasoning field, not as content; switch thinking off or drop the reasoning parser"
        return Finding("answers are held to the labels", False, words)
    marks = next((mark for mark in ("<|im_start|>", "[INST]", "<|start_header_id|>", "<|assistant|>") if mark in text), None)
    if marks:
        return Finding(
            "the chat template fits",
            False,
            f"the answer holds template marks ({marks}); the model has another's chat template",
        )
    words = f"the server ignored the constraint in silence and answered {text[:60]!r}; check its version and dialect"
    return Finding("answers are held to the labels", False, words)


def _scores(reply: Reply) -> Finding:
    words = "" if reply.logprobs else 'no log-probabilities come back: no scores, so policy = "threshold" refers everything'
    return Finding("log-probabilities", bool(reply.logprobs), words, fatal=False)


async def _json(backend: Backend, model: ModelRef) -> Finding:
    schema = {
        "type": "object",
        "properties": {CODES[0]: {"enum": [CODES[1]]}},
        "required": [CODES[0]],
        "additionalProperties": False,
    }
    reply = await _one(backend, _request(model, "Say hello.", JsonShape(name="canary", json_schema=schema), 40))
    text = "".join((reply.text or "").split())
    ok = text == f'{{"{CODES[0]}":"{CODES[1]}"}}'
    words = (
        ""
        if ok
        else f"the JSON schema was not kept to: {(reply.refused or reply.text or reply.reasoning or 'no content')[:80]!r}"
    )
    return Finding("JSON answers are held to the schema", ok, words)


async def _long(backend: Backend, model: ModelRef) -> Finding:
    reply = await _one(backend, _request(model, "zinc " * LONG_WORDS, LabelShape(labels=CODES), 12))
    what = "long prompts are read whole"
    if reply.refused is not None:
        words = f"a prompt of {LONG_WORDS} words is refused ({reply.refused[:80]}); serve the model with a longer context"
        return Finding(what, False, words, fatal=False)
    if reply.prompt_tokens is None:
        return Finding(
            what,
            False,
            "the server does not tell how many tokens it read, so a cut prompt would go unseen",
            fatal=False,
        )
    if reply.prompt_tokens < LONG_WORDS:
        words = f"of a prompt of {LONG_WORDS} words the server read {reply.prompt_tokens} tokens: it cuts prompts in silence"
        return Finding(what, False, words)
    return Finding(what, True)


def _refused(words: str) -> Finding:
    if "chat template" in words.lower() or "chat_template" in words.lower():
        return Finding("the chat template", False, "the model has no chat template; serve an instruct model, or name a template")
    return Finding("the first question", False, f"the server refuses it: {words[:160]}")


def _request(model: ModelRef, words: str, shape: Shape, max_tokens: int, top_logprobs: int = 0) -> Request:
    sampling = Sampling(max_tokens=max_tokens, top_logprobs=top_logprobs)
    return Request(model=model, messages=(say("user", words),), shape=shape, sampling=sampling, purpose="probe")


async def _one(backend: Backend, request: Request) -> Reply:
    async for _, came in backend.ask([request]):
        if isinstance(came, BackendError):
            raise came
        return came
    raise BackendError("the engine skipped the question")
