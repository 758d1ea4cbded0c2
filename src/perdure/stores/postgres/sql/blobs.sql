-- name: begin
-- A name of its own for what is being written; left behind, it is swept like any other blob.
INSERT INTO blobs (namespace, hash, size, touched_at) VALUES ($1, $2, 0, coalesce($3::bigint, perdure_now()))

-- name: chunk
-- Touches the blob, so that a slow upload is not taken for one that was left behind.
WITH touched AS (
    UPDATE blobs SET touched_at = coalesce($6::bigint, perdure_now()) WHERE namespace = $1 AND hash = $2
)
INSERT INTO blob_chunks (namespace, hash, position, packed, data) VALUES ($1, $2, $3, $4, $5)

-- name: seal
-- Gives the upload $2 its name $3; if that content is there already, the upload is dropped.
WITH touched AS (
    INSERT INTO blobs AS b (namespace, hash, size, touched_at) VALUES ($1, $3, $4, coalesce($5::bigint, perdure_now()))
    ON CONFLICT (namespace, hash) DO UPDATE SET touched_at = greatest(b.touched_at, excluded.touched_at)
    RETURNING xmax = 0 AS fresh
), moved AS (
    UPDATE blob_chunks SET hash = $3 WHERE namespace = $1 AND hash = $2 AND (SELECT fresh FROM touched)
), dropped AS (
    DELETE FROM blob_chunks WHERE namespace = $1 AND hash = $2 AND NOT (SELECT fresh FROM touched)
)
DELETE FROM blobs WHERE namespace = $1 AND hash = $2

-- name: drop
WITH emptied AS (
    DELETE FROM blob_chunks WHERE namespace = $1 AND hash = $2
)
DELETE FROM blobs WHERE namespace = $1 AND hash = $2

-- name: info
SELECT size FROM blobs WHERE namespace = $1 AND hash = $2

-- name: read
SELECT packed, data FROM blob_chunks WHERE namespace = $1 AND hash = $2 AND position = $3

-- name: fetch
-- The blobs that rows of these runs refer to.
SELECT r.id AS run, c.hash, c.packed, c.data
FROM unnest($1::text[], $2::text[]) AS a (run, hash)
JOIN runs r ON r.id = a.run
JOIN blob_chunks c ON c.namespace = r.namespace AND c.hash = a.hash
ORDER BY r.id, c.hash, c.position

-- name: refer
WITH found AS (
    UPDATE blobs SET touched_at = greatest(touched_at, coalesce($4::bigint, perdure_now())) WHERE namespace = $1 AND hash = $2
    RETURNING hash
), referred AS (
    INSERT INTO blob_refs (run, namespace, hash) SELECT $3, $1, f.hash FROM found f ON CONFLICT DO NOTHING
)
SELECT hash FROM found

-- name: sweep
-- Bounded: the caller repeats it until nothing is left.
WITH old AS MATERIALIZED (
    SELECT b.namespace, b.hash FROM blobs b
    WHERE b.touched_at < $1 AND NOT EXISTS (SELECT FROM blob_refs f WHERE f.namespace = b.namespace AND f.hash = b.hash)
    ORDER BY b.touched_at LIMIT $2 FOR UPDATE SKIP LOCKED
), emptied AS (
    DELETE FROM blob_chunks c USING old o WHERE c.namespace = o.namespace AND c.hash = o.hash
)
DELETE FROM blobs b USING old o WHERE b.namespace = o.namespace AND b.hash = o.hash
RETURNING b.hash
