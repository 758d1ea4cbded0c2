-- name: head
SELECT * FROM heads WHERE id = ?;

-- name: snapshots
SELECT seq, packed, crc, data FROM snapshots WHERE run = ? ORDER BY seq DESC;

-- name: rows
SELECT seq, first, at, turn_id, codec, data, refs FROM log
WHERE run = ?1 AND seq > ?2 AND seq <= coalesce(?3, 9223372036854775807)
ORDER BY seq
LIMIT ?4;
