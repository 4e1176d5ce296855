-- The turns of the keys of fair lanes, and the keys in the order of their turns. A key is queued under every class and kind with
-- a waiting execution and under the class with the empty kind; a key without waiting executions is queued under the class ','.
CREATE TABLE turn (
    partition INTEGER NOT NULL,
    lane      TEXT    NOT NULL,
    fair_key  TEXT    NOT NULL,
    record    TEXT    NOT NULL,
    PRIMARY KEY (partition, lane, fair_key)
) STRICT, WITHOUT ROWID;
CREATE TABLE turn_queue (
    partition INTEGER NOT NULL,
    lane      TEXT    NOT NULL,
    class     TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    turn_at   INTEGER NOT NULL,
    fair_key  TEXT    NOT NULL,
    PRIMARY KEY (partition, lane, class, kind, turn_at, fair_key)
) STRICT, WITHOUT ROWID;
