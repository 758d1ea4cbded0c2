-- Small values that the workers of a namespace share: kept answers, counters of rate limits.
CREATE TABLE cells (
    namespace   TEXT NOT NULL,
    key         TEXT NOT NULL,
    value       BLOB NOT NULL,
    version     TEXT NOT NULL,   -- another with every change
    expires_at  INTEGER,
    PRIMARY KEY (namespace, key)
) STRICT;

CREATE INDEX cells_expiring ON cells (expires_at) WHERE expires_at IS NOT NULL;
