-- name: save_draft
-- $6 is the number that the draft must have: null for any, 0 for none.
WITH clock AS MATERIALIZED (
    SELECT coalesce($7::bigint, perdure_now()) AS now
)
INSERT INTO definitions AS d (namespace, id, kind, name, draft, draft_number, draft_at, updated_at)
SELECT $1, $2, $3, $4, $5, 1, c.now, c.now FROM clock c
WHERE coalesce($6::integer, 0) = 0 OR EXISTS (SELECT FROM definitions e WHERE e.namespace = $1 AND e.id = $2)
ON CONFLICT (namespace, id) DO UPDATE SET
    kind = excluded.kind, name = excluded.name, draft = excluded.draft, draft_number = d.draft_number + 1,
    draft_at = excluded.draft_at, updated_at = excluded.updated_at
WHERE $6::integer IS NULL OR d.draft_number = $6
RETURNING d.draft_number, d.draft_at

-- name: draft
SELECT kind, draft, draft_number, draft_at FROM definitions WHERE namespace = $1 AND id = $2 AND draft IS NOT NULL

-- name: publish
-- The head of the definition serialises publishers; it holds the newest number and hash. $9 is the number that the newest
-- must have: null for any, 0 for none. No row: published already, or not allowed.
WITH clock AS MATERIALIZED (
    SELECT coalesce($8::bigint, perdure_now()) AS now
), head AS (
    INSERT INTO definitions AS d (namespace, id, kind, name, latest, latest_hash, updated_at)
    SELECT $1, $2, $3, $4, 1, $5, c.now FROM clock c
    WHERE coalesce($9::integer, 0) = 0 OR EXISTS (SELECT FROM definitions e WHERE e.namespace = $1 AND e.id = $2)
    ON CONFLICT (namespace, id) DO UPDATE SET
        kind = excluded.kind, name = excluded.name, latest = coalesce(d.latest, 0) + 1,
        latest_hash = excluded.latest_hash, updated_at = excluded.updated_at
    WHERE d.latest_hash IS DISTINCT FROM excluded.latest_hash AND ($9::integer IS NULL OR coalesce(d.latest, 0) = $9)
    RETURNING d.latest
)
INSERT INTO versions (namespace, id, version, kind, hash, document, note, created_at)
SELECT $1, $2, h.latest, $3, $5, $6, $7, c.now FROM head h, clock c
RETURNING *

-- name: activate
UPDATE definitions SET active = $3, revision = revision + 1, updated_at = coalesce($4::bigint, perdure_now())
WHERE namespace = $1 AND id = $2
  AND EXISTS (SELECT FROM versions v WHERE v.namespace = $1 AND v.id = $2 AND v.version = $3)
RETURNING revision

-- name: version
SELECT * FROM versions WHERE namespace = $1 AND id = $2 AND ($3::integer IS NULL OR version = $3)
ORDER BY version DESC LIMIT 1

-- name: active
SELECT v.*, d.revision FROM definitions d
JOIN versions v ON v.namespace = d.namespace AND v.id = d.id AND v.version = d.active
WHERE d.namespace = $1 AND d.id = $2

-- name: versions
SELECT * FROM versions WHERE namespace = $1 AND id = $2 ORDER BY version

-- name: list
SELECT id, kind, name, latest, active, draft IS NOT NULL AS has_draft, updated_at FROM definitions
WHERE namespace = $1 AND id > $2 AND CASE WHEN $3::text IS NULL THEN position(':' IN id) = 0 ELSE id < $3 END
ORDER BY id LIMIT $4
