"""Work cut into shards: files that any node can work without the store, and that one process merges."""
