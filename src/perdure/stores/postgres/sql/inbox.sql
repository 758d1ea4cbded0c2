-- name: send
SELECT * FROM send_commands($1, $2, $3, $4, $5)

-- name: receive
SELECT r.id AS run, r.inbox_seq, i.id, i.request_id, i.command
FROM runs r LEFT JOIN inbox i ON i.run = r.id
WHERE r.id = ANY ($1::text[])
ORDER BY i.id

-- name: receive_all
-- Starts from what waits, which is little, and not from the runs of the worker, which may be many.
SELECT r.id AS run, r.inbox_seq, i.id, i.request_id, i.command
FROM inbox i JOIN runs r ON r.id = i.run
WHERE r.owner = $1
ORDER BY i.id
