-- name: carry out
INSERT INTO turn_in VALUES

-- name: turn of log
SELECT turn_id, id FROM log WHERE run = ? AND seq = ?;

-- name: turn of head
SELECT turn_id, epoch, seq FROM runs WHERE id = ?;

-- name: last row
SELECT max(id) FROM log;

-- name: guards
SELECT epoch, seq, inbox_seq, owner FROM runs WHERE id = ?;

-- name: key
SELECT k.run, k.digest, r.closed_at
FROM start_keys AS k LEFT JOIN runs AS r ON r.id = k.run
WHERE k.namespace = ? AND k."key" = ?;

-- name: free key
DELETE FROM start_keys WHERE namespace = ? AND "key" = ?;

-- name: send
INSERT INTO send_in VALUES

-- name: owners
SELECT json_group_array(DISTINCT coalesce(owner, '')) FROM runs
WHERE id IN (SELECT value FROM json_each(?)) AND closed_at IS NULL;

-- name: state
SELECT namespace, closed_at IS NOT NULL FROM runs WHERE id = ?;

-- name: consume
DELETE FROM inbox
WHERE id IN (SELECT i.id FROM json_each(?) AS c CROSS JOIN inbox AS i ON i.id = c.value ->> 1 AND i.run = c.value ->> 0);

-- name: namespaces
SELECT json_group_object(id, namespace) FROM runs WHERE id IN (SELECT value FROM json_each(?));

-- name: publish
INSERT INTO outbox (id, namespace, run, type, "key", payload, due) VALUES

-- name: keep snapshots
INSERT OR REPLACE INTO snapshots (run, seq, packed, crc, data) VALUES

-- name: drop snapshots
DELETE FROM snapshots
WHERE run IN (SELECT value FROM json_each(?))
  AND seq < (SELECT s.seq FROM snapshots AS s WHERE s.run = snapshots.run ORDER BY s.seq DESC LIMIT 1 OFFSET 1);

-- name: attributes of
SELECT json_group_array(json_array(id, namespace, attributes)) FROM runs WHERE id IN (SELECT value FROM json_each(?));

-- name: forget attribute
DELETE FROM attributes
WHERE (namespace, name, value, run)
   IN (SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?));

-- name: set attributes
UPDATE runs SET attributes = c.value ->> 1 FROM json_each(?) AS c WHERE runs.id = c.value ->> 0;

-- name: index attributes
INSERT OR IGNORE INTO attributes (namespace, name, value, run)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?);

-- name: known blobs
SELECT (SELECT coalesce(max(id), 0) FROM blobs), json_group_array(json_array(b.namespace, b.hash))
FROM json_each(?) AS c CROSS JOIN blobs AS b ON b.namespace = c.value ->> 0 AND b.hash = c.value ->> 1;

-- name: add blobs
INSERT INTO blobs (id, namespace, hash, size, touched_at) VALUES

-- name: add chunks
INSERT INTO chunks (id, packed, data) VALUES

-- name: refer
INSERT OR IGNORE INTO blob_refs (namespace, hash, run)
SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?);
