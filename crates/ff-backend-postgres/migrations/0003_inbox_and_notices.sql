-- Submissions that users insert in their own transactions, until a program takes them up. A refused submission stays, with the
-- reason.
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

-- Notifies programs when the user commits, once per transaction.
CREATE FUNCTION tell_of_inbox() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify(TG_TABLE_SCHEMA || '_inbox', '');
    RETURN NULL;
END $$;
CREATE TRIGGER inbox_told AFTER INSERT ON inbox FOR EACH STATEMENT EXECUTE FUNCTION tell_of_inbox();

-- Hints for programs behind a pooler, which cannot listen. Programs poll the table; a hint stays for at least a minute.
CREATE TABLE notice (
    id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at   timestamptz NOT NULL DEFAULT now(),
    note text        NOT NULL
);
