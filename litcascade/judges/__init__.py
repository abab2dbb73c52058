"""Judges: pure steps that say whether an extracted item means what gold means."""

from litcascade.judges.match import JUDGES, normalised_match

__all__ = ["JUDGES", "normalised_match"]
