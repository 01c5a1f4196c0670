//! Members that are texts with a form of their own.

/// A value with a text of its own.
pub(super) mod value {
    use serde::de::{Deserialize as _, Deserializer, Error as _};
    use serde::ser::Serializer;
    use std::fmt::Display;
    use std::str::FromStr;

    pub(in super::super) fn serialize<S: Serializer>(
        value: &impl Display,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_str(value)
    }

    pub(in super::super) fn deserialize<'de, T, D>(from: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// An array of such values.
pub(super) mod values {
    use serde::de::{Deserialize as _, Deserializer, Error as _};
    use serde::ser::Serializer;
    use std::fmt::Display;
    use std::str::FromStr;

    pub(in super::super) fn serialize<S: Serializer>(
        values: &[impl Display],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(values.iter().map(ToString::to_string))
    }

    pub(in super::super) fn deserialize<'de, T, D>(from: D) -> Result<Vec<T>, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        let texts = Vec::<String>::deserialize(from)?;
        texts
            .iter()
            .map(|text| text.parse().map_err(D::Error::custom))
            .collect()
    }
}

/// A secret. The error for a value of another type does not quote it.
pub(super) mod secret {
    use bankrail_values::SecretString;
    use serde::de::{Deserialize as _, Deserializer, Error as _};
    use serde::ser::Serializer;

    pub(in super::super) fn serialize<S: Serializer>(
        secret: &SecretString,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.serialize_str(secret.expose_secret())
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<SecretString, D::Error> {
        match toml::Value::deserialize(from)? {
            toml::Value::String(text) => Ok(text.into()),
            _ => Err(D::Error::custom("expected an API key in quotation marks")),
        }
    }
}
