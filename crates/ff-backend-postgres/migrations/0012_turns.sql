-- The turns of keys of fair lanes, and the keys by their turns: those of which something of a class and kind waits, those of which
-- something of a class waits under the empty kind, and those of which nothing waits under the class ','.
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
