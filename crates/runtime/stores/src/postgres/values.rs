//! Values on their way to statements and from rows.

use super::{DatabaseError, Typed};
use crate::columns::{Cells, corrupt};
use bankrail_values::StoreError;
use std::error::Error;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, ToSql, Type};

/// A value of a parameter whose type follows from it.
pub(super) trait Value: ToSql + Sync {
    fn sql_type() -> Type;
}

macro_rules! values {
    ($($of:ty => $sql:ident,)*) => { $(
        impl Value for $of {
            fn sql_type() -> Type {
                Type::$sql
            }
        }
    )* };
}

values! {
    bool => BOOL,
    i32 => INT4,
    i64 => INT8,
    &i64 => INT8,
    &str => TEXT,
    String => TEXT,
    &String => TEXT,
    &[u8] => BYTEA,
    Vec<u8> => BYTEA,
    &Vec<u8> => BYTEA,
    Vec<i64> => INT8_ARRAY,
    &Vec<i64> => INT8_ARRAY,
    &[i64] => INT8_ARRAY,
    Vec<&str> => TEXT_ARRAY,
    &Vec<&str> => TEXT_ARRAY,
    Vec<String> => TEXT_ARRAY,
    Vec<Option<String>> => TEXT_ARRAY,
    Vec<&[u8]> => BYTEA_ARRAY,
    &Vec<&[u8]> => BYTEA_ARRAY,
}

impl<V: Value> Value for Option<V> {
    fn sql_type() -> Type {
        V::sql_type()
    }
}

pub(super) fn typed<V: Value>(value: &V) -> Typed<'_> {
    (value, V::sql_type())
}

/// The parameters of a statement.
macro_rules! params {
    ($($value:expr),* $(,)?) => { &[$($crate::postgres::values::typed(&$value)),*] };
}
pub(super) use params;

/// Text without U+0000, which PostgreSQL does not hold.
pub(super) fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

impl Cells for Row {
    fn integer(&self, column: &str) -> Result<Option<i64>, StoreError> {
        Ok(get::<Option<Integer>>(self, column)?.map(|Integer(number)| number))
    }

    fn text(&self, column: &str) -> Result<Option<&str>, StoreError> {
        get(self, column)
    }

    fn blob(&self, column: &str) -> Result<Option<&[u8]>, StoreError> {
        get(self, column)
    }
}

/// Reads a column.
pub(super) fn get<'a, T: FromSql<'a>>(row: &'a Row, column: &str) -> Result<T, StoreError> {
    row.try_get(column)
        .map_err(|error| corrupt(DatabaseError::from(error)))
}

/// A column of any integer type, or a Boolean.
struct Integer(i64);

impl<'a> FromSql<'a> for Integer {
    fn from_sql(of: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(match *of {
            Type::BOOL => bool::from_sql(of, raw)?.into(),
            Type::INT4 => i32::from_sql(of, raw)?.into(),
            _ => i64::from_sql(of, raw)?,
        }))
    }

    fn accepts(of: &Type) -> bool {
        matches!(*of, Type::BOOL | Type::INT4 | Type::INT8)
    }
}
