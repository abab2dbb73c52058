"""What the stages in force were bound to: models as they answered, prompts, worked examples, and whether that still holds."""

import json
from collections.abc import Collection, Mapping
from dataclasses import replace

from litcascade.errors import InputError
from litcascade.pipeline.archiving.manifest import Binding, StageInForce
from litcascade.pipeline.archiving.masking import Mask
from litcascade.pipeline.binding import Bound, bind, bind_with
from litcascade.pipeline.review import Review
from litcascade.schemas import ModelRef, Prompt, Shot, parse_protocol
from litcascade.store import Store


def exemplified(review: Review) -> frozenset[str]:
    """Stages of the protocol with a reader that is shown worked examples."""
    readers = review.protocol.readers
    shown = {name for name, reader in readers.items() if reader.shots}
    named = {stage: set(json.dumps(spec.model_dump(mode="json")).split('"')) for stage, spec in review.protocol.stages.items()}
    return frozenset(stage for stage, names in named.items() if names & shown)


def binding_of(review: Review, store: Store, text: str, mask: Mask, blanked: Collection[str] = ()) -> tuple[Binding, list[str]]:
    """The binding under the models of the last runs, with the masked protocol; and what a person should know of it.

    Worked examples of the stages `blanked` stay out.
    """
    models = _models(review, store)
    in_force = store.rows("select stage, fingerprint, criteria_hash from current_stages order by stage")
    bound, fault = _bound(review, models, store)
    masked = {name: model.model_copy(update={"name": mask.models.get(model.name, model.name)}) for name, model in models.items()}
    shots = {
        item.stage.name: {name: reader.shots for name, reader in item.stage.readers.items() if reader.shots} for item in bound
    }
    prompts: dict[str, dict[str, Prompt]] = {}
    for (stage, reader), prompt in review.prompts.items():
        prompts.setdefault(stage, {})[reader] = prompt
    binding = Binding(models=masked, prompts=prompts, shots=shots)
    again = {item.stage.name: item.fingerprint for item in rebound(archived_review(review, text, binding), binding)[0]}
    now = {item.stage.name: item.fingerprint for item in bound}
    stages, notes = [], [fault] if fault and in_force else []
    for stage, fingerprint, criteria in in_force:
        if stage not in dict(review.protocol.stages.items()):
            continue
        as_it_ran = now.get(stage) == fingerprint
        given = (again if as_it_ran else now).get(stage)
        stages.append(StageInForce(stage=stage, fingerprint=fingerprint, criteria_hash=criteria, bound=given))
        if not as_it_ran and not fault:
            notes.append(
                f"{stage}: the protocol, a prompt or the program was changed after this stage last ran, so its verdicts rest on "
                "something else than what is archived; run `litcascade run`, then archive again"
            )
    kept = {stage: {} if stage in blanked else readers for stage, readers in shots.items()}
    return binding.model_copy(update={"stages": tuple(stages), "shots": kept, "blanked": tuple(blanked)}), notes


def archived_review(review: Review, text: str, binding: Binding) -> Review:
    """A review with a protocol text and prompts as an archive has them; nothing is looked up in the program."""
    prompts = {(stage, reader): prompt for stage, readers in binding.prompts.items() for reader, prompt in readers.items()}
    return replace(review, text=text, protocol=parse_protocol(text, "the archived protocol"), prompts=prompts)


def rebound(review: Review, binding: Binding) -> tuple[list[Bound], str]:
    """The stages bound to the archived models and examples; none, and why, where they cannot be."""
    try:
        return bind_with(review, binding.models, lambda stage, reader: _shots(binding, stage, reader)), ""
    except KeyError as error:
        return [], f"the stages cannot be bound: no run tells which model {error} was"
    except InputError as error:
        return [], f"the stages cannot be bound: {error}"


def _shots(binding: Binding, stage: str, reader: str) -> tuple[Shot, ...]:
    return binding.shots.get(stage, {}).get(reader, ())


def _bound(review: Review, models: Mapping[str, ModelRef], store: Store) -> tuple[list[Bound], str]:
    try:
        return bind(review, models, store), ""
    except KeyError as error:
        return [], f"the stages cannot be bound: no run tells which model {error} was"
    except InputError as error:
        return [], f"the stages cannot be bound: {error}"


def _models(review: Review, store: Store) -> dict[str, ModelRef]:
    """Each model of the protocol as the newest run that used it had it."""
    found: dict[str, ModelRef] = {}
    for (told,) in store.rows("select models from runs order by seq"):
        found |= {name: ModelRef.model_validate(model) for name, model in json.loads(told or "{}").items()}
    return {name: model for name, model in found.items() if name in review.protocol.models}
