-- Flows. A member is an execution as before; its membership is in its record.

-- The record is the truth here as well. It is written with every step of a member, so its pages keep free space.
CREATE TABLE flow (
    flow_id        uuid             NOT NULL,
    partition      integer          NOT NULL,
    namespace      text COLLATE "C" NOT NULL,
    kind           text COLLATE "C" NOT NULL,
    state          text COLLATE "C" NOT NULL,
    nodes          integer          NOT NULL,
    edges          integer          NOT NULL,
    graph_revision bigint           NOT NULL,
    created_at     bigint           NOT NULL,
    started_at     bigint,
    ended_at       bigint,
    staged_until   bigint,
    sweep_action   text COLLATE "C",
    due_at         bigint,
    record         text COLLATE "C" NOT NULL,
    PRIMARY KEY (flow_id, partition)
) WITH (
    fillfactor = 50,
    autovacuum_vacuum_threshold = 10000,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_cost_delay = 0
);

-- Read by the pump.
CREATE INDEX flow_due
    ON flow (partition, due_at, flow_id) WHERE due_at IS NOT NULL;

-- Read backwards by listings.
CREATE INDEX flow_by_namespace
    ON flow (namespace, state, created_at, flow_id);

-- An edge lives on the partition of its flow, with both its ends. It is written once more, when it is settled.
CREATE TABLE edge (
    flow_id      uuid             NOT NULL,
    edge_id      uuid             NOT NULL,
    upstream     uuid             NOT NULL,
    downstream   uuid             NOT NULL,
    passes       text COLLATE "C",
    round        bigint           NOT NULL,
    state        text COLLATE "C" NOT NULL,
    passed_bytes bigint,
    PRIMARY KEY (flow_id, edge_id)
) WITH (fillfactor = 80);

-- The edges out of a member and into it.
CREATE INDEX edge_out
    ON edge (upstream, edge_id);
CREATE INDEX edge_in
    ON edge (downstream, edge_id);

-- The edges into one execution, as a group. It is written whenever one of them is settled.
CREATE TABLE edge_group (
    uuid      uuid             NOT NULL,
    partition integer          NOT NULL,
    flow_id   uuid             NOT NULL,
    joined_by text COLLATE "C" NOT NULL,
    n         bigint           NOT NULL,
    succeeded bigint           NOT NULL,
    failed    bigint           NOT NULL,
    skipped   bigint           NOT NULL,
    state     text COLLATE "C" NOT NULL,
    fired_at  bigint,
    round     bigint           NOT NULL,
    PRIMARY KEY (uuid, partition)
) WITH (
    fillfactor = 50,
    autovacuum_vacuum_threshold = 10000,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_cost_delay = 0
);

CREATE TABLE flow_event (
    flow_id uuid             NOT NULL,
    seq     bigint           NOT NULL,
    record  text COLLATE "C" NOT NULL,
    PRIMARY KEY (flow_id, seq)
);

CREATE TABLE flow_key (
    flow_id uuid             NOT NULL,
    key     text COLLATE "C" NOT NULL,
    until   bigint           NOT NULL,
    answer  text COLLATE "C" NOT NULL,
    PRIMARY KEY (flow_id, key)
);

-- Ends that could not be propagated to all dependents in the transaction that wrote them. Each is stamped in the transaction that
-- notifies the last dependent.
CREATE TABLE ff_completion_event (
    event_id         bigserial        PRIMARY KEY,
    uuid             uuid             NOT NULL,
    partition        integer          NOT NULL,
    flow_id          uuid             NOT NULL,
    outcome          text COLLATE "C" NOT NULL,
    created_at_ms    bigint           NOT NULL,
    dispatched_at_ms bigint
);

-- The events that are not dispatched yet.
CREATE INDEX ff_completion_event_undispatched
    ON ff_completion_event (uuid, partition) WHERE dispatched_at_ms IS NULL;

-- Every user that may insert events needs their sequence.
GRANT USAGE ON SEQUENCE ff_completion_event_event_id_seq TO PUBLIC;

-- The flows as people read them.
CREATE VIEW flows AS
SELECT
    flow_id AS id,
    namespace,
    kind,
    state,
    nodes,
    edges,
    to_timestamp(created_at / 1000.0) AS created_at,
    to_timestamp(started_at / 1000.0) AS started_at,
    to_timestamp(ended_at / 1000.0) AS ended_at,
    record
FROM flow;

-- The edges as people read them, by the names of the nodes they lead from and to.
CREATE VIEW edges AS
SELECT
    edge.flow_id,
    upstream.record::json -> 'membership' ->> 'node' AS upstream,
    downstream.record::json -> 'membership' ->> 'node' AS downstream,
    edge.state,
    edge.passes,
    edge.passed_bytes
FROM edge
JOIN execution AS upstream ON upstream.uuid = edge.upstream AND upstream.flow_id = edge.flow_id
JOIN execution AS downstream ON downstream.uuid = edge.downstream AND downstream.flow_id = edge.flow_id;
