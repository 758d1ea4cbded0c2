-- name: get
SELECT value, version, expires_at FROM cells
WHERE namespace = $1 AND key = $2 AND (expires_at IS NULL OR expires_at > coalesce($3::bigint, perdure_now()))

-- name: put
INSERT INTO cells (namespace, key, value, version, expires_at)
VALUES ($1, $2, $3, $4, coalesce($6::bigint, perdure_now()) + $5::bigint)
ON CONFLICT (namespace, key) DO UPDATE
SET value = excluded.value, version = excluded.version, expires_at = excluded.expires_at
RETURNING expires_at

-- name: add
INSERT INTO cells AS c (namespace, key, value, version, expires_at)
VALUES ($1, $2, $3, $4, coalesce($6::bigint, perdure_now()) + $5::bigint)
ON CONFLICT (namespace, key) DO UPDATE
SET value = excluded.value, version = excluded.version, expires_at = excluded.expires_at
WHERE c.expires_at <= coalesce($6::bigint, perdure_now())
RETURNING expires_at

-- name: replace
UPDATE cells SET value = $3, version = $4, expires_at = coalesce($6::bigint, perdure_now()) + $5::bigint
WHERE namespace = $1 AND key = $2 AND version = $7
  AND (expires_at IS NULL OR expires_at > coalesce($6::bigint, perdure_now()))
RETURNING expires_at

-- name: remove
DELETE FROM cells WHERE namespace = $1 AND key = $2

-- name: sweep
-- Whoever sweeps at the same time takes others.
DELETE FROM cells WHERE (namespace, key) IN (
    SELECT namespace, key FROM cells WHERE expires_at <= coalesce($1::bigint, perdure_now())
    ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED
)
RETURNING 1
