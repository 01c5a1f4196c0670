//! JSON values, borrowed from the text they were read from.

use std::borrow::Cow;
use std::fmt;
use zeroize::Zeroize;

/// A JSON value. `Debug` prints only the kind, so that no content gets into a log.
#[derive(Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "JSON has these six kinds")]
pub enum JsonValue<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as written.
    Number(JsonNumber<'a>),
    /// A string, borrowed unless it has escapes.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<JsonValue<'a>>),
    /// An object.
    Object(JsonObject<'a>),
}

impl JsonValue<'_> {
    /// Returns the kind of the value for an error text: "a string", "null" and so on.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }

    /// Returns the text of a string; `None` for any other value.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }
}

impl fmt::Debug for JsonValue<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.kind())
    }
}

/// Overwrites every string that is not borrowed from the text, for values with secrets. The owner
/// of the text must overwrite the text itself.
impl Zeroize for JsonValue<'_> {
    fn zeroize(&mut self) {
        match self {
            Self::String(Cow::Owned(text)) => text.zeroize(),
            Self::Array(elements) => elements.iter_mut().for_each(Self::zeroize),
            Self::Object(object) => object.zeroize(),
            _ => {}
        }
    }
}

/// A number as it is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct JsonNumber<'a>(pub(super) &'a str);

impl<'a> JsonNumber<'a> {
    /// Returns the number as written.
    #[must_use]
    pub fn as_str(self) -> &'a str {
        self.0
    }

    /// Returns the number, if it is written as an integer and fits into an `i64`.
    #[must_use]
    pub fn as_i64(self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// Returns the number, if it is written as an integer without a sign and fits into a `u64`.
    #[must_use]
    pub fn as_u64(self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// Returns the nearest `f64`; `None` if the number is out of range.
    #[must_use]
    pub fn to_f64(self) -> Option<f64> {
        self.0
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
    }
}

impl fmt::Debug for JsonNumber<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a number")
    }
}

/// The members of an object, in their order. No two members have the same name.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct JsonObject<'a>(pub(super) Vec<JsonMember<'a>>);

impl<'a> JsonObject<'a> {
    /// Returns the value of the member with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&JsonValue<'a>> {
        self.0
            .iter()
            .find(|member| member.name == name)
            .map(|member| &member.value)
    }

    /// Removes the member with this name and returns its value.
    pub fn take(&mut self, name: &str) -> Option<JsonValue<'a>> {
        let at = self.0.iter().position(|member| member.name == name)?;
        Some(self.0.swap_remove(at).value)
    }

    /// Returns the members, in their order unless [`JsonObject::take`] has removed one.
    #[must_use]
    pub fn members(&self) -> &[JsonMember<'a>] {
        &self.0
    }
}

/// Prints the number of members.
impl fmt::Debug for JsonObject<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "an object of {} members", self.0.len())
    }
}

/// Overwrites every string that is not borrowed from the text.
impl Zeroize for JsonObject<'_> {
    fn zeroize(&mut self) {
        self.0.iter_mut().for_each(|member| member.value.zeroize());
    }
}

/// A member of an object. Two members are equal if their names and values are, even in different
/// spellings.
#[derive(Clone, Eq)]
pub struct JsonMember<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) value: JsonValue<'a>,
    pub(super) json: &'a str,
}

impl<'a> JsonMember<'a> {
    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the value.
    #[must_use]
    pub fn value(&self) -> &JsonValue<'a> {
        &self.value
    }

    /// Returns the value's JSON text, as written.
    #[must_use]
    pub fn json(&self) -> &'a str {
        self.json
    }
}

impl PartialEq for JsonMember<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.value == other.value
    }
}

impl fmt::Debug for JsonMember<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?}: {:?}", self.name, self.value)
    }
}
