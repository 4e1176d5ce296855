-- Waiting executions are also queued by their requirements on the worker. The class is empty if there are none.

ALTER TABLE ready RENAME TO ready_without_class;
DROP INDEX ready_order;
CREATE TABLE ready (
    partition  integer          NOT NULL,
    lane       text COLLATE "C" NOT NULL,
    class      text COLLATE "C" NOT NULL,
    kind       text COLLATE "C" NOT NULL,
    priority   integer          NOT NULL,
    created_at bigint           NOT NULL,
    uuid       uuid             NOT NULL
) WITH (autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
INSERT INTO ready SELECT partition, lane, '', kind, priority, created_at, uuid FROM ready_without_class;
DROP TABLE ready_without_class;
CREATE UNIQUE INDEX ready_order
    ON ready (partition, lane, class, kind, priority DESC, created_at, uuid);
