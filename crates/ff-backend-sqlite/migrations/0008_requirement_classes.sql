-- Waiting executions are also queued by their requirements on the worker. The class is empty if there are none.

CREATE TABLE ready_by_class (
    partition  INTEGER NOT NULL,
    lane       TEXT    NOT NULL,
    class      TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    priority   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    uuid       BLOB    NOT NULL,
    PRIMARY KEY (partition, lane, class, kind, priority DESC, created_at, uuid)
) STRICT, WITHOUT ROWID;
INSERT INTO ready_by_class SELECT partition, lane, '', kind, priority, created_at, uuid FROM ready;
DROP TABLE ready;
ALTER TABLE ready_by_class RENAME TO ready;
