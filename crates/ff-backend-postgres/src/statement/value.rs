//! Conversion of values to and from the server's binary format.

use std::error::Error;

use bytes::{BufMut, Bytes, BytesMut};
use ff_backend_sql::{Columns, Row, SqlError, Table, Value};
use tokio_postgres::types::{Field, FromSql, IsNull, Kind, ToSql, Type, to_sql_checked};
use uuid::Uuid;

/// A parameter of a statement: one value, an array of values, or rows of a table.
#[derive(Debug)]
pub(crate) enum Parameter {
    One(SentValue),
    Each(Vec<SentValue>),
    Rows(TableRows),
}

impl Parameter {
    pub(crate) fn one(value: Value) -> Self {
        Self::One(SentValue(value))
    }

    pub(crate) fn each(values: impl Iterator<Item = Value>) -> Self {
        Self::Each(values.map(SentValue).collect())
    }

    /// Returns a parameter of table rows, or of the leading columns of rows. Only `columns` of each are sent.
    pub(crate) fn rows(table: &'static Table, columns: Columns, rows: Vec<Vec<Value>>) -> Self {
        Self::Rows(TableRows { table, columns, rows })
    }
}

impl ToSql for Parameter {
    fn to_sql(&self, of: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match (self, of.kind()) {
            (Self::One(value), _) => value.to_sql(of, out),
            (Self::Each(values), Kind::Array(_)) => values.to_sql(of, out),
            (Self::Rows(rows), Kind::Array(row)) => rows.to_sql(row, out),
            (Self::Each(_) | Self::Rows(_), _) => Err(format!("an array for a parameter of type {of}").into()),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A value to send.
#[derive(Debug)]
pub(crate) struct SentValue(Value);

impl ToSql for SentValue {
    fn to_sql(&self, of: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        write(&self.0, of, out)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// Writes a value in the binary format of its type.
fn write(value: &Value, of: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
    match (value, of) {
        (Value::Null, _) => return Ok(IsNull::Yes),
        (Value::Int(number), &Type::INT8) => out.put_i64(*number),
        (Value::Int(number), &Type::INT4) => out.put_i32((*number).try_into()?),
        (Value::Int(number), &Type::INT2) => out.put_i16((*number).try_into()?),
        (Value::Text(text), &Type::TEXT) => out.put_slice(text.as_bytes()),
        (Value::Uuid(uuid), &Type::UUID) => out.put_slice(uuid.as_bytes()),
        (Value::Bytes(bytes), &Type::BYTEA) => out.put_slice(bytes),
        // The error does not quote the value, because it may be a secret.
        (_, of) => return Err(format!("a value of another kind for a parameter of type {of}").into()),
    }
    Ok(IsNull::No)
}

/// Rows of a table, as an array of its row type. Columns that are not in `columns`, or beyond the end of a row, are null.
#[derive(Debug)]
pub(crate) struct TableRows {
    table: &'static Table,
    columns: Columns,
    rows: Vec<Vec<Value>>,
}

impl TableRows {
    /// Writes the rows in the protocol's format of an array of composite values: one dimension, with a lower bound of one.
    fn to_sql(&self, row: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        let Kind::Composite(fields) = row.kind() else { return Err(format!("rows for elements of type {row}").into()) };
        let place = |field: &Field| self.table.columns.iter().position(|column| column.name == field.name());
        let fields: Vec<_> =
            fields.iter().map(|field| (place(field).filter(|at| self.columns.has(*at)), field.type_())).collect();
        for header in [1, 0, row.oid().cast_signed(), self.rows.len().try_into()?, 1] {
            out.put_i32(header);
        }
        for values in &self.rows {
            sized(out, |out| {
                out.put_i32(fields.len().try_into()?);
                for (at, of) in &fields {
                    out.put_u32(of.oid());
                    sized(out, |out| write(at.and_then(|at| values.get(at)).unwrap_or(&Value::Null), of, out))?;
                }
                Ok(IsNull::No)
            })?;
        }
        Ok(IsNull::No)
    }
}

/// Writes a value after its length. The length of NULL is -1.
fn sized(
    out: &mut BytesMut,
    write: impl FnOnce(&mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>>,
) -> Result<(), Box<dyn Error + Sync + Send>> {
    let at = out.len();
    out.put_i32(-1);
    if let IsNull::No = write(out)? {
        let length = i32::try_from(out.len() - at - size_of::<i32>())?;
        out[at..at + size_of::<i32>()].copy_from_slice(&length.to_be_bytes());
    }
    Ok(())
}

/// Returns the values of a row from column `from` on.
pub(crate) fn row(found: &tokio_postgres::Row, from: usize) -> Result<Row, SqlError> {
    let value = |at| match found.try_get::<_, ReceivedValue>(at) {
        Ok(ReceivedValue(value)) => Ok(value),
        Err(error) => Err(SqlError::Unreadable(error.to_string())),
    };
    Ok(Row::new((from..found.len()).map(value).collect::<Result<_, _>>()?))
}

/// A received value.
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
    use ff_backend_sql::EXECUTION;

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

    /// The server's row type may have its columns in another order, or more columns than are sent.
    #[test]
    fn a_row_has_the_columns_of_its_type_and_null_for_those_that_are_not_given() {
        let field = |name: &str, of| Field::new(name.into(), of);
        let fields = vec![field("partition", Type::INT4), field("record", Type::TEXT), field("uuid", Type::UUID)];
        let row = Type::new("execution".into(), 7, Kind::Composite(fields), "flowfabric".into());
        let of = Type::new("_execution".into(), 8, Kind::Array(row), "flowfabric".into());
        let rows = vec![vec![Value::Uuid(Uuid::max()), Value::Int(3), Value::Text("kept".into())]];
        let mut raw = BytesMut::new();
        let columns = EXECUTION.key_columns_at();
        assert!(matches!(Parameter::rows(&EXECUTION, columns, rows).to_sql(&of, &mut raw), Ok(IsNull::No)));
        let of_number = |number: i32| number.to_be_bytes().to_vec();
        let oid = |of: Type| of.oid().to_be_bytes().to_vec();
        let expected = [
            [1, 0, 7, 1, 1].map(of_number).concat(),
            of_number(4 + 12 + 8 + 24),
            of_number(3),
            [oid(Type::INT4), of_number(4), of_number(3)].concat(),
            [oid(Type::TEXT), of_number(-1)].concat(),
            [oid(Type::UUID), of_number(16), vec![255; 16]].concat(),
        ];
        assert_eq!(raw, expected.concat());
    }

    #[test]
    fn a_number_too_large_for_its_column_is_not_cut() {
        let mut raw = BytesMut::new();
        assert!(SentValue(Value::Int(70_000)).to_sql(&Type::INT2, &mut raw).is_err());
        assert!(SentValue(Value::Text("7".into())).to_sql(&Type::INT8, &mut raw).is_err());
    }
}
