-- The turns of the keys of fair lanes, and the keys in the order of their turns. A key is queued under every class and kind with
-- a waiting execution and under the class with the empty kind; a key without waiting executions is queued under the class ','.
CREATE TABLE turn (
    partition integer          NOT NULL,
    lane      text COLLATE "C" NOT NULL,
    fair_key  text COLLATE "C" NOT NULL,
    record    text COLLATE "C" NOT NULL,
    PRIMARY KEY (partition, lane, fair_key)
) WITH (fillfactor = 50);
CREATE TABLE turn_queue (
    partition integer          NOT NULL,
    lane      text COLLATE "C" NOT NULL,
    class     text COLLATE "C" NOT NULL,
    kind      text COLLATE "C" NOT NULL,
    turn_at   bigint           NOT NULL,
    fair_key  text COLLATE "C" NOT NULL
) WITH (autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE UNIQUE INDEX turn_queue_order
    ON turn_queue (partition, lane, class, kind, turn_at, fair_key);
