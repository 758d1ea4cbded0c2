-- name: renew
INSERT INTO workers AS w (id, lease_until, renewed_at)
SELECT $1, c.now + $2, c.now FROM (SELECT coalesce($3::bigint, perdure_now()) AS now) c
ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until, renewed_at = excluded.renewed_at
WHERE w.lease_until > excluded.renewed_at
RETURNING true

-- name: claim
-- Runs of the dead first, then what is due, for a worker that has a lease. A lease that has run out is ended here, in the
-- transaction that takes its runs, so that a renewal on its way is refused. Owners are found by skipping along the index,
-- so that a run whose owner has no lease at all is found too. Nobody waits for a locked run: whoever holds it is about to
-- move it. A closed run (somebody had acquired it) needs no new owner. Arrays, not joins: the planner cannot know how few
-- there are and would read the whole table.
WITH RECURSIVE clock AS MATERIALIZED (
    SELECT coalesce($3::bigint, perdure_now()) AS now
), me AS MATERIALIZED (
    SELECT FROM workers w WHERE w.id = $1 AND w.lease_until > (SELECT now FROM clock)
), owners (id) AS (
    (SELECT r.owner FROM runs r WHERE r.owner IS NOT NULL AND EXISTS (SELECT FROM me) ORDER BY r.owner LIMIT 1)
    UNION ALL
    SELECT (SELECT r.owner FROM runs r WHERE r.owner > o.id AND r.owner IS NOT NULL ORDER BY r.owner LIMIT 1)
    FROM owners o WHERE o.id IS NOT NULL
), ended AS (
    UPDATE workers w SET lease_until = 0
    WHERE w.id IN (SELECT o.id FROM owners o) AND w.lease_until > 0 AND w.lease_until <= (SELECT now FROM clock)
    RETURNING w.id
), dead AS MATERIALIZED (
    SELECT e.id FROM ended e
    UNION ALL
    SELECT o.id FROM owners o LEFT JOIN workers w ON w.id = o.id WHERE o.id IS NOT NULL AND coalesce(w.lease_until, 0) = 0
), orphaned AS MATERIALIZED (
    SELECT r.id, r.closed_at IS NOT NULL AS closed FROM runs r
    WHERE r.owner = ANY (ARRAY(SELECT d.id FROM dead d)) LIMIT $2 FOR UPDATE SKIP LOCKED
), due AS MATERIALIZED (
    SELECT r.id FROM runs r WHERE r.due_at <= (SELECT now FROM clock) AND EXISTS (SELECT FROM me)
    ORDER BY r.due_at LIMIT greatest($2 - (SELECT count(*) FROM orphaned), 0) FOR UPDATE SKIP LOCKED
), freed AS (
    UPDATE runs r SET owner = NULL, epoch = r.epoch + 1
    WHERE r.id = ANY (ARRAY(SELECT o.id FROM orphaned o WHERE o.closed))
), taken AS (
    UPDATE runs r SET owner = $1, epoch = r.epoch + 1, due_at = NULL, claim = $4,
        died = r.owner IS NOT NULL OR r.claim IS NOT DISTINCT FROM 'untold',
        alive_until = CASE WHEN r.owner IS NULL THEN r.alive_until
                           ELSE (SELECT w.renewed_at FROM workers w WHERE w.id = r.owner) END
    WHERE r.id = ANY (ARRAY(SELECT o.id FROM orphaned o WHERE NOT o.closed UNION ALL SELECT d.id FROM due d))
    RETURNING r.*
)
SELECT * FROM taken ORDER BY wake_at NULLS FIRST, id

