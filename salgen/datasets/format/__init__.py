"""The format on disk: schema, manifest, shards, checksums and PNG."""
