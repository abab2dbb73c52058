"""Stages of a run worked by the nodes of a Ray cluster: Ray Data over the shards of a job, one worker an engine or a node."""
