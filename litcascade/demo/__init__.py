"""Data of the demo review. Its studies are invented."""
