-- Suspensions and signals. A suspended execution stays in its table; these are beside it.

-- Whether a waitpoint is open follows from its execution.
CREATE TABLE waitpoint (
    uuid         BLOB    NOT NULL,
    partition    INTEGER NOT NULL,
    waitpoint_id BLOB    NOT NULL,
    record       TEXT    NOT NULL,
    PRIMARY KEY (uuid, partition, waitpoint_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE suspend_key (
    uuid      BLOB    NOT NULL,
    partition INTEGER NOT NULL,
    key       TEXT    NOT NULL,
    until     INTEGER NOT NULL,
    answer    TEXT    NOT NULL,
    PRIMARY KEY (uuid, partition, key)
) STRICT, WITHOUT ROWID;

-- The secrets tokens are signed under. A user that reads this table can open every waitpoint.
CREATE TABLE key_ring (
    partition INTEGER NOT NULL,
    record    TEXT    NOT NULL,
    PRIMARY KEY (partition)
) STRICT, WITHOUT ROWID;

-- The bytes come last: reading a signal without them does not touch their pages.
CREATE TABLE signal (
    uuid         BLOB    NOT NULL,
    partition    INTEGER NOT NULL,
    signal_id    BLOB    NOT NULL,
    nth          INTEGER NOT NULL,
    record       TEXT    NOT NULL,
    content_type TEXT,
    bytes        BLOB,
    PRIMARY KEY (uuid, partition, signal_id)
) STRICT, WITHOUT ROWID;

-- Read by a listing of signals.
CREATE INDEX signal_in_order
    ON signal (uuid, partition, nth);

CREATE TABLE signal_key (
    uuid         BLOB    NOT NULL,
    partition    INTEGER NOT NULL,
    waitpoint_id BLOB    NOT NULL,
    key          TEXT    NOT NULL,
    signal_id    BLOB    NOT NULL,
    until        INTEGER NOT NULL,
    PRIMARY KEY (uuid, partition, waitpoint_id, key)
) STRICT, WITHOUT ROWID;

-- One feed per partition, in the order it is read.
CREATE TABLE delivery (
    partition INTEGER NOT NULL,
    told_at   INTEGER NOT NULL,
    nth       INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    record    TEXT    NOT NULL,
    PRIMARY KEY (partition, told_at, nth)
) STRICT, WITHOUT ROWID;
