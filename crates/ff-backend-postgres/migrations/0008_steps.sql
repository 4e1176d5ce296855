-- Recorded steps of executions. The record has everything of a step but the bytes of its result.
CREATE TABLE step (
    uuid      uuid             NOT NULL,
    partition integer          NOT NULL,
    kind      text COLLATE "C" NOT NULL,
    name      text COLLATE "C" NOT NULL,
    key       text COLLATE "C" NOT NULL,
    seq       bigint           NOT NULL,
    bytes     bigint           NOT NULL,
    record    text COLLATE "C" NOT NULL,
    result    bytea,
    PRIMARY KEY (uuid, partition, kind, name, key)
);

CREATE INDEX step_in_order
    ON step (uuid, partition, seq);
