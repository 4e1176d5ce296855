-- Quotas: the policies of namespaces as each partition knows them, and the usage of each policy, found by name.
CREATE TABLE quota_set (
    namespace text COLLATE "C" NOT NULL,
    partition integer          NOT NULL,
    record    text COLLATE "C" NOT NULL,
    PRIMARY KEY (namespace, partition)
);

CREATE TABLE quota_row (
    policy_id uuid             NOT NULL,
    name      text COLLATE "C" NOT NULL,
    record    text COLLATE "C" NOT NULL,
    PRIMARY KEY (policy_id, name)
) WITH (fillfactor = 50);