-- name: claim_others
-- The same for a worker that declines some versions ($5, $6, $7). Of what is due it looks at the first few of each other
-- version: that costs as much as there are versions with unowned runs, not as there are runs. The dead's runs of declined
-- versions are set free for others, their death to be told yet ('untold').
WITH RECURSIVE clock AS MATERIALIZED (
    SELECT coalesce($3::bigint, perdure_now()) AS now
), me AS MATERIALIZED (
    SELECT FROM workers w WHERE w.id = $1 AND w.lease_until > (SELECT now FROM clock)
), owners (id) AS (
    (SELECT r.owner FROM runs r WHERE r.owner IS NOT NULL AND EXISTS (SELECT FROM me) ORDER BY r.owner LIMIT 1)
    UNION ALL
    SELECT (SELECT r.owner FROM runs r WHERE r.owner > o.id AND r.owner IS NOT NULL ORDER BY r.owner LIMIT 1)
    FROM owners o WHERE o.id IS NOT NULL
), ended AS (
    UPDATE workers w SET lease_until = 0
    WHERE w.id IN (SELECT o.id FROM owners o) AND w.lease_until > 0 AND w.lease_until <= (SELECT now FROM clock)
    RETURNING w.id
), dead AS MATERIALIZED (
    SELECT e.id FROM ended e
    UNION ALL
    SELECT o.id FROM owners o LEFT JOIN workers w ON w.id = o.id WHERE o.id IS NOT NULL AND coalesce(w.lease_until, 0) = 0
), declined AS MATERIALIZED (
    SELECT * FROM unnest($5::text[], $6::text[], $7::integer[]) AS d (namespace, definition, version)
), orphaned AS MATERIALIZED (
    SELECT r.id, r.closed_at IS NULL AND (r.namespace, r.definition, r.version) NOT IN (SELECT * FROM declined) AS mine
    FROM runs r
    WHERE r.owner = ANY (ARRAY(SELECT d.id FROM dead d)) LIMIT $2 FOR UPDATE SKIP LOCKED
), first AS MATERIALIZED (
    SELECT f.id FROM unowned_versions v CROSS JOIN LATERAL (
        SELECT r.id, r.due_at FROM runs r
        WHERE r.namespace = v.namespace AND r.definition = v.definition AND r.version = v.version
          AND r.due_at <= (SELECT now FROM clock)
        ORDER BY r.due_at LIMIT $2
    ) f
    WHERE EXISTS (SELECT FROM me) AND (v.namespace, v.definition, v.version) NOT IN (SELECT * FROM declined)
    ORDER BY f.due_at LIMIT greatest($2 - (SELECT count(*) FROM orphaned o WHERE o.mine), 0)
), due AS MATERIALIZED (
    SELECT r.id FROM runs r
    WHERE r.id = ANY (ARRAY(SELECT f.id FROM first f)) AND r.due_at <= (SELECT now FROM clock) FOR UPDATE SKIP LOCKED
), freed AS (
    UPDATE runs r SET
        owner = NULL,
        epoch = r.epoch + 1,
        claim = CASE WHEN r.closed_at IS NULL THEN 'untold' END,
        alive_until = (SELECT w.renewed_at FROM workers w WHERE w.id = r.owner),
        wake_at = CASE WHEN r.closed_at IS NULL THEN least(r.wake_at, (SELECT now FROM clock)) END,
        due_at = CASE WHEN r.closed_at IS NULL THEN least(r.wake_at, (SELECT now FROM clock)) END
    WHERE r.id = ANY (ARRAY(SELECT o.id FROM orphaned o WHERE NOT o.mine))
), taken AS (
    UPDATE runs r SET owner = $1, epoch = r.epoch + 1, due_at = NULL, claim = $4,
        died = r.owner IS NOT NULL OR r.claim IS NOT DISTINCT FROM 'untold',
        alive_until = CASE WHEN r.owner IS NULL THEN r.alive_until
                           ELSE (SELECT w.renewed_at FROM workers w WHERE w.id = r.owner) END
    WHERE r.id = ANY (ARRAY(SELECT o.id FROM orphaned o WHERE o.mine UNION ALL SELECT d.id FROM due d))
    RETURNING r.*
)
SELECT * FROM taken ORDER BY wake_at NULLS FIRST, id

-- name: claimed
-- What earlier calls claimed whose answers were lost.
SELECT * FROM runs WHERE owner = $1 AND claim = ANY ($2::text[]) ORDER BY wake_at NULLS FIRST, id

