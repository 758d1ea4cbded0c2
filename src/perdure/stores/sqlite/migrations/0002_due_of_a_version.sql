-- What is due of one version: a worker that cannot execute another one steps over its runs, however many there are.
CREATE INDEX runs_due_of ON runs (namespace, definition, version, wake_at) WHERE owner IS NULL AND wake_at IS NOT NULL;

-- Jumps from version to version along that index; each is shown by its first run. For a comparison of rows SQLite enters
-- an index only by values that are no columns (hence the +), and at the first row that is equal in what is compared
-- (hence a wake time after all others, or it would read the runs that are to be stepped over).
CREATE VIEW unowned_versions AS
WITH RECURSIVE shown (id) AS (
    SELECT (SELECT id FROM runs WHERE owner IS NULL AND wake_at IS NOT NULL
            ORDER BY namespace, definition, version LIMIT 1)
    UNION ALL
    SELECT (SELECT r.id FROM runs AS r
            WHERE r.owner IS NULL AND r.wake_at IS NOT NULL
              AND (r.namespace, r.definition, r.version, r.wake_at)
                  > (+s.namespace, +s.definition, +s.version, 9223372036854775807)
            ORDER BY r.namespace, r.definition, r.version LIMIT 1)
    FROM shown CROSS JOIN runs AS s ON s.id = shown.id
)
SELECT v.namespace, v.definition, v.version FROM shown CROSS JOIN runs AS v ON v.id = shown.id;
