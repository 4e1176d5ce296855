-- The turns of keys of fair lanes, and the keys by their turns: those of which something of a class and kind waits, those of which
-- something of a class waits under the empty kind, and those of which nothing waits under the class ','.
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
