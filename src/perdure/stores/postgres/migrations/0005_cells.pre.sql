-- Small values that the workers of a namespace share: kept answers, counters of rate limits.
CREATE TABLE cells (
    namespace   text NOT NULL,
    key         text NOT NULL,
    value       bytea NOT NULL,
    version     text NOT NULL,   -- another with every change
    expires_at  bigint,
    PRIMARY KEY (namespace, key)
);

CREATE INDEX cells_expiring ON cells (expires_at) WHERE expires_at IS NOT NULL;
