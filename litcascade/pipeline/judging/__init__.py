"""Judges over a review's extractions: asked, held against people's labels, and reported with their own error."""
