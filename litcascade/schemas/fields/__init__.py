"""Extraction fields from one source: a declaration gives the JSON schema, the prompt's field guide, the check and the scoring."""

from litcascade.schemas.fields.found import FieldFound, RowEvidence, Supported
from litcascade.schemas.fields.guide import guide
from litcascade.schemas.fields.models import fields_from_model, model_from_fields
from litcascade.schemas.fields.same import SameText, same_number, same_value
from litcascade.schemas.fields.schemas import example_schemas, load_schema, parse_schema, schema_hash
from litcascade.schemas.fields.shape import answer_tokens, json_schema, value_schema
from litcascade.schemas.fields.spec import (
    LISTED,
    NOT_REPORTED,
    NOTES_LIMIT,
    QUOTE_LIMIT,
    RAW_LIMIT,
    TEXT_LIMIT,
    FieldSpec,
    Kind,
    Same,
    folded,
)
from litcascade.schemas.fields.values import check_cells, check_value, is_nothing, mapped, nothing_of, value_type

__all__ = [
    "LISTED",
    "NOTES_LIMIT",
    "NOT_REPORTED",
    "QUOTE_LIMIT",
    "RAW_LIMIT",
    "TEXT_LIMIT",
    "FieldFound",
    "FieldSpec",
    "Kind",
    "RowEvidence",
    "Same",
    "SameText",
    "Supported",
    "answer_tokens",
    "check_cells",
    "check_value",
    "example_schemas",
    "fields_from_model",
    "folded",
    "guide",
    "is_nothing",
    "json_schema",
    "load_schema",
    "mapped",
    "model_from_fields",
    "nothing_of",
    "parse_schema",
    "same_number",
    "same_value",
    "schema_hash",
    "value_schema",
    "value_type",
]
