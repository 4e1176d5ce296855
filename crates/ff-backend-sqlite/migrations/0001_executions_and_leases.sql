-- Executions and leases. The record is the truth: every other column of an execution follows from it.

CREATE TABLE meta (
    key   TEXT    NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Rows are large and live a while, so they are kept in the order they came, with their key beside them.
CREATE TABLE execution (
    uuid          BLOB    NOT NULL,
    partition     INTEGER NOT NULL,
    namespace     TEXT    NOT NULL,
    lane          TEXT    NOT NULL,
    kind          TEXT    NOT NULL,
    state         TEXT    NOT NULL,
    priority      INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    started_at    INTEGER,
    changed_at    INTEGER NOT NULL,
    finished_at   INTEGER,
    delayed_until INTEGER,
    holder        TEXT,
    acquired_at   INTEGER,
    lease_until   INTEGER,
    timeout_at    INTEGER,
    deadline_at   INTEGER,
    eligible      INTEGER NOT NULL,
    due_at        INTEGER,
    record        TEXT    NOT NULL,
    PRIMARY KEY (uuid, partition)
) STRICT;

-- What a claim reads. Only what waits is in these two, so a long history costs a claim nothing.
CREATE INDEX execution_waiting
    ON execution (partition, lane, priority DESC, created_at, uuid) WHERE eligible = 1;
CREATE INDEX execution_waiting_of_kind
    ON execution (partition, lane, kind, priority DESC, created_at, uuid) WHERE eligible = 1;

-- What the pump reads.
CREATE INDEX execution_due
    ON execution (partition, due_at, uuid) WHERE due_at IS NOT NULL;

-- What a listing reads, backwards.
CREATE INDEX execution_by_namespace
    ON execution (namespace, state, created_at, partition, uuid);
CREATE INDEX execution_by_lane
    ON execution (lane, state, created_at, partition, uuid);

CREATE TABLE payload (
    uuid         BLOB    NOT NULL,
    partition    INTEGER NOT NULL,
    content_type TEXT    NOT NULL,
    bytes        BLOB    NOT NULL,
    PRIMARY KEY (uuid, partition)
) STRICT, WITHOUT ROWID;

CREATE TABLE result (
    uuid         BLOB    NOT NULL,
    partition    INTEGER NOT NULL,
    content_type TEXT    NOT NULL,
    bytes        BLOB    NOT NULL,
    PRIMARY KEY (uuid, partition)
) STRICT, WITHOUT ROWID;

CREATE TABLE attempt (
    uuid      BLOB    NOT NULL,
    partition INTEGER NOT NULL,
    idx       INTEGER NOT NULL,
    record    TEXT    NOT NULL,
    PRIMARY KEY (uuid, partition, idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE lease_event (
    uuid      BLOB    NOT NULL,
    partition INTEGER NOT NULL,
    epoch     INTEGER NOT NULL,
    record    TEXT    NOT NULL,
    PRIMARY KEY (uuid, partition, epoch)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
    partition INTEGER NOT NULL,
    namespace TEXT    NOT NULL,
    key       TEXT    NOT NULL,
    uuid      BLOB    NOT NULL,
    until     INTEGER NOT NULL,
    PRIMARY KEY (partition, namespace, key)
) STRICT, WITHOUT ROWID;

-- The executions as people read them: ids as the API writes them, times as text.
CREATE VIEW executions AS
SELECT
    '{fp:' || partition || '}:' || lower(
        substr(hex(uuid), 1, 8) || '-' || substr(hex(uuid), 9, 4) || '-' || substr(hex(uuid), 13, 4) || '-' ||
        substr(hex(uuid), 17, 4) || '-' || substr(hex(uuid), 21)
    ) AS id,
    namespace,
    substr(lane, instr(lane, '/') + 1) AS lane,
    kind,
    state,
    priority,
    strftime('%Y-%m-%d %H:%M:%f', created_at / 1000.0, 'unixepoch') AS created_at,
    strftime('%Y-%m-%d %H:%M:%f', started_at / 1000.0, 'unixepoch') AS started_at,
    strftime('%Y-%m-%d %H:%M:%f', finished_at / 1000.0, 'unixepoch') AS finished_at,
    strftime('%Y-%m-%d %H:%M:%f', delayed_until / 1000.0, 'unixepoch') AS delayed_until,
    strftime('%Y-%m-%d %H:%M:%f', deadline_at / 1000.0, 'unixepoch') AS deadline_at,
    holder,
    strftime('%Y-%m-%d %H:%M:%f', lease_until / 1000.0, 'unixepoch') AS lease_until,
    record
FROM execution;
