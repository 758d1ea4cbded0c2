-- name: lease
SELECT 1 FROM workers WHERE id = ?1 AND expires_at > ?2;

-- name: renew
INSERT INTO workers (id, expires_at, renewed_at) VALUES (?1, ?2, ?3)
ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at, renewed_at = excluded.renewed_at
WHERE expires_at > excluded.renewed_at;

-- name: forget workers
DELETE FROM workers WHERE expires_at < ?;

-- name: no workers
DELETE FROM workers;

-- name: no worker
DELETE FROM workers WHERE id = ?;

-- name: dead owners
-- Jumps from owner to owner along the index, so that it costs as much as there are workers, not runs.
WITH RECURSIVE owners (owner) AS (
    SELECT min(owner) FROM runs WHERE owner IS NOT NULL
    UNION ALL
    SELECT (SELECT min(r.owner) FROM runs AS r WHERE r.owner > owners.owner AND r.owner IS NOT NULL)
    FROM owners WHERE owners.owner IS NOT NULL
)
SELECT json_group_array(owner) FROM owners
WHERE owner IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM workers AS w WHERE w.id = owners.owner AND w.expires_at > ?1);

-- name: void
UPDATE runs
SET owner = NULL, died = 1, epoch = epoch + 1,
    alive_until = (SELECT w.renewed_at FROM workers AS w WHERE w.id = runs.owner),
    wake_at = CASE WHEN closed_at IS NULL THEN min(coalesce(wake_at, ?1), ?1) END
WHERE id IN (SELECT id FROM runs WHERE owner = ?2 ORDER BY id LIMIT ?3);

-- name: void one
UPDATE runs
SET owner = NULL, died = 1, epoch = epoch + 1,
    alive_until = (SELECT w.renewed_at FROM workers AS w WHERE w.id = runs.owner),
    wake_at = CASE WHEN closed_at IS NULL THEN min(coalesce(wake_at, ?1), ?1) END
WHERE id = ?2;

-- name: void all
UPDATE runs
SET owner = NULL, died = 1, epoch = epoch + 1,
    alive_until = (SELECT w.renewed_at FROM workers AS w WHERE w.id = runs.owner),
    wake_at = CASE WHEN closed_at IS NULL THEN min(coalesce(wake_at, ?1), ?1) END
WHERE owner IS NOT NULL;

-- name: due
SELECT json_group_array(id) FROM (
    SELECT id FROM runs
    WHERE owner IS NULL AND wake_at IS NOT NULL AND wake_at <= ?1
    ORDER BY wake_at, id
    LIMIT ?2
);

-- name: due of others
-- The first few of each version that is not declined: it costs as much as there are versions with unowned runs, not as
-- there are runs.
SELECT json_group_array(id) FROM (
    SELECT due.value ->> 1 AS id
    FROM unowned_versions AS v CROSS JOIN json_each((
        SELECT json_group_array(json_array(wake_at, id)) FROM (
            SELECT wake_at, id FROM runs AS r
            WHERE r.owner IS NULL AND r.wake_at IS NOT NULL AND r.wake_at <= ?1
              AND r.namespace = v.namespace AND r.definition = v.definition AND r.version = v.version
            ORDER BY r.wake_at LIMIT ?2
        ))) AS due
    WHERE (v.namespace, v.definition, v.version)
          NOT IN (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?3))
    ORDER BY due.value ->> 0, id
    LIMIT ?2
);

-- name: owner
SELECT owner FROM runs WHERE id = ?;

-- name: take
UPDATE runs SET owner = ?1, epoch = epoch + 1 WHERE id IN (SELECT value FROM json_each(?2));

-- name: taken
SELECT json_group_array(json_array(
    json_array(r.id, r.namespace, r.definition, r.version, r.hash, r.program, r.status, r.seq, r.epoch, r.turn_id, r.owner,
               r.wake_at, r.inbox_seq, r.created_at, r.updated_at, r.closed_at, r."trigger", r."key", r.parent,
               r.attributes, CAST(r.result AS TEXT), r.pins),
    r.died, r.alive_until) ORDER BY c."key")
FROM json_each(?1) AS c CROSS JOIN runs AS r ON r.id = c.value;

-- name: release
UPDATE runs
SET owner = NULL, died = 0, alive_until = ?1,
    wake_at = CASE WHEN closed_at IS NULL THEN min(coalesce(wake_at, ?1), ?1) END
WHERE owner = ?2 AND id IN (SELECT value FROM json_each(?3));

-- name: give back
UPDATE runs
SET owner = NULL,
    wake_at = CASE WHEN closed_at IS NULL AND (died OR inbox_seq <> c.value ->> 2 OR wake_at <= ?1) THEN ?1
                   ELSE wake_at END
FROM json_each(?3) AS c
WHERE runs.id = c.value ->> 0 AND epoch = c.value ->> 1 AND owner = ?2;

-- name: release all
UPDATE runs
SET owner = NULL, died = 0, alive_until = ?1,
    wake_at = CASE WHEN closed_at IS NULL THEN min(coalesce(wake_at, ?1), ?1) END
WHERE owner = ?2;

-- name: next wake
SELECT min(wake_at) FROM runs WHERE owner IS NULL AND wake_at IS NOT NULL;

-- name: next wake of others
SELECT min((SELECT min(r.wake_at) FROM runs AS r
            WHERE r.owner IS NULL AND r.wake_at IS NOT NULL
              AND r.namespace = v.namespace AND r.definition = v.definition AND r.version = v.version))
FROM unowned_versions AS v
WHERE (v.namespace, v.definition, v.version) NOT IN (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?1));
