"""A benchmark of a review: frozen splits, a grid of configurations, a rule chosen among them, resampling."""
