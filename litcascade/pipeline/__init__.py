"""Runs: the graph, the executor, imports and exports; the one floor that knows store, engines and stages."""
