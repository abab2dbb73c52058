"""The grid of configurations that a benchmark runs, as the protocol declares it, and its cells."""

from itertools import product
from typing import Annotated, Literal

from pydantic import Field, model_validator

from litcascade.schemas.keys import Frozen

Share = Annotated[float, Field(ge=0, le=1)]


class BenchSplits(Frozen):
    """Sizes of the splits of the labelled records: numbers of records, or shares below 1.

    Rules are chosen on `development` and reported on `evaluation`; worked examples come from `few_shot` alone. `exact` cuts
    at exact sizes, `stable` (shares only) makes a record's split a function of seed and id.
    """

    development: float = Field(default=0.4, gt=0)
    few_shot: float = Field(default=0.1, gt=0)
    evaluation: float = Field(default=0.5, gt=0)
    method: Literal["exact", "stable"] = "exact"
    seed: int = 0

    def sizes(self) -> dict[str, float]:
        """Name and size of every split."""
        return {"development": self.development, "few_shot": self.few_shot, "evaluation": self.evaluation}


class BenchPrices(Frozen):
    """What reading costs; what is not declared leaves the figures that need it undefined."""

    minutes_per_record: float | None = Field(default=None, ge=0)
    per_hour: float | None = Field(default=None, ge=0)
    per_million_tokens: float | None = Field(default=None, ge=0)
    per_gpu_hour: float | None = Field(default=None, ge=0)


class BenchSpec(Frozen):
    """The grid: models x prompts x shots x share of positives among the shots x rationales x repeats, at one screening stage.

    `styles` names the prompts that are not answered in the stage's usual way (`constrained`, or `free` for the prompts that
    let the model write first). Repeats differ in the examples drawn, and where the temperature is above 0 in the seed.
    """

    stage: Literal["title_abstract", "full_text"] = "title_abstract"
    models: tuple[str, ...] = Field(min_length=1)
    prompts: tuple[str, ...] = Field(min_length=1)
    shots: tuple[Annotated[int, Field(ge=0, le=64)], ...] = (0,)
    positives: tuple[Share, ...] = (0.5,)
    rationales: tuple[bool, ...] = (False,)
    repeats: int = Field(default=1, ge=1, le=100)
    seed: int = 0
    temperature: float = Field(default=0.0, ge=0, le=2)
    labels: tuple[str, str] = ("yes", "no")
    max_tokens: int | None = Field(default=None, ge=1)
    styles: dict[str, Literal["constrained", "free"]] = Field(default_factory=dict)
    refiner: str | None = None
    splits: BenchSplits = BenchSplits()
    prices: BenchPrices = BenchPrices()

    @model_validator(mode="after")
    def _each_once(self) -> "BenchSpec":
        for name in ("models", "prompts", "shots", "positives", "rationales"):
            values = getattr(self, name)
            if len(set(values)) != len(values):
                raise ValueError(f"{name} names a value twice; its cells would be run twice")
        odd = [name for name in self.styles if name not in self.prompts]
        if odd:
            raise ValueError(f"styles names '{odd[0]}', which is not among the prompts of the grid")
        if self.refiner and self.stage != "full_text":
            raise ValueError("a refiner does nothing at title_abstract; it belongs to full_text")
        return self

    def cells(self) -> "tuple[Cell, ...]":
        """Every cell once, ordered so that cells of one model stand together; without shots nothing is varied but repeats."""
        found: dict[Cell, None] = {}
        for model, prompt, shots, share, why, repeat in product(
            self.models, self.prompts, self.shots, self.positives, self.rationales, range(1, self.repeats + 1)
        ):
            cell = Cell(
                model=model,
                prompt=prompt,
                shots=shots,
                positives=share if shots else None,
                rationales=why and shots > 0,
                repeat=repeat if shots or self.temperature > 0 else 1,
                style=self.style_of(prompt),
            )
            found.setdefault(cell)
        return tuple(found)

    def style_of(self, prompt: str) -> Literal["constrained", "free"]:
        """How a prompt is answered: as declared, else free for the two that let the model write first."""
        usual: Literal["constrained", "free"] = "free" if prompt in ("unstructured", "chain_of_thought") else "constrained"
        return self.styles.get(prompt, usual)


class Cell(Frozen):
    """One configuration of the grid; `positives` is None without shots. Its `name` is that of its reader."""

    model: str
    prompt: str
    shots: int
    positives: float | None
    rationales: bool
    repeat: int
    style: Literal["constrained", "free"]

    @property
    def name(self) -> str:
        """Letters, digits, `_` and `-` only, so that it can stand in a protocol: `qwen-basic-2p50-r1`."""
        prompt = self.prompt.removesuffix(".md").replace("/", "_").replace(".", "_")
        examples = str(self.shots) if self.positives is None else f"{self.shots}p{round(100 * self.positives)}"
        return f"{self.model}-{prompt}-{examples}{'-why' if self.rationales else ''}-r{self.repeat}"
