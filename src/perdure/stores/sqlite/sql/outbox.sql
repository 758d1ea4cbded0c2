-- name: ready
-- In the order of commits, so that a run's earlier messages come along with its later ones.
SELECT json_group_array(n) FROM (
    SELECT o.n FROM outbox AS o
    WHERE o.due <= ?1
      AND NOT EXISTS (SELECT 1 FROM outbox AS e WHERE e.run = o.run AND e.n < o.n AND e.due > ?1)
    ORDER BY o.n
    LIMIT ?2
);

-- name: take
UPDATE outbox SET due = ?1, taken_by = ?2 WHERE n IN (SELECT value FROM json_each(?3));

-- name: taken
SELECT json_group_array(json_array(o.namespace, o.run, o.id, o.type, o.payload, o."key", o.attempts) ORDER BY o.n)
FROM json_each(?1) AS c CROSS JOIN outbox AS o ON o.n = c.value;

-- name: done
DELETE FROM outbox WHERE id IN (SELECT value FROM json_each(?));

-- name: again
UPDATE outbox SET due = ?1, attempts = attempts + 1, error = ?2, taken_by = NULL WHERE id = ?3;
