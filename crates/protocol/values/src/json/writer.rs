//! Writing JSON strings and flat objects.

use super::string::plain_length;
use std::fmt::{Display, Write as _};

/// Writes one object, member by member, without white space.
///
/// ```
/// use bankrail_values::json::JsonObjectWriter;
/// let json = JsonObjectWriter::new().string("sub", "A\"B").optional_string("jti", None).raw("exp", 7).finish();
/// assert_eq!(json, r#"{"sub":"A\"B","exp":7}"#);
/// ```
#[derive(Debug)]
#[doc(hidden)]
pub struct JsonObjectWriter(String);

impl JsonObjectWriter {
    /// Returns an object without members.
    #[must_use]
    pub fn new() -> Self {
        // Most objects are headers and claims of about this length.
        let mut json = String::with_capacity(128);
        json.push('{');
        Self(json)
    }

    /// Adds a string member.
    #[must_use]
    pub fn string(mut self, name: &str, value: &str) -> Self {
        self.name(name);
        write_string(value, &mut self.0);
        self
    }

    /// Adds a string member if there is a value.
    #[must_use]
    pub fn optional_string(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.string(name, value),
            None => self,
        }
    }

    /// Adds a member whose JSON text is the value's `Display`: a number, `true` or `false`, or JSON
    /// made before.
    #[must_use]
    pub fn raw(mut self, name: &str, json: impl Display) -> Self {
        self.name(name);
        write!(self.0, "{json}").expect("a String takes all");
        self
    }

    /// Adds a member like [`JsonObjectWriter::raw`], if there is a value.
    #[must_use]
    pub fn optional_raw(self, name: &str, json: Option<impl Display>) -> Self {
        match json {
            Some(json) => self.raw(name, json),
            None => self,
        }
    }

    /// Returns the object's JSON text.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }

    fn name(&mut self, name: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        write_string(name, &mut self.0);
        self.0.push(':');
    }
}

impl Default for JsonObjectWriter {
    fn default() -> Self {
        Self::new()
    }
}

/// Appends `text` to `out` as a JSON string. Only quotation marks, backslashes and control
/// characters are escaped.
#[doc(hidden)]
pub fn write_string(text: &str, out: &mut String) {
    out.reserve(text.len().saturating_add(2));
    out.push('"');
    write_content(text, out);
    out.push('"');
}

/// Appends `text` to `out` as a part of a JSON string, without the surrounding quotation marks.
#[doc(hidden)]
pub fn write_content(text: &str, out: &mut String) {
    let mut rest = text;
    loop {
        // The byte that ends the plain part is ASCII, so the text is split between two characters.
        let (plain, after) = rest.split_at(plain_length(rest.as_bytes()));
        out.push_str(plain);
        let mut characters = after.chars();
        match characters.next() {
            None => break,
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\u{8}') => out.push_str("\\b"),
            Some('\u{c}') => out.push_str("\\f"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some(control) => out.push_str(&format!("\\u{:04x}", u32::from(control))),
        }
        rest = characters.as_str();
    }
}
