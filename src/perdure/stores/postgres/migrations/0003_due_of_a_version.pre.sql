-- What is due of one version: a worker that cannot execute another one steps over its runs, however many there are.
CREATE INDEX runs_due_of ON runs (namespace, definition, version, due_at) WHERE due_at IS NOT NULL;

-- Jumps from version to version along that index.
CREATE VIEW unowned_versions AS
WITH RECURSIVE v (namespace, definition, version) AS (
    (SELECT r.namespace, r.definition, r.version FROM runs r WHERE r.due_at IS NOT NULL
     ORDER BY r.namespace, r.definition, r.version LIMIT 1)
    UNION ALL
    SELECT n.namespace, n.definition, n.version FROM v CROSS JOIN LATERAL (
        SELECT r.namespace, r.definition, r.version FROM runs r
        WHERE r.due_at IS NOT NULL AND (r.namespace, r.definition, r.version) > (v.namespace, v.definition, v.version)
        ORDER BY r.namespace, r.definition, r.version LIMIT 1
    ) n
)
SELECT namespace, definition, version FROM v;
