-- Schedules, by the next moment they have to be looked at.
CREATE TABLE schedule (
    namespace text COLLATE "C" NOT NULL,
    name      text COLLATE "C" NOT NULL,
    partition integer          NOT NULL,
    look_at   bigint,
    record    text COLLATE "C" NOT NULL,
    PRIMARY KEY (namespace, name)
) WITH (fillfactor = 50);

CREATE INDEX schedule_look_at ON schedule (partition, look_at, namespace, name) WHERE look_at IS NOT NULL;
