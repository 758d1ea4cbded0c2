-- name: find
SELECT json_group_array(json_array(id, namespace, definition, version, hash, program, status, seq, epoch, turn_id, owner,
                                   wake_at, inbox_seq, created_at, updated_at, closed_at, "trigger", "key", parent,
                                   attributes, CAST(result AS TEXT), pins) ORDER BY id DESC)
FROM (SELECT * FROM runs WHERE TRUE /* conditions */ ORDER BY id DESC LIMIT :limit);

-- name: before
id < :before

-- name: of namespace
namespace = :namespace

-- name: of definition
definition = :definition

-- name: of parent
parent = :parent

-- name: of status
status IN (/* names */)

-- name: open
closed_at IS NULL

-- name: troubled
-- Word for word as in the index, or SQLite does not see that it applies.
(status = 'SUSPENDED' OR status = 'FAILED' OR status = 'CANCELLED' OR status = 'TIMED_OUT')

-- name: with attribute
id IN (SELECT run FROM attributes WHERE namespace = :namespace AND name = :name AND value = :value)

-- name: with attribute anywhere
EXISTS (SELECT 1 FROM attributes AS a
        WHERE a.namespace = runs.namespace AND a.name = :name AND a.value = :value AND a.run = runs.id)

-- name: walk
SELECT json_group_array(json_array(id, namespace, definition, version, hash, program, status, seq, epoch, turn_id, owner,
                                   wake_at, inbox_seq, created_at, updated_at, closed_at, "trigger", "key", parent,
                                   attributes, CAST(result AS TEXT), pins) ORDER BY id)
FROM (SELECT * FROM runs WHERE id > ?1 ORDER BY id LIMIT ?2);

-- name: orphans
SELECT json_object(
    'log', (SELECT count(*) FROM log AS x WHERE NOT EXISTS (SELECT 1 FROM runs WHERE id = x.run)),
    'snapshots', (SELECT count(*) FROM snapshots AS x WHERE NOT EXISTS (SELECT 1 FROM runs WHERE id = x.run)),
    'inbox', (SELECT count(*) FROM inbox AS x WHERE NOT EXISTS (SELECT 1 FROM runs WHERE id = x.run)),
    'outbox', (SELECT count(*) FROM outbox AS x WHERE NOT EXISTS (SELECT 1 FROM runs WHERE id = x.run)),
    'start_keys', (SELECT count(*) FROM start_keys AS x WHERE NOT EXISTS (SELECT 1 FROM runs WHERE id = x.run)),
    'attributes', (SELECT count(*) FROM attributes AS x WHERE NOT EXISTS (SELECT 1 FROM runs WHERE id = x.run)),
    'blob_refs', (SELECT count(*) FROM blob_refs AS x WHERE NOT EXISTS (SELECT 1 FROM runs WHERE id = x.run)));

-- name: attributes
SELECT attributes FROM runs WHERE id = ? AND seq = ?;

-- name: repair
UPDATE runs SET status = ?, wake_at = ?, attributes = ?, result = ?, closed_at = ? WHERE id = ?;

-- name: forget attributes
DELETE FROM attributes WHERE run = ?;

-- name: index attributes
INSERT OR IGNORE INTO attributes (namespace, name, value, run)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?);
