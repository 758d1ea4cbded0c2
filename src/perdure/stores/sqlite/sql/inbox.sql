-- name: for worker
-- The inbox is small, what a worker owns may not be.
SELECT i.id, i.run, i.request_id, i.command
FROM inbox AS i CROSS JOIN runs AS r ON r.id = i.run
WHERE r.owner = ?
ORDER BY i.id;

-- name: for runs
SELECT id, run, request_id, command FROM inbox
WHERE run IN (SELECT value FROM json_each(?))
ORDER BY id;

-- name: seqs
SELECT json_group_object(id, inbox_seq) FROM runs WHERE id IN (SELECT value FROM json_each(?));
