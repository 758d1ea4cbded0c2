-- name: commit_turns
SELECT * FROM commit_turns($1, $2, $3)

-- name: commit_full_turns
SELECT * FROM commit_full_turns(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25,
    $26, $27, $28, $29, $30, $31)

-- name: commit_pinned_turns
SELECT * FROM commit_pinned_turns(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25,
    $26, $27, $28, $29, $30, $31, $32, $33, $34)

-- name: held
-- Heads that somebody else has locked.
SELECT id FROM runs WHERE id = ANY ($1::text[])
EXCEPT
SELECT id FROM (SELECT r.id FROM runs r WHERE r.id = ANY ($1::text[]) FOR NO KEY UPDATE SKIP LOCKED) AS free

-- name: heads
SELECT * FROM runs WHERE id = ANY ($1::text[])

-- name: states
-- With the newest snapshot of each that is older than asked for.
SELECT r.*, s.seq AS snapshot_seq, s.packed, s.crc, s.data AS snapshot
FROM unnest($1::text[], $2::bigint[]) AS a (run, older)
JOIN runs r ON r.id = a.run
LEFT JOIN LATERAL (
    SELECT k.seq, k.packed, k.crc, k.data FROM snapshots k
    WHERE k.run = r.id AND k.seq <= r.seq AND (a.older IS NULL OR k.seq < a.older)
    ORDER BY k.seq DESC LIMIT 1
) s ON true

-- name: rows
-- Of each run the turns after one seq up to another: what comes in after its head was read is left out.
SELECT e.run, e.seq, e.first, e.at, e.turn_id, e.codec, e.data, e.refs
FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS a (run, after, upto)
JOIN events e ON e.run = a.run AND e.seq > a.after AND e.seq <= a.upto
ORDER BY e.run, e.seq

-- name: history
SELECT seq, first, at, turn_id, codec, data, refs FROM events WHERE run = $1 AND seq > $2 ORDER BY seq LIMIT $3
