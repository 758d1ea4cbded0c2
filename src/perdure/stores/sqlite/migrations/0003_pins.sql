-- Which versions of stored parts a run keeps, as a JSON object; NULL: its document uses none, or it is older than parts.
ALTER TABLE runs ADD COLUMN pins TEXT;

DROP VIEW heads;
CREATE VIEW heads AS
SELECT id, namespace, definition, version, hash, program, status, seq, epoch, turn_id, owner, wake_at, inbox_seq,
       created_at, updated_at, closed_at, "trigger", "key", parent, attributes, result, pins
FROM runs;
