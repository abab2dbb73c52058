"""How long a review would take on more replicas than there are here: measured figures of a small run, played through."""
