-- The live executions of singleton and debounce keys.
CREATE TABLE key_queue (
    partition  INTEGER NOT NULL,
    namespace  TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    executions TEXT    NOT NULL,
    PRIMARY KEY (partition, namespace, name)
) STRICT, WITHOUT ROWID;
