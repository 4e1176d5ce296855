-- Labels to search by, lanes, workers and events.

-- The labels of executions, in the order a search walks them, backwards. A label without a key is a state that is searched by.
CREATE TABLE tag (
    namespace  text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    value      text COLLATE "C" NOT NULL,
    created_at bigint           NOT NULL,
    partition  integer          NOT NULL,
    uuid       uuid             NOT NULL,
    PRIMARY KEY (namespace, key, value, created_at, partition, uuid)
);

-- Configured lanes, as each partition knows them. A lane with a limit is written with its claims.
CREATE TABLE lane (
    lane      text COLLATE "C" NOT NULL,
    partition integer          NOT NULL,
    record    text COLLATE "C" NOT NULL,
    PRIMARY KEY (lane, partition)
) WITH (fillfactor = 50);

CREATE TABLE worker (
    worker_instance_id text COLLATE "C" NOT NULL,
    partition          integer          NOT NULL,
    record             text COLLATE "C" NOT NULL,
    PRIMARY KEY (worker_instance_id)
) WITH (fillfactor = 50);

-- The times between which a partition records events.
CREATE TABLE feed (
    partition integer NOT NULL,
    since     bigint  NOT NULL,
    until     bigint  NOT NULL,
    PRIMARY KEY (partition)
) WITH (fillfactor = 50);

-- Events of followed partitions, in the order they are read.
CREATE TABLE event (
    partition integer          NOT NULL,
    told_at   bigint           NOT NULL,
    nth       bigint           NOT NULL,
    seq       bigint           NOT NULL,
    record    text COLLATE "C" NOT NULL,
    PRIMARY KEY (partition, told_at, nth)
);
