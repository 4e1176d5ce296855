-- Streams of attempts. An attempt has a stream from its first frame on; whether it is closed follows from the attempt.
CREATE TABLE stream (
    uuid      BLOB    NOT NULL,
    partition INTEGER NOT NULL,
    attempt   INTEGER NOT NULL,
    record    TEXT    NOT NULL,
    PRIMARY KEY (uuid, partition, attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE frame (
    uuid        BLOB    NOT NULL,
    partition   INTEGER NOT NULL,
    attempt     INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    appended_at INTEGER NOT NULL,
    channel     TEXT    NOT NULL,
    frame_type  TEXT    NOT NULL,
    bytes       BLOB    NOT NULL,
    PRIMARY KEY (uuid, partition, attempt, seq)
) STRICT, WITHOUT ROWID;
