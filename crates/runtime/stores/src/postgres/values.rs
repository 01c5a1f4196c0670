//! Conversions of values to parameters and from rows.

use super::{DatabaseError, Typed};
use crate::columns::{Cells, corrupt};
use bankrail_values::StoreError;
use std::error::Error;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, ToSql, Type};

/// A value of a parameter, with its type.
pub(super) trait Value: ToSql + Sync {
    const SQL_TYPE: Type;
}

impl Value for bool {
    const SQL_TYPE: Type = Type::BOOL;
}

impl Value for i32 {
    const SQL_TYPE: Type = Type::INT4;
}

impl Value for i64 {
    const SQL_TYPE: Type = Type::INT8;
}

impl Value for &str {
    const SQL_TYPE: Type = Type::TEXT;
}

impl Value for String {
    const SQL_TYPE: Type = Type::TEXT;
}

impl Value for &[u8] {
    const SQL_TYPE: Type = Type::BYTEA;
}

impl Value for Vec<u8> {
    const SQL_TYPE: Type = Type::BYTEA;
}

impl Value for &[i64] {
    const SQL_TYPE: Type = Type::INT8_ARRAY;
}

impl Value for Vec<i64> {
    const SQL_TYPE: Type = Type::INT8_ARRAY;
}

impl Value for Vec<&str> {
    const SQL_TYPE: Type = Type::TEXT_ARRAY;
}

impl Value for Vec<String> {
    const SQL_TYPE: Type = Type::TEXT_ARRAY;
}

impl Value for Vec<Option<String>> {
    const SQL_TYPE: Type = Type::TEXT_ARRAY;
}

impl Value for Vec<&[u8]> {
    const SQL_TYPE: Type = Type::BYTEA_ARRAY;
}

impl<V: Value> Value for &V {
    const SQL_TYPE: Type = V::SQL_TYPE;
}

impl<V: Value> Value for Option<V> {
    const SQL_TYPE: Type = V::SQL_TYPE;
}

pub(super) fn typed<V: Value>(value: &V) -> Typed<'_> {
    (value, V::SQL_TYPE)
}

/// The parameters of a statement with their types, written as in `rusqlite::params!`.
macro_rules! params {
    ($($value:expr),* $(,)?) => { &[$($crate::postgres::values::typed(&$value)),*] };
}
pub(super) use params;

/// Replaces U+0000 in a text, because PostgreSQL cannot store it.
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

/// The value of a column of any integer type, or a Boolean.
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
