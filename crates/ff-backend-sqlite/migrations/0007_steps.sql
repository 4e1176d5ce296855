-- Recorded steps of executions. The record has everything of a step but the bytes of its result.
CREATE TABLE step (
    uuid      BLOB    NOT NULL,
    partition INTEGER NOT NULL,
    kind      TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    key       TEXT    NOT NULL,
    seq       INTEGER NOT NULL,
    bytes     INTEGER NOT NULL,
    record    TEXT    NOT NULL,
    result    BLOB,
    PRIMARY KEY (uuid, partition, kind, name, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX step_in_order
    ON step (uuid, partition, seq);
