-- API keys: what their holders may do, and as which tenant. Of a key's secret only the hash is here.
CREATE TABLE api_key (
    key_id text COLLATE "C" NOT NULL,
    record text COLLATE "C" NOT NULL,
    PRIMARY KEY (key_id)
);
