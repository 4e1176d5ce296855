-- API keys: their permissions and tenant. Of a key's secret only the hash is stored.
CREATE TABLE api_key (
    key_id TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (key_id)
) STRICT, WITHOUT ROWID;
