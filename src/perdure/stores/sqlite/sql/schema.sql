-- name: is there
SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_version';

-- name: version
SELECT max(version) FROM schema_version;

-- name: create
CREATE TABLE IF NOT EXISTS schema_version (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT;

-- name: record
INSERT INTO schema_version (version, applied_at) VALUES (?, ?);
