-- name: take
-- Whoever wants any message of a run must first lock the run's earliest one, so two takers never share a run and none
-- overtakes. A message that is hidden or not yet due holds back all later ones of its run.
WITH clock AS MATERIALIZED (
    SELECT coalesce($4::bigint, perdure_now()) AS now
), earliest AS MATERIALIZED (
    SELECT o.id, o.run, o.seq, o.position, o.due_at FROM outbox o
    WHERE o.due_at <= (SELECT now FROM clock)
      AND NOT EXISTS (SELECT FROM outbox e WHERE e.run = o.run AND (e.seq, e.position) < (o.seq, o.position))
    ORDER BY o.due_at LIMIT $2 FOR UPDATE OF o SKIP LOCKED
), ready AS MATERIALIZED (
    SELECT o.id, e.due_at AS since, o.run, o.seq, o.position
    FROM earliest e JOIN outbox o ON o.run = e.run
    WHERE (o.seq, o.position) < ALL (
        SELECT h.seq, h.position FROM outbox h WHERE h.run = e.run AND h.due_at > (SELECT now FROM clock))
    ORDER BY e.due_at, o.run, o.seq, o.position LIMIT $2
), taken AS (
    UPDATE outbox o SET due_at = (SELECT now FROM clock) + $3, taken_by = $1
    WHERE o.id = ANY (ARRAY(SELECT r.id FROM ready r))
    RETURNING o.*
)
SELECT t.* FROM taken t JOIN ready r ON r.id = t.id ORDER BY r.since, t.run, t.seq, t.position

-- name: done
DELETE FROM outbox WHERE id = ANY ($1::text[])

-- name: again
UPDATE outbox SET due_at = $2, error = $3, attempts = attempts + 1, taken_by = NULL WHERE id = $1
