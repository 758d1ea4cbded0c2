-- Functions are part of the schema that old and new programs share during an upgrade: one that must change gets a new
-- name, and the old one is dropped by a later post migration.

-- The store's clock: the database's. Tests shift it by `perdure.clock_skew` (µs) or stop it at `perdure.clock_now`.
CREATE FUNCTION perdure_now() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT coalesce(
        nullif(current_setting('perdure.clock_now', true), '')::bigint,
        (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
            + coalesce(nullif(current_setting('perdure.clock_skew', true), '')::bigint, 0))
$$;

-- A turn of an existing run, and the first turn of a new one, as they come in. Rows, not columns: an array of rows is one
-- parameter, and cheaper to send and to take apart than a dozen arrays.
CREATE TYPE turn_in AS (
    run text COLLATE "C", turn_id text, epoch bigint, expected bigint, seq bigint, at bigint, data bytea, codec integer,
    refs text, status text, owner text, wake_at bigint, inbox_seen bigint, result bytea, attributes text
);
CREATE TYPE start_in AS (
    run text COLLATE "C", turn_id text, epoch bigint, seq bigint, at bigint, data bytea, codec integer,
    refs text, status text, owner text, wake_at bigint, result bytea, attributes text,
    namespace text COLLATE "C", definition text COLLATE "C", version integer, hash text, program text, created_at bigint,
    trigger text, key text COLLATE "C", digest text, parent text, revision integer
);

-- Moves many runs forward by one turn each; one call is one transaction. Answers with the turns that were refused.
-- `turns` come in order of their runs' ids: the update locks heads in that order (nested loop over unnest), so two groups
-- cannot wait for each other. `starts` come in order of (namespace, key) for the same reason.
CREATE FUNCTION commit_turns(turns turn_in[], starts start_in[], given_now bigint)
RETURNS TABLE (run text, verdict text, existing_run text, existing_digest text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    day CONSTANT bigint := 86400000000;
    moved text[];
    made text[];
    more text[];
BEGIN
    IF cardinality(turns) > 0 THEN
        WITH done AS (
            UPDATE runs r SET
                seq = t.seq, updated_at = t.at, turn_id = t.turn_id, status = t.status, wake_at = t.wake_at,
                due_at = CASE WHEN t.owner IS NULL AND t.result IS NULL THEN t.wake_at END, owner = t.owner,
                closed_at = CASE WHEN t.status IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT') THEN t.at END,
                result = t.result, attributes = coalesce(t.attributes::jsonb, r.attributes)
            FROM unnest(turns) AS t
            WHERE r.id = t.run AND r.seq = t.expected AND r.epoch = t.epoch
              AND ((t.owner IS NOT NULL AND r.owner IS NOT NULL) OR r.inbox_seq = t.inbox_seen)
            RETURNING t.run, t.turn_id, t.expected, t.seq, t.at, t.data, t.codec, t.refs
        ), logged AS (
            INSERT INTO events (run, seq, first, at, turn_id, codec, data, refs)
            SELECT d.run, d.seq, d.expected + 1, d.at, d.turn_id, d.codec, d.data, d.refs FROM done d
            WHERE d.seq > d.expected
        )
        SELECT coalesce(array_agg(d.run), '{}') INTO moved FROM done d;

        IF cardinality(moved) < cardinality(turns) THEN
            RETURN QUERY
            SELECT t.run, CASE WHEN r.seq = t.expected AND r.epoch = t.epoch THEN 'inbox moved' ELSE 'fenced' END,
                   NULL::text, NULL::text
            FROM unnest(turns) AS t
            LEFT JOIN runs r ON r.id = t.run
            WHERE t.run <> ALL (moved);
        END IF;
    END IF;

    IF cardinality(starts) > 0 THEN
        made := '{}';
        LOOP
            WITH done AS (
                INSERT INTO runs (seq, updated_at, epoch, turn_id, status, wake_at, due_at, owner, closed_at, result, id,
                                  namespace, definition, version, hash, program, created_at, trigger, key, digest,
                                  parent, attributes)
                SELECT n.seq, n.at, n.epoch, n.turn_id, n.status, n.wake_at,
                       CASE WHEN n.owner IS NULL AND n.result IS NULL THEN n.wake_at END, n.owner,
                       CASE WHEN n.status IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT') THEN n.at END, n.result,
                       n.run, n.namespace, n.definition, n.version, n.hash, n.program, n.created_at, n.trigger, n.key,
                       n.digest, n.parent, coalesce(n.attributes::jsonb, '{}')
                FROM unnest(starts) AS n
                LEFT JOIN definitions d ON d.namespace = n.namespace AND d.id = n.definition
                WHERE (n.revision IS NULL OR d.revision = n.revision) AND n.run <> ALL (made)
                ON CONFLICT DO NOTHING
                RETURNING id
            )
            SELECT coalesce(array_agg(d.id), '{}') INTO more FROM done d;
            made := made || more;
            EXIT WHEN cardinality(made) = cardinality(starts);

            -- A key is held until a day after its run has ended. A fresh snapshot: the insert has waited for whoever it
            -- met, so that row is visible now.
            UPDATE runs k SET key_free = true
            FROM unnest(starts) AS n
            WHERE n.run <> ALL (made) AND k.namespace = n.namespace AND k.key = n.key AND NOT k.key_free
              AND k.closed_at <= coalesce(given_now, perdure_now()) - day;
            EXIT WHEN NOT FOUND;
        END LOOP;

        INSERT INTO events (run, seq, first, at, turn_id, codec, data, refs)
        SELECT n.run, n.seq, 1, n.at, n.turn_id, n.codec, n.data, n.refs
        FROM unnest(starts) AS n
        WHERE n.seq > 0 AND (cardinality(made) = cardinality(starts) OR n.run = ANY (made));

        IF cardinality(made) < cardinality(starts) THEN
            RETURN QUERY
            SELECT n.run,
                   CASE WHEN k.id IS NOT NULL THEN 'key exists'
                        WHEN r.id IS NOT NULL THEN 'fenced'
                        WHEN n.revision IS NOT NULL AND d.revision IS DISTINCT FROM n.revision THEN 'stale definition'
                        ELSE 'again' END,
                   k.id, k.digest
            FROM unnest(starts) AS n
            LEFT JOIN runs k ON k.namespace = n.namespace AND k.key = n.key AND NOT k.key_free
            LEFT JOIN runs r ON r.id = n.run
            LEFT JOIN definitions d ON d.namespace = n.namespace AND d.id = n.definition
            WHERE n.run <> ALL (made);
        END IF;
    END IF;
END $$;

-- Puts commands into inboxes and makes unowned runs due. `at` counts from 1.
CREATE FUNCTION send_commands(s_namespace text[], s_run text[], s_command bytea[], s_request text[], s_now bigint)
RETURNS TABLE (at bigint, verdict text, owner text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    clock bigint := coalesce(s_now, perdure_now());
BEGIN
    -- Statement by statement: what follows must see what the heads became while we waited for their locks.
    PERFORM 1 FROM runs r WHERE r.id = ANY (s_run) ORDER BY r.id FOR NO KEY UPDATE;

    RETURN QUERY
    WITH asked AS MATERIALIZED (
        SELECT s.at, s.run, s.command, s.request_id, r.id IS NOT NULL AS known, r.closed_at IS NOT NULL AS closed, r.owner,
               row_number() OVER (PARTITION BY s.run, s.request_id ORDER BY s.at) AS repetition
        FROM unnest(s_namespace, s_run, s_command, s_request) WITH ORDINALITY AS s (namespace, run, command, request_id, at)
        LEFT JOIN runs r ON r.id = s.run AND r.namespace = s.namespace
    ), stored AS (
        INSERT INTO inbox (run, request_id, command)
        SELECT a.run, a.request_id, a.command FROM asked a WHERE a.known AND NOT a.closed AND a.repetition = 1
        ORDER BY a.at
        ON CONFLICT (run, request_id) DO NOTHING
        RETURNING run, request_id
    ), counted AS (
        SELECT s.run, count(*) AS commands FROM stored s GROUP BY s.run
    ), woken AS (
        UPDATE runs r SET
            inbox_seq = r.inbox_seq + c.commands,
            wake_at = CASE WHEN r.owner IS NULL THEN least(r.wake_at, clock) ELSE r.wake_at END,
            due_at = CASE WHEN r.owner IS NULL THEN least(r.due_at, clock) END
        FROM counted c WHERE r.id = c.run
    )
    SELECT a.at,
           CASE WHEN NOT a.known THEN 'unknown' WHEN a.closed THEN 'closed'
                WHEN a.repetition = 1 AND s.run IS NOT NULL THEN 'accepted' ELSE 'duplicate' END,
           a.owner
    FROM asked a LEFT JOIN stored s ON s.run = a.run AND s.request_id = a.request_id
    ORDER BY a.at;
END $$;

-- `commit_turns` for a group in which some turn brings more than events: s_* snapshots, c_* consumed inbox rows,
-- m_* messages, k_* blobs and p_* their pieces, b_* references to blobs, x_* sends. What belongs to a refused turn is left
-- out. Sends answer with the verdict 'sent' and, as existing_run, the owner to be told.
CREATE FUNCTION commit_full_turns(
    turns turn_in[], starts start_in[],
    s_run text[], s_seq bigint[], s_packed boolean[], s_crc bigint[], s_data bytea[],
    c_run text[], c_id bigint[],
    m_run text[], m_id text[], m_seq bigint[], m_position integer[], m_type text[], m_key text[], m_payload bytea[],
    k_run text[], k_hash text[], k_size bigint[],
    p_run text[], p_hash text[], p_position integer[], p_packed boolean[], p_data bytea[],
    b_run text[], b_hash text[],
    x_from text[], x_run text[], x_command bytea[], x_request text[],
    given_now bigint
) RETURNS TABLE (run text, verdict text, existing_run text, existing_digest text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    clock bigint := coalesce(given_now, perdure_now());
    refused text[];
    verdicts text[];
    existing_runs text[];
    existing_digests text[];
BEGIN
    IF cardinality(x_run) > 0 THEN
        -- Heads that move and heads that receive are one set, locked in one order.
        PERFORM 1 FROM runs r WHERE r.id = ANY (ARRAY(SELECT t.run FROM unnest(turns) AS t) || x_run) ORDER BY r.id FOR NO KEY UPDATE;
    END IF;

    SELECT coalesce(array_agg(c.run), '{}'), array_agg(c.verdict), array_agg(c.existing_run), array_agg(c.existing_digest)
    INTO refused, verdicts, existing_runs, existing_digests
    FROM commit_turns(turns, starts, given_now) c;

    IF cardinality(s_run) > 0 THEN
        INSERT INTO snapshots (run, seq, packed, crc, data)
        SELECT s.run, s.seq, s.packed, s.crc, s.data
        FROM unnest(s_run, s_seq, s_packed, s_crc, s_data) AS s (run, seq, packed, crc, data)
        WHERE s.run <> ALL (refused)
        ON CONFLICT (run, seq) DO UPDATE SET packed = excluded.packed, crc = excluded.crc, data = excluded.data;

        DELETE FROM snapshots o USING unnest(s_run) AS s (run)
        WHERE o.run = s.run AND s.run <> ALL (refused)
          AND o.seq < (SELECT k.seq FROM snapshots k WHERE k.run = s.run ORDER BY k.seq DESC OFFSET 1 LIMIT 1);
    END IF;

    IF cardinality(c_run) > 0 THEN
        DELETE FROM inbox i USING unnest(c_run, c_id) AS c (run, id)
        WHERE i.id = c.id AND i.run = c.run AND c.run <> ALL (refused);
    END IF;

    IF cardinality(m_run) > 0 THEN
        INSERT INTO outbox (id, namespace, run, seq, position, due_at, type, key, payload)
        SELECT m.id, r.namespace, m.run, m.seq, m.position, clock, m.type, m.key, m.payload
        FROM unnest(m_run, m_id, m_seq, m_position, m_type, m_key, m_payload)
            AS m (run, id, seq, position, type, key, payload)
        JOIN runs r ON r.id = m.run
        WHERE m.run <> ALL (refused);
    END IF;

    IF cardinality(k_run) > 0 THEN
        -- A blob that is there already is touched, at most once a minute, so that many runs may share one without
        -- waiting for each other.
        INSERT INTO blobs AS b (namespace, hash, size, touched_at)
        SELECT DISTINCT ON (r.namespace, k.hash) r.namespace, k.hash, k.size, clock
        FROM unnest(k_run, k_hash, k_size) AS k (run, hash, size) JOIN runs r ON r.id = k.run
        WHERE k.run <> ALL (refused)
        ORDER BY r.namespace, k.hash
        ON CONFLICT (namespace, hash) DO UPDATE SET touched_at = excluded.touched_at
        WHERE b.touched_at < excluded.touched_at - 60000000;

        INSERT INTO blob_chunks (namespace, hash, position, packed, data)
        SELECT r.namespace, p.hash, p.position, p.packed, p.data
        FROM unnest(p_run, p_hash, p_position, p_packed, p_data) AS p (run, hash, position, packed, data)
        JOIN runs r ON r.id = p.run
        WHERE p.run <> ALL (refused)
        ORDER BY r.namespace, p.hash, p.position
        ON CONFLICT DO NOTHING;
    END IF;

    IF cardinality(b_run) > 0 THEN
        INSERT INTO blob_refs (run, namespace, hash)
        SELECT b.run, r.namespace, b.hash FROM unnest(b_run, b_hash) AS b (run, hash) JOIN runs r ON r.id = b.run
        WHERE b.run <> ALL (refused)
        ON CONFLICT DO NOTHING;
    END IF;

    IF cardinality(x_run) > 0 THEN
        RETURN QUERY
        SELECT x.run, 'sent', s.owner, NULL::text
        FROM unnest(x_run) WITH ORDINALITY AS x (run, at)
        JOIN send_commands(
            ARRAY(SELECT CASE WHEN x.sender <> ALL (refused) THEN f.namespace END
                  FROM unnest(x_from) WITH ORDINALITY AS x (sender, at) LEFT JOIN runs f ON f.id = x.sender ORDER BY x.at),
            x_run, x_command, x_request, clock) s ON s.at = x.at
        WHERE s.verdict = 'accepted';
    END IF;

    RETURN QUERY SELECT * FROM unnest(refused, verdicts, existing_runs, existing_digests);
END $$;
