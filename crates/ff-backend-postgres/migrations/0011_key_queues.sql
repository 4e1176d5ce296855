-- The live executions of singleton and debounce keys.
CREATE TABLE key_queue (
    partition  integer          NOT NULL,
    namespace  text COLLATE "C" NOT NULL,
    name       text COLLATE "C" NOT NULL,
    executions text COLLATE "C" NOT NULL,
    PRIMARY KEY (partition, namespace, name)
) WITH (fillfactor = 50);
