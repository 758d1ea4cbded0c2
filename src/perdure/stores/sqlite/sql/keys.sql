-- name: end
SELECT namespace, "key" FROM start_keys
WHERE (namespace, "key") > (?, ?)
ORDER BY namespace, "key"
LIMIT 1 OFFSET ?;

-- name: purge
DELETE FROM start_keys
WHERE (namespace, "key") > (?1, ?2) AND (namespace, "key") <= (?3, ?4)
  AND EXISTS (SELECT 1 FROM runs AS r WHERE r.id = start_keys.run AND r.closed_at <= ?5);

-- name: purge rest
DELETE FROM start_keys
WHERE (namespace, "key") > (?1, ?2)
  AND EXISTS (SELECT 1 FROM runs AS r WHERE r.id = start_keys.run AND r.closed_at <= ?3);
