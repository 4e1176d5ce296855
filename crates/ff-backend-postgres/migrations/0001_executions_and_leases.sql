-- Executions and leases. The record is the truth: every other column of an execution follows from it.

-- Names are compared byte by byte, whatever the database was made with, so that every store lists them in one order.

CREATE TABLE meta (
    key   text   NOT NULL PRIMARY KEY,
    value bigint NOT NULL
);

-- What is written often keeps room in its pages, and is tidied up long before a fifth of it is waste: what is finished stays,
-- so a share of the whole would soon be too much for those who look for what waits.
CREATE TABLE execution (
    uuid          uuid             NOT NULL,
    partition     integer          NOT NULL,
    namespace     text COLLATE "C" NOT NULL,
    lane          text COLLATE "C" NOT NULL,
    kind          text COLLATE "C" NOT NULL,
    state         text COLLATE "C" NOT NULL,
    priority      integer          NOT NULL,
    created_at    bigint           NOT NULL,
    started_at    bigint,
    changed_at    bigint           NOT NULL,
    finished_at   bigint,
    delayed_until bigint,
    holder        text COLLATE "C",
    acquired_at   bigint,
    lease_until   bigint,
    timeout_at    bigint,
    deadline_at   bigint,
    eligible      smallint         NOT NULL,
    due_at        bigint,
    record        text COLLATE "C" NOT NULL,
    PRIMARY KEY (uuid, partition)
) WITH (
    fillfactor = 80,
    autovacuum_vacuum_threshold = 10000,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_cost_delay = 0
);

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
    uuid         uuid             NOT NULL,
    partition    integer          NOT NULL,
    content_type text COLLATE "C" NOT NULL,
    bytes        bytea            NOT NULL,
    PRIMARY KEY (uuid, partition)
);

CREATE TABLE result (
    uuid         uuid             NOT NULL,
    partition    integer          NOT NULL,
    content_type text COLLATE "C" NOT NULL,
    bytes        bytea            NOT NULL,
    PRIMARY KEY (uuid, partition)
);

CREATE TABLE attempt (
    uuid      uuid             NOT NULL,
    partition integer          NOT NULL,
    idx       bigint           NOT NULL,
    record    text COLLATE "C" NOT NULL,
    PRIMARY KEY (uuid, partition, idx)
);

CREATE TABLE lease_event (
    uuid      uuid             NOT NULL,
    partition integer          NOT NULL,
    epoch     bigint           NOT NULL,
    record    text COLLATE "C" NOT NULL,
    PRIMARY KEY (uuid, partition, epoch)
);

CREATE TABLE idempotency (
    partition integer          NOT NULL,
    namespace text COLLATE "C" NOT NULL,
    key       text COLLATE "C" NOT NULL,
    uuid      uuid             NOT NULL,
    until     bigint           NOT NULL,
    PRIMARY KEY (partition, namespace, key)
);

-- The last moments anything was written at, so that time does not run backwards when the server's clock does. The latest of
-- them counts; there are several so that writers seldom wait for each other.
CREATE TABLE clock (
    slot integer NOT NULL PRIMARY KEY,
    at   bigint  NOT NULL
) WITH (fillfactor = 10);
INSERT INTO clock (slot, at) SELECT slot, 0 FROM generate_series(0, 15) AS slot;

-- The executions as people read them: ids as the API writes them, times as times.
CREATE VIEW executions AS
SELECT
    '{fp:' || partition || '}:' || uuid AS id,
    namespace,
    split_part(lane, '/', -1) AS lane,
    kind,
    state,
    priority,
    to_timestamp(created_at / 1000.0) AS created_at,
    to_timestamp(started_at / 1000.0) AS started_at,
    to_timestamp(finished_at / 1000.0) AS finished_at,
    to_timestamp(delayed_until / 1000.0) AS delayed_until,
    to_timestamp(deadline_at / 1000.0) AS deadline_at,
    holder,
    to_timestamp(lease_until / 1000.0) AS lease_until,
    record
FROM execution;
