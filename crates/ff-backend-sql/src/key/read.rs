//! Reading keys.

use async_trait::async_trait;
use ff_core::backend::Answer;
use ff_core::contracts::{KeysPage, ListKeysArgs};
use ff_core::key::{ApiKey, KeyInfo};
use ff_core::types::KeyId;

use crate::error::SqlError;
use crate::queries::API_KEYS_AFTER;
use crate::record;
use crate::schema::API_KEY;
use crate::session::{Question, Read};
use crate::value::{Row, Value};

/// One key, with what is kept of its secret.
pub(crate) struct FindKey(pub KeyId);

#[async_trait]
impl Question for FindKey {
    type Answer = Option<ApiKey>;

    async fn ask(self, reader: &mut dyn Read) -> Answer<Option<ApiKey>> {
        let rows = reader.load(&API_KEY, API_KEY.named(&["record"]), &[vec![self.0.as_str().into()]]).await?;
        let row = rows.into_iter().flatten().next();
        Ok(row.map(|row| record::read(row.text(0)?)).transpose()?)
    }
}

/// Keys by their ids.
pub(crate) struct ListKeys(pub ListKeysArgs);

#[async_trait]
impl Question for ListKeys {
    type Answer = KeysPage;

    async fn ask(self, reader: &mut dyn Read) -> Answer<KeysPage> {
        let after = self.0.after.as_ref().map_or("", KeyId::as_str);
        let rows = reader.query(API_KEYS_AFTER, &[vec![after.into(), Value::number(self.0.limit + 1)]]).await?;
        let info = |row: &Row| record::read::<ApiKey>(row.text(0)?).map(|key| key.info);
        let keys = rows.iter().flatten().map(info).collect::<Result<Vec<KeyInfo>, SqlError>>()?;
        Ok(KeysPage::of(keys, self.0.limit))
    }
}
