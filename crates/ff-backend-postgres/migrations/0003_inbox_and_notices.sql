-- Submissions that users insert in their own transactions, until a program takes them up. One that could not be taken
-- up stays, and says why.
CREATE TABLE inbox (
    nth          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    submission   text        NOT NULL,
    content_type text        NOT NULL,
    bytes        bytea       NOT NULL,
    written_at   timestamptz NOT NULL DEFAULT now(),
    refused      text
);

-- The submissions to take up next.
CREATE INDEX inbox_untaken ON inbox (nth) WHERE refused IS NULL;

-- Programs are notified when the user commits, once for a transaction however much it submits.
CREATE FUNCTION tell_of_inbox() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify(TG_TABLE_SCHEMA || '_inbox', '');
    RETURN NULL;
END $$;
CREATE TRIGGER inbox_told AFTER INSERT ON inbox FOR EACH STATEMENT EXECUTE FUNCTION tell_of_inbox();

-- Where a pooler stands between, programs cannot listen; their hints are here for a minute, and are looked for.
CREATE TABLE notice (
    id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at   timestamptz NOT NULL DEFAULT now(),
    note text        NOT NULL
);
