//! A strict and bounded JSON reader, and a writer of JSON strings and flat objects.
//!
//! The reader accepts RFC 8259 in UTF-8, with these additional rules:
//!
//! - No object has two members with the same name; names are compared after unescaping.
//! - A `\u` escape stands for a Unicode character, alone or as a surrogate pair, unless
//!   [`JsonLimits::replace_lone_surrogates`] is set.
//! - A number of any size is kept as written; [`JsonNumber`] converts it.
//! - Length, depth and number of values are within the [`JsonLimits`].
//! - There is no byte order mark.
//!
//! A string without escapes is borrowed from the text. [`JsonError`] gives the place as a JSON
//! pointer and a byte position, and quotes no value.
//!
//! ```
//! use bankrail_values::json::{self, JsonLimits, JsonValue};
//!
//! let body = br#"{"id":"7","amounts":["12.50"]}"#;
//! let object = json::read_object(body, &JsonLimits::new())?;
//! assert_eq!(object.get("id").and_then(JsonValue::as_str), Some("7"));
//!
//! let error = json::read_object(br#"{"a":{"b":1,"\u0062":2}}"#, &JsonLimits::new()).unwrap_err();
//! assert_eq!(error.to_string(), "/a/b at byte 12: expected each member name once in an object");
//! # Ok::<(), json::JsonError>(())
//! ```

mod error;
mod reader;
mod string;
mod value;
mod writer;

pub use error::{JsonError, JsonErrorKind, push_pointer_segment};
pub use value::{JsonMember, JsonNumber, JsonObject, JsonValue};
pub use writer::{JsonObjectWriter, write_content, write_string};

use reader::Reader;

/// The bounds on one JSON text: by default 1 MiB, 64 levels and 65,536 values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonLimits {
    max_document_bytes: usize,
    max_depth: usize,
    max_values: usize,
    replace_lone_surrogates: bool,
}

impl JsonLimits {
    /// The maximum of [`JsonLimits::max_depth`].
    pub const DEEPEST: usize = 128;

    /// Returns the default limits.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            max_document_bytes: 1024 * 1024,
            max_depth: 64,
            max_values: 65_536,
            replace_lone_surrogates: false,
        }
    }

    /// Sets the maximum length of a text, in bytes.
    #[must_use]
    pub const fn max_document_bytes(mut self, bytes: usize) -> Self {
        self.max_document_bytes = bytes;
        self
    }

    /// Sets the maximum depth of nested objects and arrays, including the outermost one. A value
    /// above [`JsonLimits::DEEPEST`] is lowered to it.
    #[must_use]
    pub const fn max_depth(mut self, levels: usize) -> Self {
        self.max_depth = match levels {
            0..=Self::DEEPEST => levels,
            _ => Self::DEEPEST,
        };
        self
    }

    /// Sets the maximum number of values in the whole text. Each object, array, string, number,
    /// boolean and null counts as one. A value takes up to 80 bytes of memory.
    #[must_use]
    pub const fn max_values(mut self, values: usize) -> Self {
        self.max_values = values;
        self
    }

    /// Reads half of a surrogate pair as U+FFFD instead of refusing the text. Default: false.
    #[must_use]
    pub const fn replace_lone_surrogates(mut self, replace: bool) -> Self {
        self.replace_lone_surrogates = replace;
        self
    }
}

impl Default for JsonLimits {
    fn default() -> Self {
        Self::new()
    }
}

/// Reads one JSON value and nothing after it.
///
/// # Errors
/// [`JsonError`] if the text breaks one of the module's rules.
#[doc(hidden)]
pub fn read<'a>(json: &'a [u8], limits: &JsonLimits) -> Result<JsonValue<'a>, JsonError> {
    Reader::read(json, limits, true)
}

/// Reads one JSON object and nothing after it.
///
/// # Errors
/// [`JsonError`] if the text breaks one of the module's rules or is not an object.
#[doc(hidden)]
pub fn read_object<'a>(json: &'a [u8], limits: &JsonLimits) -> Result<JsonObject<'a>, JsonError> {
    match read(json, limits)? {
        JsonValue::Object(object) => Ok(object),
        _ => Err(JsonError::new(
            JsonErrorKind::Syntax {
                expected: "an object",
            },
            0,
        )),
    }
}

/// Checks that a text is one JSON value by the module's rules, without keeping its values.
///
/// # Errors
/// As [`read`].
pub fn check(json: &[u8], limits: &JsonLimits) -> Result<(), JsonError> {
    Reader::read(json, limits, false).map(drop)
}
