-- API keys with their permissions and tenant. Only the hash of a key's secret is stored.
CREATE TABLE api_key (
    key_id TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (key_id)
) STRICT, WITHOUT ROWID;
