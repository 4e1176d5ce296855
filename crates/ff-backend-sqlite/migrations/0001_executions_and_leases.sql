-- Executions and leases. The record and the definition are the truth: every other column of an
-- execution but its result and last attempt follows from them.

CREATE TABLE meta (
    key   TEXT    NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Rows are large and long-lived, so they are stored in insertion order, with the key in an index of its own. No index is over a
-- column that changes from step to step.
CREATE TABLE execution (
    uuid          BLOB    NOT NULL,
    partition     INTEGER NOT NULL,
    namespace     TEXT    NOT NULL,
    lane          TEXT    NOT NULL,
    kind          TEXT    NOT NULL,
    state         TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    changed_at    INTEGER NOT NULL,
    delayed_until INTEGER,
    record        TEXT    NOT NULL,
    flow_id       BLOB,
    position      INTEGER,
    result_type   TEXT,
    result        BLOB,
    last_attempt  TEXT,
    PRIMARY KEY (uuid, partition)
) STRICT;

-- Read backwards by listings.
CREATE INDEX execution_by_namespace
    ON execution (namespace, created_at, partition, uuid);
CREATE INDEX execution_by_lane
    ON execution (lane, created_at, partition, uuid);

-- Read by a sweep of the members of a flow. An execution that is in no flow is in neither of these two.
CREATE INDEX execution_in_flow
    ON execution (flow_id, uuid) WHERE flow_id IS NOT NULL;
-- Read by a listing of the members.
CREATE INDEX execution_by_position
    ON execution (flow_id, position) WHERE flow_id IS NOT NULL;

-- The indexes over changing values are separate tables. Their rows are inserted and deleted.

-- Waiting executions, in the order a claim takes them.
CREATE TABLE ready (
    partition  INTEGER NOT NULL,
    lane       TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    priority   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    uuid       BLOB    NOT NULL,
    PRIMARY KEY (partition, lane, kind, priority DESC, created_at, uuid)
) STRICT, WITHOUT ROWID;

-- Running executions by the next moment something is due for them.
CREATE TABLE lease (
    partition   INTEGER NOT NULL,
    due_at      INTEGER NOT NULL,
    uuid        BLOB    NOT NULL,
    lane        TEXT    NOT NULL,
    acquired_at INTEGER NOT NULL,
    PRIMARY KEY (partition, due_at, uuid, lane, acquired_at)
) STRICT, WITHOUT ROWID;

-- All others by the next moment something is due for them.
CREATE TABLE due (
    partition INTEGER NOT NULL,
    due_at    INTEGER NOT NULL,
    uuid      BLOB    NOT NULL,
    PRIMARY KEY (partition, due_at, uuid)
) STRICT, WITHOUT ROWID;

-- The submission of an execution, which seldom changes. An empty content type, of a result too, is application/octet-stream.
CREATE TABLE submission (
    uuid         BLOB    NOT NULL,
    partition    INTEGER NOT NULL,
    definition   TEXT    NOT NULL,
    content_type TEXT    NOT NULL,
    bytes        BLOB    NOT NULL,
    PRIMARY KEY (uuid, partition)
) STRICT, WITHOUT ROWID;

-- Tries that ended. The one an execution finished with is in the row of the execution.
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
    definition ->> '$.priority' AS priority,
    strftime('%Y-%m-%d %H:%M:%f', created_at / 1000.0, 'unixepoch') AS created_at,
    strftime('%Y-%m-%d %H:%M:%f', (record ->> '$.started_at') / 1000.0, 'unixepoch') AS started_at,
    strftime('%Y-%m-%d %H:%M:%f', (record ->> '$.phase.at') / 1000.0, 'unixepoch') AS finished_at,
    strftime('%Y-%m-%d %H:%M:%f', delayed_until / 1000.0, 'unixepoch') AS delayed_until,
    strftime('%Y-%m-%d %H:%M:%f', (definition ->> '$.deadline_at') / 1000.0, 'unixepoch') AS deadline_at,
    record ->> '$.phase.lease.holder.worker_instance_id' AS holder,
    strftime('%Y-%m-%d %H:%M:%f', (record ->> '$.phase.lease.until') / 1000.0, 'unixepoch') AS lease_until,
    lower(
        substr(hex(flow_id), 1, 8) || '-' || substr(hex(flow_id), 9, 4) || '-' || substr(hex(flow_id), 13, 4) || '-' ||
        substr(hex(flow_id), 17, 4) || '-' || substr(hex(flow_id), 21)
    ) AS flow_id,
    record ->> '$.membership.node' AS node,
    definition,
    record
FROM execution
LEFT JOIN submission USING (uuid, partition);
