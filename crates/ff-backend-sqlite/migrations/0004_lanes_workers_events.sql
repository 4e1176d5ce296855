-- Labels to search by, lanes, workers and events.

-- The labels of executions, in the order a search walks them, backwards. A label without a key is a state that is searched by.
CREATE TABLE tag (
    namespace  TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    value      TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    partition  INTEGER NOT NULL,
    uuid       BLOB    NOT NULL,
    PRIMARY KEY (namespace, key, value, created_at, partition, uuid)
) STRICT, WITHOUT ROWID;

-- Configured lanes, as each partition knows them.
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

-- The times between which a partition records events.
CREATE TABLE feed (
    partition INTEGER NOT NULL,
    since     INTEGER NOT NULL,
    until     INTEGER NOT NULL,
    PRIMARY KEY (partition)
) STRICT, WITHOUT ROWID;

-- Events of followed partitions, in the order they are read.
CREATE TABLE event (
    partition INTEGER NOT NULL,
    told_at   INTEGER NOT NULL,
    nth       INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    record    TEXT    NOT NULL,
    PRIMARY KEY (partition, told_at, nth)
) STRICT, WITHOUT ROWID;
