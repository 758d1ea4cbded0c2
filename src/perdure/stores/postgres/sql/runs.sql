-- name: find
SELECT r.* FROM runs r
WHERE ($1::text IS NULL OR r.namespace = $1)
  AND ($2::text IS NULL OR r.definition = $2)
  AND (cardinality($3::text[]) = 0 OR r.status = ANY ($3))
  AND ($4::text IS NULL OR r.parent = $4)
  AND ($5::jsonb IS NULL OR (r.attributes <> '{}' AND r.attributes @> $5 AND NOT EXISTS (
        SELECT FROM jsonb_each($5) AS a (key, value) WHERE r.attributes -> a.key IS DISTINCT FROM a.value)))
  AND ($6::text IS NULL OR r.id < $6)
ORDER BY r.id DESC
LIMIT $7

-- name: walk
SELECT * FROM runs WHERE id > $1 ORDER BY id LIMIT $2

-- name: counts
SELECT 'events' AS place, count(*) AS orphans FROM events e WHERE NOT EXISTS (SELECT FROM runs r WHERE r.id = e.run)
UNION ALL
SELECT 'snapshots', count(*) FROM snapshots s WHERE NOT EXISTS (SELECT FROM runs r WHERE r.id = s.run)
UNION ALL
SELECT 'inbox', count(*) FROM inbox i WHERE NOT EXISTS (SELECT FROM runs r WHERE r.id = i.run)
UNION ALL
SELECT 'outbox', count(*) FROM outbox o WHERE NOT EXISTS (SELECT FROM runs r WHERE r.id = o.run AND r.namespace = o.namespace)
UNION ALL
SELECT 'blob_refs', count(*) FROM blob_refs f WHERE NOT EXISTS (SELECT FROM runs r WHERE r.id = f.run)
UNION ALL
SELECT 'blob_chunks', count(*) FROM blob_chunks c
WHERE NOT EXISTS (SELECT FROM blobs b WHERE b.namespace = c.namespace AND b.hash = c.hash)

-- name: repair
-- Unless it has moved meanwhile.
UPDATE runs SET
    status = $2, wake_at = $3, due_at = CASE WHEN owner IS NULL AND $5::bytea IS NULL THEN $3::bigint END, attributes = $4::jsonb, result = $5,
    closed_at = CASE WHEN $2 IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT') THEN coalesce($6::bigint, updated_at) END
WHERE id = $1 AND seq = $7
