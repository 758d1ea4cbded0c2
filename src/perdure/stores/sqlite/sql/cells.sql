-- name: get
SELECT value, version, expires_at FROM cells
WHERE namespace = ?1 AND key = ?2 AND (expires_at IS NULL OR expires_at > ?3);

-- name: put
INSERT INTO cells (namespace, key, value, version, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (namespace, key) DO UPDATE
SET value = excluded.value, version = excluded.version, expires_at = excluded.expires_at;

-- name: remove
DELETE FROM cells WHERE namespace = ?1 AND key = ?2;

-- name: sweep
DELETE FROM cells WHERE rowid IN (
    SELECT rowid FROM cells WHERE expires_at IS NOT NULL AND expires_at <= ?1 ORDER BY expires_at LIMIT ?2
);
