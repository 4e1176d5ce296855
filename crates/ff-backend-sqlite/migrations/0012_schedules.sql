-- Schedules, by the next moment they have to be looked at.
CREATE TABLE schedule (
    namespace TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    partition INTEGER NOT NULL,
    look_at   INTEGER,
    record    TEXT    NOT NULL,
    PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX schedule_look_at ON schedule (partition, look_at, namespace, name) WHERE look_at IS NOT NULL;
