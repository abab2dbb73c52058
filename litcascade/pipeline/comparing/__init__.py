"""Two or more runs side by side: what changed in the protocol, which records flipped, paired tests, agreement."""
