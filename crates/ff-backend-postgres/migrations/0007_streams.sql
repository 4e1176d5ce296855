-- Streams of attempts. An attempt has a stream from its first frame on; whether it is closed follows from the attempt.
CREATE TABLE stream (
    uuid      uuid             NOT NULL,
    partition integer          NOT NULL,
    attempt   bigint           NOT NULL,
    record    text COLLATE "C" NOT NULL,
    PRIMARY KEY (uuid, partition, attempt)
);

CREATE TABLE frame (
    uuid        uuid             NOT NULL,
    partition   integer          NOT NULL,
    attempt     bigint           NOT NULL,
    seq         bigint           NOT NULL,
    appended_at bigint           NOT NULL,
    channel     text COLLATE "C" NOT NULL,
    frame_type  text COLLATE "C" NOT NULL,
    bytes       bytea            NOT NULL,
    PRIMARY KEY (uuid, partition, attempt, seq)
);
