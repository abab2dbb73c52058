"""A schema in the making: candidate fields from papers, proposals with their evidence, and what people make of them. Pure."""

from litcascade.stages.schema_drafting.applying import apply, undecided
from litcascade.stages.schema_drafting.candidates import Candidate
from litcascade.stages.schema_drafting.collating import Batch, Group, batches, collate
from litcascade.stages.schema_drafting.drafting import DraftAnswer, DraftStage, DraftVerdict
from litcascade.stages.schema_drafting.files import ProposalsFile, proposals_toml, read_proposals
from litcascade.stages.schema_drafting.proposals import Evidence, Invalid, Proposal, joined
from litcascade.stages.schema_drafting.proposing import BatchSubject, ProposeAnswer, ProposeStage, ProposeVerdict

__all__ = [
    "Batch",
    "BatchSubject",
    "Candidate",
    "DraftAnswer",
    "DraftStage",
    "DraftVerdict",
    "Evidence",
    "Group",
    "Invalid",
    "Proposal",
    "ProposalsFile",
    "ProposeAnswer",
    "ProposeStage",
    "ProposeVerdict",
    "apply",
    "batches",
    "collate",
    "joined",
    "proposals_toml",
    "read_proposals",
    "undecided",
]