-- name: acquire
-- `seen` is the owner before we waited for the lock: one that changed meanwhile belongs to somebody whose lease this
-- statement may not see yet, so the answer is no. $5: our own earlier calls for this run whose answers were lost.
WITH clock AS MATERIALIZED (
    SELECT coalesce($3::bigint, perdure_now()) AS now
), me AS MATERIALIZED (
    SELECT FROM workers w WHERE w.id = $1 AND w.lease_until > (SELECT now FROM clock)
), seen AS MATERIALIZED (
    SELECT r.owner FROM runs r WHERE r.id = $2
), locked AS MATERIALIZED (
    SELECT r.id, r.owner, r.claim, r.died, r.alive_until FROM runs r
    WHERE r.id = $2 AND EXISTS (SELECT FROM me) FOR UPDATE
), ended AS (
    UPDATE workers w SET lease_until = 0
    FROM locked l WHERE w.id = l.owner AND w.lease_until > 0 AND w.lease_until <= (SELECT now FROM clock)
    RETURNING w.id
), free AS MATERIALIZED (
    SELECT l.id, CASE WHEN l.owner = $1 THEN l.died
                      ELSE l.owner IS NOT NULL OR l.claim IS NOT DISTINCT FROM 'untold' END AS died,
           CASE WHEN l.owner IS NULL OR l.owner = $1 THEN l.alive_until ELSE w.renewed_at END AS alive_until
    FROM locked l LEFT JOIN seen s ON s.owner = l.owner LEFT JOIN workers w ON w.id = s.owner
    WHERE l.owner IS NULL
       OR EXISTS (SELECT FROM ended)
       OR (s.owner IS NOT NULL AND coalesce(w.lease_until, 0) = 0)
       OR (l.owner = $1 AND l.claim = ANY ($5::text[]))
)
UPDATE runs r SET
    owner = $1, epoch = r.epoch + 1, due_at = NULL, claim = $4, died = f.died, alive_until = f.alive_until
FROM free f WHERE r.id = f.id
RETURNING r.*

-- name: release
-- A closed run has nothing to wake for.
WITH clock AS MATERIALIZED (
    SELECT coalesce($3::bigint, perdure_now()) AS now
), mine AS MATERIALIZED (
    SELECT r.id FROM runs r WHERE r.id = ANY ($2::text[]) AND r.owner = $1 ORDER BY r.id FOR UPDATE
)
UPDATE runs r SET
    owner = NULL,
    alive_until = c.now,
    wake_at = CASE WHEN r.closed_at IS NULL THEN least(r.wake_at, c.now) END,
    due_at = CASE WHEN r.closed_at IS NULL THEN least(r.wake_at, c.now) END
FROM clock c WHERE r.id = ANY (ARRAY(SELECT m.id FROM mine m))
RETURNING r.id

-- name: give_back
-- $2, $3, $4: the runs, their epochs, and the `inbox_seq` that the claim had told of. The array is there for the planner.
WITH clock AS MATERIALIZED (
    SELECT coalesce($5::bigint, perdure_now()) AS now
), mine AS MATERIALIZED (
    SELECT r.id, CASE WHEN r.closed_at IS NULL AND (r.died OR r.inbox_seq <> c.inbox_seq OR r.wake_at <= t.now) THEN t.now
                      ELSE r.wake_at END AS wake_at
    FROM clock t CROSS JOIN unnest($2::text[], $3::bigint[], $4::bigint[]) AS c (run, epoch, inbox_seq)
    JOIN runs r ON r.id = c.run AND r.id = ANY ($2::text[])
    WHERE r.epoch = c.epoch AND r.owner = $1 ORDER BY r.id FOR UPDATE OF r
)
UPDATE runs r SET
    owner = NULL, claim = CASE WHEN r.died THEN 'untold' END, wake_at = m.wake_at,
    due_at = CASE WHEN r.closed_at IS NULL THEN m.wake_at END
FROM mine m WHERE r.id = m.id AND r.id = ANY (ARRAY(SELECT m.id FROM mine m))
RETURNING r.id

-- name: owned
SELECT id FROM runs WHERE owner = $1 LIMIT $2

-- name: end_lease
DELETE FROM workers WHERE id = $1

-- name: forget_workers
-- A worker's row is kept for a week after its last renewal, to refuse late ones.
DELETE FROM workers w
WHERE w.renewed_at < coalesce($1::bigint, perdure_now()) - 604800000000
  AND w.lease_until <= coalesce($1::bigint, perdure_now())
  AND NOT EXISTS (SELECT FROM runs r WHERE r.owner = w.id)

-- name: next_wake
SELECT due_at FROM runs WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1

-- name: next_wake_of_others
SELECT min(f.due_at) FROM unowned_versions v CROSS JOIN LATERAL (
    SELECT r.due_at FROM runs r
    WHERE r.namespace = v.namespace AND r.definition = v.definition AND r.version = v.version AND r.due_at IS NOT NULL
    ORDER BY r.due_at LIMIT 1
) f
WHERE (v.namespace, v.definition, v.version)
      NOT IN (SELECT * FROM unnest($1::text[], $2::text[], $3::integer[]))

-- name: now
SELECT perdure_now()
