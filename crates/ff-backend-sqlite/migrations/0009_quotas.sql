-- Quotas: the policies of namespaces as each partition knows them, and the usage of each policy, found by name.
CREATE TABLE quota_set (
    namespace TEXT    NOT NULL,
    partition INTEGER NOT NULL,
    record    TEXT    NOT NULL,
    PRIMARY KEY (namespace, partition)
) STRICT, WITHOUT ROWID;

CREATE TABLE quota_row (
    policy_id BLOB NOT NULL,
    name      TEXT NOT NULL,
    record    TEXT NOT NULL,
    PRIMARY KEY (policy_id, name)
) STRICT, WITHOUT ROWID;
