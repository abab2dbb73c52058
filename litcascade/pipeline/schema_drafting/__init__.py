"""Schema development over a review: raw reports of a sample, proposals, frozen versions, and their comparison."""
