"""Pure stages: what to ask, and how to read the answer."""

from litcascade.stages import extraction, full_text, screening  # noqa: F401  (importing registers them)
from litcascade.stages.base import STAGE_CLASSES, Stage, Subject
from litcascade.stages.policy import POLICIES, Outcome

__all__ = ["POLICIES", "STAGE_CLASSES", "Outcome", "Stage", "Subject"]
