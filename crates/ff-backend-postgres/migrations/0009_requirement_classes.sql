-- Ready work is queued by what it requires of its worker as well. The class is empty for work that requires nothing.

ALTER TABLE ready ADD COLUMN class text COLLATE "C" NOT NULL DEFAULT '';
DROP INDEX ready_order;
CREATE UNIQUE INDEX ready_order
    ON ready (partition, lane, class, kind, priority DESC, created_at, uuid);
