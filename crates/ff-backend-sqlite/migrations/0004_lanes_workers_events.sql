-- What operating takes: labels to search by, lanes, workers, what happens, and forgetting what was kept for long enough.

-- The labels of executions, in the order a search walks them, backwards. Only what has labels is here.
CREATE TABLE tag (
    namespace  TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    value      TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    partition  INTEGER NOT NULL,
    uuid       BLOB    NOT NULL,
    PRIMARY KEY (namespace, key, value, created_at, partition, uuid)
) STRICT, WITHOUT ROWID;

INSERT INTO tag (namespace, key, value, created_at, partition, uuid)
SELECT namespace, label.key, label.value, created_at, partition, uuid
FROM execution, json_each(record, '$.tags') AS label
WHERE state <> 'staged';

-- Lanes that somebody configured, as each partition knows them.
CREATE TABLE lane (
    lane      TEXT    NOT NULL,
    partition INTEGER NOT NULL,
    record    TEXT    NOT NULL,
    PRIMARY KEY (lane, partition)
) STRICT, WITHOUT ROWID;

CREATE TABLE worker (
    worker_instance_id TEXT    NOT NULL,
    partition          INTEGER NOT NULL,
    record             TEXT    NOT NULL,
    PRIMARY KEY (worker_instance_id)
) STRICT, WITHOUT ROWID;

-- Since when and until when a partition tells what happens on it.
CREATE TABLE feed (
    partition INTEGER NOT NULL,
    since     INTEGER NOT NULL,
    until     INTEGER NOT NULL,
    PRIMARY KEY (partition)
) STRICT, WITHOUT ROWID;

-- What happened, where somebody follows, in the order it is read.
CREATE TABLE event (
    partition INTEGER NOT NULL,
    told_at   INTEGER NOT NULL,
    nth       INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    record    TEXT    NOT NULL,
    PRIMARY KEY (partition, told_at, nth)
) STRICT, WITHOUT ROWID;

-- What has finished is due once more: to be forgotten, seven days after its end, and not while its key is remembered. A
-- member of a flow goes with its flow.
UPDATE execution
SET due_at = max(
    finished_at + 604800000,
    CASE
        WHEN json_extract(record, '$.idempotency_key') IS NULL THEN 0
        ELSE created_at + coalesce(json_extract(record, '$.policy.dedup_window_ms'), 86400000)
    END
)
WHERE finished_at IS NOT NULL AND flow_id IS NULL;

UPDATE flow
SET due_at = ended_at + 604800000
WHERE ended_at IS NOT NULL AND staged_until IS NULL AND sweep_action IS NULL AND NOT EXISTS (
    SELECT 1 FROM execution WHERE execution.flow_id = flow.flow_id AND execution.finished_at IS NULL
);
