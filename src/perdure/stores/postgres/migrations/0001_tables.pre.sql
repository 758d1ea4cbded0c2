-- Every identifier sorts by bytes (COLLATE "C"), so that Python's order of ids is the server's order of locks.
-- Times are microseconds since 1970. Nothing here refers to another table by a foreign key: a key check per event
-- costs more than the event, and `perdure fsck` counts orphans instead.

-- One row per run: where it stands. Rewritten by every turn, so what changes stands in front (a rewrite that stays on
-- its page is logged as the difference only), and no column of an ordinary turn is in an index, so that the rewrite
-- stays on its page (HOT). More than half of each page is kept free for that; measured, it doubles the turns per second.
CREATE TABLE runs (
    seq         bigint NOT NULL,
    updated_at  bigint NOT NULL,
    epoch       bigint NOT NULL,
    inbox_seq   bigint NOT NULL DEFAULT 0,
    turn_id     text NOT NULL,
    status      text NOT NULL,
    wake_at     bigint,
    due_at      bigint,      -- wake_at while the run is open and nobody's, else null: so wake_at touches no index
    owner       text COLLATE "C",
    closed_at   bigint,
    result      bytea,
    claim       text,        -- which call claimed it, for a claim whose answer was lost
    died        boolean,     -- what that call would have answered …
    alive_until bigint,      -- … and when the owner before handed the run over, or renewed its lease last
    id          text COLLATE "C" NOT NULL,
    namespace   text COLLATE "C" NOT NULL,
    definition  text COLLATE "C" NOT NULL,
    version     integer NOT NULL,
    hash        text NOT NULL,
    program     text NOT NULL,
    created_at  bigint NOT NULL,
    trigger     text NOT NULL,
    key         text COLLATE "C",
    key_free    boolean NOT NULL DEFAULT false,   -- the run ended long ago: its key may be used again
    digest      text,
    parent      text COLLATE "C",
    attributes  jsonb NOT NULL DEFAULT '{}',
    CONSTRAINT runs_pk PRIMARY KEY (id)
) WITH (fillfactor = 40, autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.05);

CREATE UNIQUE INDEX runs_key ON runs (namespace, key) WHERE key IS NOT NULL AND NOT key_free;
CREATE INDEX runs_due ON runs (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX runs_owner ON runs (owner) WHERE owner IS NOT NULL;
CREATE INDEX runs_namespace ON runs (namespace, id);   -- ids grow with time
CREATE INDEX runs_parent ON runs (parent) WHERE parent IS NOT NULL;
CREATE INDEX runs_attributes ON runs USING gin (attributes jsonb_path_ops) WHERE attributes <> '{}';

-- The log: one row per turn.
CREATE TABLE events (
    seq      bigint NOT NULL,    -- of the turn's last event
    first    bigint NOT NULL,
    at       bigint NOT NULL,
    codec    integer NOT NULL,
    run      text COLLATE "C" NOT NULL,
    turn_id  text NOT NULL,
    data     bytea NOT NULL,
    refs     text,
    CONSTRAINT events_pk PRIMARY KEY (run, seq)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

CREATE TABLE snapshots (
    run     text COLLATE "C" NOT NULL,
    seq     bigint NOT NULL,
    packed  boolean NOT NULL,
    crc     bigint NOT NULL,     -- of data
    data    bytea NOT NULL,
    CONSTRAINT snapshots_pk PRIMARY KEY (run, seq)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
ALTER TABLE snapshots ALTER COLUMN data SET STORAGE EXTERNAL;

-- Commands that wait. Ids grow per run, because they are drawn while the head is locked.
CREATE TABLE inbox (
    id          bigint GENERATED ALWAYS AS IDENTITY,
    run         text COLLATE "C" NOT NULL,
    request_id  text COLLATE "C" NOT NULL,
    command     bytea NOT NULL,
    CONSTRAINT inbox_pk PRIMARY KEY (id),
    CONSTRAINT inbox_request UNIQUE (run, request_id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);

-- Messages to be handed out: per run in the order of (seq, position).
CREATE TABLE outbox (
    id         text COLLATE "C" NOT NULL,
    namespace  text COLLATE "C" NOT NULL,
    run        text COLLATE "C" NOT NULL,
    seq        bigint NOT NULL,
    position   integer NOT NULL,
    due_at     bigint NOT NULL,
    attempts   integer NOT NULL DEFAULT 0,
    taken_by   text,
    error      text,
    type       text NOT NULL,
    key        text,
    payload    bytea NOT NULL,
    CONSTRAINT outbox_pk PRIMARY KEY (id),
    CONSTRAINT outbox_order UNIQUE (run, seq, position)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
CREATE INDEX outbox_due ON outbox (due_at);

-- One lease per worker. A row outlives its lease so that a late renewal is refused; lease_until 0: ended or taken over.
CREATE TABLE workers (
    id           text COLLATE "C" NOT NULL,
    lease_until  bigint NOT NULL,
    renewed_at   bigint NOT NULL,
    CONSTRAINT workers_pk PRIMARY KEY (id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);

CREATE TABLE definitions (
    namespace    text COLLATE "C" NOT NULL,
    id           text COLLATE "C" NOT NULL,
    kind         text NOT NULL,
    name         text,
    draft        bytea,
    draft_number integer NOT NULL DEFAULT 0,
    draft_at     bigint,
    latest       integer,
    latest_hash  text,
    active       integer,
    revision     integer NOT NULL DEFAULT 0,
    updated_at   bigint NOT NULL,
    CONSTRAINT definitions_pk PRIMARY KEY (namespace, id)
) WITH (fillfactor = 70);

CREATE TABLE versions (
    namespace   text COLLATE "C" NOT NULL,
    id          text COLLATE "C" NOT NULL,
    version     integer NOT NULL,
    kind        text NOT NULL,
    hash        text NOT NULL,
    document    bytea NOT NULL,
    note        text,
    created_at  bigint NOT NULL,
    CONSTRAINT versions_pk PRIMARY KEY (namespace, id, version)
);

CREATE TABLE blobs (
    namespace   text COLLATE "C" NOT NULL,
    hash        text COLLATE "C" NOT NULL,
    size        bigint NOT NULL,
    touched_at  bigint NOT NULL,
    CONSTRAINT blobs_pk PRIMARY KEY (namespace, hash)
) WITH (fillfactor = 70);
CREATE INDEX blobs_touched ON blobs (touched_at);

CREATE TABLE blob_chunks (
    namespace  text COLLATE "C" NOT NULL,
    hash       text COLLATE "C" NOT NULL,
    position   integer NOT NULL,
    packed     boolean NOT NULL,
    data       bytea NOT NULL,
    CONSTRAINT blob_chunks_pk PRIMARY KEY (namespace, hash, position)
);
ALTER TABLE blob_chunks ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE blob_refs (
    run        text COLLATE "C" NOT NULL,
    namespace  text COLLATE "C" NOT NULL,
    hash       text COLLATE "C" NOT NULL,
    CONSTRAINT blob_refs_pk PRIMARY KEY (run, namespace, hash)
);
CREATE INDEX blob_refs_blob ON blob_refs (namespace, hash);
