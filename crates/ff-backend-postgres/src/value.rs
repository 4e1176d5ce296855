//! Values on their way to the server and back.

use std::error::Error;

use bytes::{BufMut, Bytes, BytesMut};
use ff_backend_sql::{Row, SqlError, Value};
use tokio_postgres::types::{FromSql, IsNull, Kind, ToSql, Type, to_sql_checked};
use uuid::Uuid;

/// A parameter of a statement: one value, or an array with one for each row.
#[derive(Debug)]
pub(crate) enum Parameter {
    One(SentValue),
    Each(Vec<SentValue>),
}

impl Parameter {
    pub(crate) fn one(value: Value) -> Self {
        Self::One(SentValue(value))
    }

    pub(crate) fn each(values: impl Iterator<Item = Value>) -> Self {
        Self::Each(values.map(SentValue).collect())
    }
}

impl ToSql for Parameter {
    fn to_sql(&self, of: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match (self, of.kind()) {
            (Self::One(value), _) => value.to_sql(of, out),
            (Self::Each(values), Kind::Array(_)) => values.to_sql(of, out),
            (Self::Each(_), _) => Err(format!("an array for a parameter of type {of}").into()),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A value as the server takes it.
#[derive(Debug)]
pub(crate) struct SentValue(Value);

impl ToSql for SentValue {
    fn to_sql(&self, of: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match (&self.0, of) {
            (Value::Null, _) => return Ok(IsNull::Yes),
            (Value::Int(number), &Type::INT8) => out.put_i64(*number),
            (Value::Int(number), &Type::INT4) => out.put_i32((*number).try_into()?),
            (Value::Int(number), &Type::INT2) => out.put_i16((*number).try_into()?),
            (Value::Text(text), &Type::TEXT) => out.put_slice(text.as_bytes()),
            (Value::Uuid(uuid), &Type::UUID) => out.put_slice(uuid.as_bytes()),
            (Value::Bytes(bytes), &Type::BYTEA) => out.put_slice(bytes),
            // The value may be a secret, and errors are read by many.
            (_, of) => return Err(format!("a value of another kind for a parameter of type {of}").into()),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// The values of a row from one place on.
pub(crate) fn row(found: &tokio_postgres::Row, from: usize) -> Result<Row, SqlError> {
    let value = |at| match found.try_get::<_, ReceivedValue>(at) {
        Ok(ReceivedValue(value)) => Ok(value),
        Err(error) => Err(SqlError::Unreadable(error.to_string())),
    };
    Ok(Row::new((from..found.len()).map(value).collect::<Result<_, _>>()?))
}

/// A value as the server tells it.
struct ReceivedValue(Value);

impl<'a> FromSql<'a> for ReceivedValue {
    fn from_sql(of: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(match *of {
            Type::INT8 => Value::Int(i64::from_be_bytes(raw.try_into()?)),
            Type::INT4 => Value::Int(i32::from_be_bytes(raw.try_into()?).into()),
            Type::INT2 => Value::Int(i16::from_be_bytes(raw.try_into()?).into()),
            Type::TEXT => Value::Text(str::from_utf8(raw)?.to_owned()),
            Type::UUID => Value::Uuid(Uuid::from_slice(raw)?),
            Type::BYTEA => Value::Bytes(Bytes::copy_from_slice(raw)),
            _ => return Err(format!("a column of type {of}").into()),
        }))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(Value::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_comes_back_as_it_went() {
        for (of, value) in [
            (Type::INT8, Value::Int(i64::MIN)),
            (Type::INT4, Value::Int(-1)),
            (Type::INT2, Value::Int(1)),
            (Type::TEXT, Value::Text("ü".into())),
            (Type::UUID, Value::Uuid(Uuid::max())),
            (Type::BYTEA, Value::Bytes(Bytes::from_static(&[0, 255]))),
        ] {
            let mut raw = BytesMut::new();
            assert!(matches!(SentValue(value.clone()).to_sql(&of, &mut raw), Ok(IsNull::No)));
            assert_eq!(ReceivedValue::from_sql(&of, &raw).unwrap().0, value);
        }
    }

    #[test]
    fn a_number_too_large_for_its_column_is_not_cut() {
        let mut raw = BytesMut::new();
        assert!(SentValue(Value::Int(70_000)).to_sql(&Type::INT2, &mut raw).is_err());
        assert!(SentValue(Value::Text("7".into())).to_sql(&Type::INT8, &mut raw).is_err());
    }
}
