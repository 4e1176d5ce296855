-- Flows. A member is an execution as before; its membership is in its record.

-- The record is the truth here as well.
CREATE TABLE flow (
    flow_id        BLOB    NOT NULL,
    partition      INTEGER NOT NULL,
    namespace      TEXT    NOT NULL,
    kind           TEXT    NOT NULL,
    state          TEXT    NOT NULL,
    nodes          INTEGER NOT NULL,
    edges          INTEGER NOT NULL,
    graph_revision INTEGER NOT NULL,
    created_at     INTEGER NOT NULL,
    started_at     INTEGER,
    ended_at       INTEGER,
    staged_until   INTEGER,
    sweep_action   TEXT,
    due_at         INTEGER,
    record         TEXT    NOT NULL,
    PRIMARY KEY (flow_id, partition)
) STRICT;

-- Read by the pump.
CREATE INDEX flow_due
    ON flow (partition, due_at, flow_id) WHERE due_at IS NOT NULL;

-- Read backwards by listings.
CREATE INDEX flow_by_namespace
    ON flow (namespace, state, created_at, flow_id);

-- An edge lives on the partition of its flow, with both its ends.
CREATE TABLE edge (
    flow_id      BLOB    NOT NULL,
    edge_id      BLOB    NOT NULL,
    upstream     BLOB    NOT NULL,
    downstream   BLOB    NOT NULL,
    passes       TEXT,
    round        INTEGER NOT NULL,
    state        TEXT    NOT NULL,
    passed_bytes INTEGER,
    PRIMARY KEY (flow_id, edge_id)
) STRICT, WITHOUT ROWID;

-- The edges out of a member and into it.
CREATE INDEX edge_out
    ON edge (upstream, edge_id);
CREATE INDEX edge_in
    ON edge (downstream, edge_id);

-- The edges into one execution, as a group.
CREATE TABLE edge_group (
    uuid       BLOB    NOT NULL,
    partition  INTEGER NOT NULL,
    flow_id    BLOB    NOT NULL,
    joined_by  TEXT    NOT NULL,
    n          INTEGER NOT NULL,
    succeeded  INTEGER NOT NULL,
    failed     INTEGER NOT NULL,
    skipped    INTEGER NOT NULL,
    state      TEXT    NOT NULL,
    fired_at   INTEGER,
    round      INTEGER NOT NULL,
    PRIMARY KEY (uuid, partition)
) STRICT, WITHOUT ROWID;

CREATE TABLE flow_event (
    flow_id BLOB    NOT NULL,
    seq     INTEGER NOT NULL,
    record  TEXT    NOT NULL,
    PRIMARY KEY (flow_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE flow_key (
    flow_id BLOB    NOT NULL,
    key     TEXT    NOT NULL,
    until   INTEGER NOT NULL,
    answer  TEXT    NOT NULL,
    PRIMARY KEY (flow_id, key)
) STRICT, WITHOUT ROWID;

-- The flows as people read them.
CREATE VIEW flows AS
SELECT
    lower(
        substr(hex(flow_id), 1, 8) || '-' || substr(hex(flow_id), 9, 4) || '-' || substr(hex(flow_id), 13, 4) || '-' ||
        substr(hex(flow_id), 17, 4) || '-' || substr(hex(flow_id), 21)
    ) AS id,
    namespace,
    kind,
    state,
    nodes,
    edges,
    strftime('%Y-%m-%d %H:%M:%f', created_at / 1000.0, 'unixepoch') AS created_at,
    strftime('%Y-%m-%d %H:%M:%f', started_at / 1000.0, 'unixepoch') AS started_at,
    strftime('%Y-%m-%d %H:%M:%f', ended_at / 1000.0, 'unixepoch') AS ended_at,
    record
FROM flow;
