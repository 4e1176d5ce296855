-- Budgets: the reports of usage that are remembered.
CREATE TABLE usage_report (
    uuid      BLOB    NOT NULL,
    partition INTEGER NOT NULL,
    id        TEXT    NOT NULL,
    until     INTEGER NOT NULL,
    PRIMARY KEY (uuid, partition, id)
) STRICT, WITHOUT ROWID;
