-- Everything a store keeps. Times are microseconds since 1970, UTC. Documents and attributes are JSON text.
--
-- Run ids are time-ordered, so tables keyed by them grow at their right end and the pages that a group commit touches are
-- few. What changes with every turn (status, seq, turn_id, updated_at) stands in no index.

CREATE TABLE runs (
    id          TEXT    NOT NULL PRIMARY KEY,
    namespace   TEXT    NOT NULL,
    definition  TEXT    NOT NULL,
    version     INTEGER NOT NULL,
    hash        TEXT    NOT NULL,
    program     TEXT    NOT NULL,
    status      TEXT    NOT NULL,
    seq         INTEGER NOT NULL,
    epoch       INTEGER NOT NULL,
    turn_id     TEXT    NOT NULL,
    owner       TEXT,
    wake_at     INTEGER,
    inbox_seq   INTEGER NOT NULL DEFAULT 0,
    died        INTEGER NOT NULL DEFAULT 0,  -- the last owner did not hand the run over
    alive_until INTEGER,                     -- when it did, or when the dead one renewed its lease last
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    closed_at   INTEGER,
    "trigger"   TEXT    NOT NULL,
    "key"       TEXT,
    parent      TEXT,
    attributes  TEXT,
    result      BLOB
) STRICT, WITHOUT ROWID;

CREATE INDEX runs_due ON runs (wake_at) WHERE owner IS NULL AND wake_at IS NOT NULL;
CREATE INDEX runs_owned ON runs (owner) WHERE owner IS NOT NULL;
CREATE INDEX runs_by_namespace ON runs (namespace, id);
CREATE INDEX runs_by_definition ON runs (namespace, definition, id);
CREATE INDEX runs_open ON runs (namespace, id) WHERE closed_at IS NULL;
-- Most runs complete; those that did not are what people look for. (Not `IN`: looked at by every turn, see session.sql.)
CREATE INDEX runs_troubled ON runs (namespace, status, id)
    WHERE status = 'SUSPENDED' OR status = 'FAILED' OR status = 'CANCELLED' OR status = 'TIMED_OUT';
CREATE INDEX runs_by_parent ON runs (parent, id) WHERE parent IS NOT NULL;

CREATE VIEW heads AS
SELECT id, namespace, definition, version, hash, program, status, seq, epoch, turn_id, owner, wake_at, inbox_seq,
       created_at, updated_at, closed_at, "trigger", "key", parent, attributes, result
FROM runs;

CREATE TABLE attributes (
    namespace  TEXT NOT NULL,
    name       TEXT NOT NULL,
    value      TEXT NOT NULL,  -- JSON with sorted keys
    run        TEXT NOT NULL,
    PRIMARY KEY (namespace, name, value, run)
) STRICT, WITHOUT ROWID;

CREATE TABLE start_keys (
    namespace  TEXT NOT NULL,
    "key"      TEXT NOT NULL,
    run        TEXT NOT NULL,
    digest     TEXT,
    PRIMARY KEY (namespace, "key")
) STRICT, WITHOUT ROWID;

-- One row per turn. Appending to a rowid table writes the turns of many runs to the same few pages; a table clustered by
-- run would rewrite one page per run.
CREATE TABLE log (
    id       INTEGER PRIMARY KEY,
    run      TEXT    NOT NULL,
    seq      INTEGER NOT NULL,
    first    INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    turn_id  TEXT    NOT NULL,
    codec    INTEGER NOT NULL,
    data     BLOB    NOT NULL,
    refs     TEXT
) STRICT;
CREATE UNIQUE INDEX log_by_run ON log (run, seq);

CREATE TABLE snapshots (
    run     TEXT    NOT NULL,
    seq     INTEGER NOT NULL,
    packed  INTEGER NOT NULL,
    crc     INTEGER NOT NULL,
    data    BLOB    NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT;

CREATE TABLE inbox (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused: a worker may remember what it has seen
    run         TEXT    NOT NULL,
    request_id  TEXT    NOT NULL,
    command     BLOB    NOT NULL,
    at          INTEGER NOT NULL,
    UNIQUE (run, request_id)
) STRICT;

CREATE TABLE outbox (
    n          INTEGER PRIMARY KEY AUTOINCREMENT,  -- the order of commits, and so the order within a run
    id         TEXT    NOT NULL UNIQUE,
    namespace  TEXT    NOT NULL,
    run        TEXT    NOT NULL,
    type       TEXT    NOT NULL,
    "key"      TEXT,
    payload    TEXT    NOT NULL,
    due        INTEGER NOT NULL,  -- in the future: taken by a worker, or waiting for its next attempt
    attempts   INTEGER NOT NULL DEFAULT 0,
    taken_by   TEXT,
    error      TEXT
) STRICT;
CREATE INDEX outbox_by_run ON outbox (run, n);

CREATE TABLE workers (
    id          TEXT    NOT NULL PRIMARY KEY,
    expires_at  INTEGER NOT NULL,
    renewed_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE definitions (
    namespace     TEXT    NOT NULL,
    id            TEXT    NOT NULL,
    kind          TEXT    NOT NULL,
    name          TEXT,
    draft         TEXT,
    draft_number  INTEGER NOT NULL DEFAULT 0,  -- how often a draft was saved; the etag
    drafted_at    INTEGER,
    latest        INTEGER,
    active        INTEGER,
    revision      INTEGER NOT NULL DEFAULT 0,  -- how often a version was activated
    updated_at    INTEGER NOT NULL,
    PRIMARY KEY (namespace, id)
) STRICT;

CREATE TABLE versions (
    namespace   TEXT    NOT NULL,
    id          TEXT    NOT NULL,
    version     INTEGER NOT NULL,
    kind        TEXT    NOT NULL,
    hash        TEXT    NOT NULL,
    document    TEXT    NOT NULL,
    note        TEXT,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (namespace, id, version),
    FOREIGN KEY (namespace, id) REFERENCES definitions (namespace, id)
) STRICT;

CREATE TABLE blobs (
    id          INTEGER PRIMARY KEY,
    namespace   TEXT    NOT NULL,
    hash        TEXT,              -- NULL while a stream is being written
    size        INTEGER NOT NULL,
    touched_at  INTEGER NOT NULL,
    UNIQUE (namespace, hash)
) STRICT;

CREATE TABLE chunks (
    id      INTEGER PRIMARY KEY,   -- blob << 24 | position
    packed  INTEGER NOT NULL,
    data    BLOB    NOT NULL
) STRICT;

CREATE TABLE blob_refs (
    namespace  TEXT NOT NULL,
    hash       TEXT NOT NULL,
    run        TEXT NOT NULL,
    PRIMARY KEY (namespace, hash, run)
) STRICT, WITHOUT ROWID;
