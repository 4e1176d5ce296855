-- Suspensions and signals. A suspended execution stays in its table; these are beside it.

-- Whether a waitpoint is open follows from its execution.
CREATE TABLE waitpoint (
    uuid         uuid             NOT NULL,
    partition    integer          NOT NULL,
    waitpoint_id uuid             NOT NULL,
    record       text COLLATE "C" NOT NULL,
    PRIMARY KEY (uuid, partition, waitpoint_id)
);

CREATE TABLE suspend_key (
    uuid      uuid             NOT NULL,
    partition integer          NOT NULL,
    key       text COLLATE "C" NOT NULL,
    until     bigint           NOT NULL,
    answer    text COLLATE "C" NOT NULL,
    PRIMARY KEY (uuid, partition, key)
);

-- The secrets tokens are signed under. A user that reads this table can open every waitpoint.
CREATE TABLE key_ring (
    partition integer          NOT NULL,
    record    text COLLATE "C" NOT NULL,
    PRIMARY KEY (partition)
);
REVOKE ALL ON key_ring FROM PUBLIC;

CREATE TABLE signal (
    uuid         uuid             NOT NULL,
    partition    integer          NOT NULL,
    signal_id    uuid             NOT NULL,
    nth          bigint           NOT NULL,
    record       text COLLATE "C" NOT NULL,
    content_type text COLLATE "C",
    bytes        bytea,
    PRIMARY KEY (uuid, partition, signal_id)
);

-- Read by a listing of signals.
CREATE INDEX signal_in_order
    ON signal (uuid, partition, nth);

CREATE TABLE signal_key (
    uuid         uuid             NOT NULL,
    partition    integer          NOT NULL,
    waitpoint_id uuid             NOT NULL,
    key          text COLLATE "C" NOT NULL,
    signal_id    uuid             NOT NULL,
    until        bigint           NOT NULL,
    PRIMARY KEY (uuid, partition, waitpoint_id, key)
);

-- One feed per partition, in the order it is read.
CREATE TABLE delivery (
    partition integer          NOT NULL,
    told_at   bigint           NOT NULL,
    nth       bigint           NOT NULL,
    seq       bigint           NOT NULL,
    record    text COLLATE "C" NOT NULL,
    PRIMARY KEY (partition, told_at, nth)
);
