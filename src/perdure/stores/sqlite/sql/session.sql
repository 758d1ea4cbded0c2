-- The write path, as temporary views of the writer's connection: a row inserted into one is carried out by its trigger.
--
-- One INSERT of many rows is then one group commit: one call into SQLite, so one hand-over of the interpreter lock for
-- all turns of a batch, and each row is checked by itself. A turn that is refused changes nothing; the writer notices by
-- `total_changes` and asks afterwards why.
--
-- kind 0: the run goes on with the same owner. Touches no index.
-- kind 1: owner, opening or closing changes (also used where kind 0 finds another owner).
-- kind 2: a new run. `new` is the JSON of `ports.journal.NewRun`.
--
-- One trigger each, so that a row runs only what is meant for it. And no `IN (…)` of more than two values in what runs
-- for every row: SQLite builds a table of them each time.

CREATE TEMP VIEW turn_in AS
SELECT NULL AS kind, NULL AS run, NULL AS turn_id, NULL AS epoch, NULL AS expected, NULL AS seq, NULL AS at, NULL AS data,
       NULL AS codec, NULL AS refs, NULL AS status, NULL AS owner, NULL AS wake_at, NULL AS inbox_seen, NULL AS result,
       NULL AS new;

CREATE TEMP TRIGGER turn_goes_on INSTEAD OF INSERT ON turn_in WHEN NEW.kind = 0
BEGIN
    UPDATE runs
    SET status = NEW.status, seq = NEW.seq, turn_id = NEW.turn_id, updated_at = NEW.at, wake_at = NEW.wake_at
    WHERE id = NEW.run AND seq = NEW.expected AND epoch = NEW.epoch AND owner = NEW.owner AND closed_at IS NULL;

    INSERT INTO log (run, seq, first, at, turn_id, codec, data, refs)
    SELECT NEW.run, NEW.seq, NEW.expected + 1, NEW.at, NEW.turn_id, NEW.codec, NEW.data, NEW.refs
    WHERE changes() = 1 AND NEW.seq > NEW.expected;
END;

CREATE TEMP TRIGGER turn_moves INSTEAD OF INSERT ON turn_in WHEN NEW.kind = 1
BEGIN
    UPDATE runs
    SET status = NEW.status, seq = NEW.seq, turn_id = NEW.turn_id, updated_at = NEW.at, wake_at = NEW.wake_at,
        owner = NEW.owner, died = 0, result = NEW.result, closed_at = iif(NEW.result IS NULL, NULL, NEW.at)
    WHERE id = NEW.run AND seq = NEW.expected AND epoch = NEW.epoch
      AND ((NEW.owner IS NOT NULL AND owner IS NOT NULL) OR inbox_seq = NEW.inbox_seen);

    INSERT INTO log (run, seq, first, at, turn_id, codec, data, refs)
    SELECT NEW.run, NEW.seq, NEW.expected + 1, NEW.at, NEW.turn_id, NEW.codec, NEW.data, NEW.refs
    WHERE changes() = 1 AND NEW.seq > NEW.expected;
END;

CREATE TEMP TRIGGER turn_starts INSTEAD OF INSERT ON turn_in WHEN NEW.kind = 2
BEGIN
    INSERT OR IGNORE INTO start_keys (namespace, "key", run, digest)
    SELECT NEW.new ->> 'namespace', NEW.new ->> 'key', NEW.run, NEW.new ->> 'request_digest'
    WHERE NEW.new ->> 'key' IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM runs WHERE id = NEW.run)
      AND (NEW.new ->> 'active_revision' IS NULL
           OR NEW.new ->> 'active_revision' IS (SELECT revision FROM definitions
                                                WHERE namespace = NEW.new ->> 'namespace'
                                                  AND id = NEW.new ->> 'definition'));

    INSERT INTO runs (id, namespace, definition, version, hash, program, status, seq, epoch, turn_id, owner,
                      wake_at, created_at, updated_at, closed_at, "trigger", "key", parent, result, pins)
    SELECT NEW.run, NEW.new ->> 'namespace', NEW.new ->> 'definition', NEW.new ->> 'version', NEW.new ->> 'hash',
           NEW.new ->> 'program', NEW.status, NEW.seq, NEW.epoch, NEW.turn_id, NEW.owner, NEW.wake_at,
           NEW.new ->> 'created_at', NEW.at,
           iif(NEW.result IS NULL, NULL, NEW.at),
           NEW.new ->> 'trigger', NEW.new ->> 'key', NEW.new ->> 'parent', NEW.result, NEW.new ->> 'pins'
    WHERE changes() = 1
       OR (NEW.new ->> 'key' IS NULL
           AND NOT EXISTS (SELECT 1 FROM runs WHERE id = NEW.run)
           AND (NEW.new ->> 'active_revision' IS NULL
                OR NEW.new ->> 'active_revision' IS (SELECT revision FROM definitions
                                                     WHERE namespace = NEW.new ->> 'namespace'
                                                       AND id = NEW.new ->> 'definition')));

    INSERT INTO log (run, seq, first, at, turn_id, codec, data, refs)
    SELECT NEW.run, NEW.seq, NEW.expected + 1, NEW.at, NEW.turn_id, NEW.codec, NEW.data, NEW.refs
    WHERE changes() = 1 AND NEW.seq > NEW.expected;
END;

-- A command for a run: two changes if it is accepted, none if the run is closed or unknown or the request waits already.
-- Without a namespace it comes from another run's turn.

CREATE TEMP VIEW send_in AS
SELECT NULL AS namespace, NULL AS run, NULL AS request_id, NULL AS command, NULL AS at;

CREATE TEMP TRIGGER carry_out_send INSTEAD OF INSERT ON send_in
BEGIN
    INSERT OR IGNORE INTO inbox (run, request_id, command, at)
    SELECT id, NEW.request_id, NEW.command, NEW.at
    FROM runs
    WHERE id = NEW.run AND closed_at IS NULL AND (NEW.namespace IS NULL OR namespace = NEW.namespace);

    UPDATE runs
    SET inbox_seq = inbox_seq + 1,
        wake_at = CASE WHEN owner IS NULL THEN min(coalesce(wake_at, NEW.at), NEW.at) ELSE wake_at END
    WHERE changes() = 1 AND id = NEW.run;
END;
