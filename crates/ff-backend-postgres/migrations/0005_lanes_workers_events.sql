-- What operating takes: labels to search by, lanes, workers, what happens, and forgetting what was kept for long enough.

-- The labels of executions, in the order a search walks them, backwards. Only what has labels is here.
CREATE TABLE tag (
    namespace  text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    value      text COLLATE "C" NOT NULL,
    created_at bigint           NOT NULL,
    partition  integer          NOT NULL,
    uuid       uuid             NOT NULL,
    PRIMARY KEY (namespace, key, value, created_at, partition, uuid)
);

INSERT INTO tag (namespace, key, value, created_at, partition, uuid)
SELECT namespace, label.key, label.value, created_at, partition, uuid
FROM execution CROSS JOIN LATERAL json_each_text(record::json -> 'tags') AS label
WHERE state <> 'staged';

-- Lanes that somebody configured, as each partition knows them. A lane with a limit is written with its claims.
CREATE TABLE lane (
    lane      text COLLATE "C" NOT NULL,
    partition integer          NOT NULL,
    record    text COLLATE "C" NOT NULL,
    PRIMARY KEY (lane, partition)
) WITH (fillfactor = 50);

CREATE TABLE worker (
    worker_instance_id text COLLATE "C" NOT NULL,
    partition          integer          NOT NULL,
    record             text COLLATE "C" NOT NULL,
    PRIMARY KEY (worker_instance_id)
) WITH (fillfactor = 50);

-- Since when and until when a partition tells what happens on it.
CREATE TABLE feed (
    partition integer NOT NULL,
    since     bigint  NOT NULL,
    until     bigint  NOT NULL,
    PRIMARY KEY (partition)
) WITH (fillfactor = 50);

-- What happened, where somebody follows, in the order it is read.
CREATE TABLE event (
    partition integer          NOT NULL,
    told_at   bigint           NOT NULL,
    nth       bigint           NOT NULL,
    seq       bigint           NOT NULL,
    record    text COLLATE "C" NOT NULL,
    PRIMARY KEY (partition, told_at, nth)
);

-- What has finished is due once more: to be forgotten, seven days after its end, and not while its key is remembered. A
-- member of a flow goes with its flow.
UPDATE execution
SET due_at = greatest(
    finished_at + 604800000,
    CASE
        WHEN record::json ->> 'idempotency_key' IS NULL THEN 0
        ELSE created_at + coalesce((record::json #>> '{policy,dedup_window_ms}')::bigint, 86400000)
    END
)
WHERE finished_at IS NOT NULL AND flow_id IS NULL;

UPDATE flow
SET due_at = ended_at + 604800000
WHERE ended_at IS NOT NULL AND staged_until IS NULL AND sweep_action IS NULL AND NOT EXISTS (
    SELECT 1 FROM execution WHERE execution.flow_id = flow.flow_id AND execution.finished_at IS NULL
);
