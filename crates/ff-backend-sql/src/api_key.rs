//! The domain of API keys: their rows and queries.

use async_trait::async_trait;
use ff_core::api_key::{ApiKey, KeyInfo};
use ff_core::backend::Answer;
use ff_core::contracts::{KeysPage, ListKeysArgs};
use ff_core::operation::query::FindKey;
use ff_core::types::KeyId;

use crate::ReadContext;
use crate::error::SqlError;
use crate::queries::API_KEYS_AFTER;
use crate::session::{Put, Question, Read, load_record};
use crate::table::record;
use crate::table::schema::API_KEY;
use crate::table::value::{Row, Value};

/// Returns the row of an API key.
pub(crate) fn api_key_of(key: &ApiKey) -> Result<Put, SqlError> {
    Put::record(vec![key.info.key_id.as_str().into()], key)
}

#[async_trait]
impl Question for FindKey {
    type Answer = Option<ApiKey>;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<Option<ApiKey>> {
        Ok(load_record(reader, &API_KEY, vec![self.key_id.as_str().into()]).await?)
    }
}

#[async_trait]
impl Question for ListKeysArgs {
    type Answer = KeysPage;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<KeysPage> {
        let after = self.after.as_ref().map_or("", KeyId::as_str);
        let rows = reader.query(API_KEYS_AFTER, &[vec![after.into(), Value::number(self.limit + 1)]]).await?;
        let info = |row: &Row| record::read::<ApiKey>(row.text(0)?).map(|key| key.info);
        let keys = rows.iter().flatten().map(info).collect::<Result<Vec<KeyInfo>, SqlError>>()?;
        Ok(KeysPage::of(keys, self.limit))
    }
}
