"""Harmonising over a review: labels proposed, frozen by a person, given to items; what is in doubt goes to people."""
