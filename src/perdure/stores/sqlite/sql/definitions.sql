-- name: draft
SELECT kind, draft, draft_number, drafted_at FROM definitions
WHERE namespace = ? AND id = ? AND draft IS NOT NULL;

-- name: save draft
INSERT INTO definitions (namespace, id, kind, name, draft, draft_number, drafted_at, updated_at)
VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, ?6)
ON CONFLICT (namespace, id) DO UPDATE
SET kind = excluded.kind, name = excluded.name, draft = excluded.draft, draft_number = draft_number + 1,
    drafted_at = excluded.drafted_at, updated_at = excluded.updated_at
RETURNING draft_number;

-- name: newest
SELECT namespace, id, version, hash, kind, document, note, created_at FROM versions
WHERE namespace = ? AND id = ?
ORDER BY version DESC LIMIT 1;

-- name: version
SELECT namespace, id, version, hash, kind, document, note, created_at FROM versions
WHERE namespace = ? AND id = ? AND version = ?;

-- name: versions
SELECT json_group_array(json_array(namespace, id, version, hash, kind, document, note, created_at) ORDER BY version)
FROM versions WHERE namespace = ? AND id = ?;

-- name: published
INSERT INTO definitions (namespace, id, kind, name, latest, updated_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (namespace, id) DO UPDATE
SET kind = excluded.kind, name = excluded.name, latest = excluded.latest, updated_at = excluded.updated_at;

-- name: publish
INSERT INTO versions (namespace, id, version, kind, hash, document, note, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: activate
UPDATE definitions SET active = ?1, revision = revision + 1, updated_at = ?2
WHERE namespace = ?3 AND id = ?4
RETURNING revision;

-- name: active
SELECT v.namespace, v.id, v.version, v.hash, v.kind, v.document, v.note, v.created_at, d.revision
FROM definitions AS d JOIN versions AS v ON v.namespace = d.namespace AND v.id = d.id AND v.version = d.active
WHERE d.namespace = ? AND d.id = ?;

-- name: list
SELECT json_group_array(json_array(id, kind, name, latest, active, draft IS NOT NULL, updated_at) ORDER BY id) FROM (
    SELECT * FROM definitions
    WHERE namespace = ?1 AND id > ?2 AND iif(?3 IS NULL, instr(id, ':') = 0, id < ?3)
    ORDER BY id LIMIT ?4
);
