-- Budgets: the reports of usage that are remembered.
CREATE TABLE usage_report (
    uuid      uuid             NOT NULL,
    partition integer          NOT NULL,
    id        text COLLATE "C" NOT NULL,
    until     bigint           NOT NULL,
    PRIMARY KEY (uuid, partition, id)
);
