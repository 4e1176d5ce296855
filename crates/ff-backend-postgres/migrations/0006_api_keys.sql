-- API keys: their permissions and tenant. Of a key's secret only the hash is stored.
CREATE TABLE api_key (
    key_id text COLLATE "C" NOT NULL,
    record text COLLATE "C" NOT NULL,
    PRIMARY KEY (key_id)
);
