//! Parts of the JSON texts that a client stores between two calls.

use crate::EntryKey;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::HashMap;

/// Counts of entries by their keys: an array of pairs, each of a key in hexadecimal and its count,
/// in the order of the keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts(pub(crate) HashMap<EntryKey, u32>);

impl Serialize for Counts {
    #[expect(clippy::disallowed_methods, reason = "sorted below")]
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        // The pairs are sorted, so that equal counts are equal texts.
        let mut pairs: Vec<(String, u32)> = self
            .0
            .iter()
            .map(|(key, count)| (key.to_string(), *count))
            .collect();
        pairs.sort_unstable();
        pairs.serialize(out)
    }
}

impl<'de> Deserialize<'de> for Counts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let pairs = Vec::<(Cow<'de, str>, u32)>::deserialize(from)?.into_iter();
        let counts = pairs.map(|(key, count)| Ok((key.parse().map_err(D::Error::custom)?, count)));
        counts.collect::<Result<_, D::Error>>().map(Self)
    }
}

/// Serialises values as their texts, for `#[serde(with = "text")]`.
pub(crate) mod text {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};
    use std::borrow::Cow;
    use std::fmt::Display;
    use std::str::FromStr;

    pub(crate) fn serialize<T: Display, S: Serializer>(
        value: &T,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        out.collect_str(value)
    }

    pub(crate) fn deserialize<'de, T, D>(from: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        let text = Cow::<'de, str>::deserialize(from)?;
        text.parse().map_err(D::Error::custom)
    }
}

/// Serialises optional values as their texts, for `#[serde(default, with = "optional_text")]`, with
/// `skip_serializing_if = "Option::is_none"`.
pub(crate) mod optional_text {
    use serde::{Deserializer, Serializer};
    use std::fmt::Display;
    use std::str::FromStr;

    pub(crate) fn serialize<T: Display, S: Serializer>(
        value: &Option<T>,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => out.collect_str(value),
            None => out.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, T, D>(from: D) -> Result<Option<T>, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        super::text::deserialize(from).map(Some)
    }
}
