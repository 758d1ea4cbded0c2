-- name: begin
INSERT INTO blobs (namespace, hash, size, touched_at) VALUES (?, NULL, 0, ?) RETURNING id;

-- name: add chunks
INSERT INTO chunks (id, packed, data) VALUES

-- name: touch
UPDATE blobs SET touched_at = ? WHERE id = ?;

-- name: end
UPDATE blobs SET hash = ?, size = ?, touched_at = ? WHERE id = ?;

-- name: find
SELECT id, size FROM blobs WHERE namespace = ? AND hash = ?;

-- name: chunk
SELECT packed, data FROM chunks WHERE id = ?;

-- name: refer
INSERT OR IGNORE INTO blob_refs (namespace, hash, run) VALUES (?, ?, ?);

-- name: unreferenced
-- Of the next blobs in order of their numbers: the last number seen (NULL at the end), and those that may go.
SELECT max(id), json_group_array(id) FILTER (WHERE touched_at < ?2 AND NOT EXISTS (
    SELECT 1 FROM blob_refs AS r WHERE r.namespace = b.namespace AND r.hash = b.hash))
FROM (SELECT id, namespace, hash, touched_at FROM blobs WHERE id > ?1 ORDER BY id LIMIT ?3) AS b;

-- name: delete chunks
DELETE FROM chunks WHERE id >= ? AND id < ?;

-- name: delete
DELETE FROM blobs WHERE id = ?;
