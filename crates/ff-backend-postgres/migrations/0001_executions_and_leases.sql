-- Executions and leases. The record and the definition are the truth: every other column of an
-- execution but its result and last attempt follows from them.

-- Names are compared byte by byte, independent of the database's locale, so that every store lists them in the same order.

CREATE TABLE meta (
    key   text   NOT NULL PRIMARY KEY,
    value bigint NOT NULL
);

-- Every step of an execution updates its row. No index is over a column that changes, and pages keep free space, so
-- that the new version stays in the page of the old one and no index is written. Dead versions are vacuumed long before
-- a fifth of the table is waste: finished executions stay, so a share of the whole would soon slow down the search for
-- waiting ones.
CREATE TABLE execution (
    uuid          uuid             NOT NULL,
    partition     integer          NOT NULL,
    namespace     text COLLATE "C" NOT NULL,
    lane          text COLLATE "C" NOT NULL,
    kind          text COLLATE "C" NOT NULL,
    state         text COLLATE "C" NOT NULL,
    created_at    bigint           NOT NULL,
    changed_at    bigint           NOT NULL,
    delayed_until bigint,
    record        text COLLATE "C" NOT NULL,
    flow_id       uuid,
    position      bigint,
    result_type   text COLLATE "C",
    result        bytea,
    last_attempt  text COLLATE "C",
    PRIMARY KEY (uuid, partition)
) WITH (
    fillfactor = 17,
    autovacuum_vacuum_threshold = 10000,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_cost_delay = 0
);

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
    partition  integer          NOT NULL,
    lane       text COLLATE "C" NOT NULL,
    kind       text COLLATE "C" NOT NULL,
    priority   integer          NOT NULL,
    created_at bigint           NOT NULL,
    uuid       uuid             NOT NULL
) WITH (autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE UNIQUE INDEX ready_order
    ON ready (partition, lane, kind, priority DESC, created_at, uuid);

-- Running executions by the next moment something is due for them.
CREATE TABLE lease (
    partition   integer          NOT NULL,
    due_at      bigint           NOT NULL,
    uuid        uuid             NOT NULL,
    lane        text COLLATE "C" NOT NULL,
    acquired_at bigint           NOT NULL,
    PRIMARY KEY (partition, due_at, uuid, lane, acquired_at)
) WITH (autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- All others by the next moment something is due for them.
CREATE TABLE due (
    partition integer NOT NULL,
    due_at    bigint  NOT NULL,
    uuid      uuid    NOT NULL,
    PRIMARY KEY (partition, due_at, uuid)
) WITH (autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- The submission of an execution, which seldom changes. An empty content type, of a result too, is application/octet-stream.
CREATE TABLE submission (
    uuid         uuid             NOT NULL,
    partition    integer          NOT NULL,
    definition   text COLLATE "C" NOT NULL,
    content_type text COLLATE "C" NOT NULL,
    bytes        bytea            NOT NULL,
    PRIMARY KEY (uuid, partition)
);

-- Tries that ended. The one an execution finished with is in the row of the execution.
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

-- The latest moments written, so that time does not run backwards when the server's clock does. The highest one counts. There are
-- several rows so that writers seldom wait for each other.
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
    (definition::json ->> 'priority')::integer AS priority,
    to_timestamp(created_at / 1000.0) AS created_at,
    to_timestamp((record::json ->> 'started_at')::bigint / 1000.0) AS started_at,
    to_timestamp((record::json #>> '{phase,at}')::bigint / 1000.0) AS finished_at,
    to_timestamp(delayed_until / 1000.0) AS delayed_until,
    to_timestamp((definition::json ->> 'deadline_at')::bigint / 1000.0) AS deadline_at,
    record::json #>> '{phase,lease,holder,worker_instance_id}' AS holder,
    to_timestamp((record::json #>> '{phase,lease,until}')::bigint / 1000.0) AS lease_until,
    flow_id,
    record::json #>> '{membership,node}' AS node,
    definition,
    record
FROM execution
LEFT JOIN submission USING (uuid, partition);
