-- API keys with their permissions and tenant. Only the hash of a key's secret is stored.
CREATE TABLE api_key (
    key_id text COLLATE "C" NOT NULL,
    record text COLLATE "C" NOT NULL,
    PRIMARY KEY (key_id)
);
