"""The desk: a local web application where people decide what models may not."""
