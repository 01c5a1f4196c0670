//! Reading a text into values, by recursive descent.

use super::JsonLimits;
use super::error::{JsonError, JsonErrorKind};
use super::string::{plain_length, unescape};
use super::value::{JsonMember, JsonNumber, JsonObject, JsonValue};
use std::borrow::Cow;

/// A result with a boxed error, which would otherwise be larger than any value.
type Fallible<T> = Result<T, Box<JsonError>>;

pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
    limits: JsonLimits,
    /// The number of levels that may still be entered.
    levels: usize,
    /// The number of values that may still be read.
    values: usize,
    /// True if values are kept, false if they are only checked.
    keep: bool,
    /// The members read so far of all open objects, those of the innermost object last.
    members: Vec<JsonMember<'a>>,
}

impl<'a> Reader<'a> {
    pub(super) fn read(
        json: &'a [u8],
        limits: &JsonLimits,
        keep: bool,
    ) -> Result<JsonValue<'a>, JsonError> {
        let max = limits.max_document_bytes;
        if json.len() > max {
            return Err(JsonError::new(
                JsonErrorKind::TooLong {
                    max,
                    found: json.len(),
                },
                max,
            ));
        }
        let text = std::str::from_utf8(json)
            .map_err(|error| JsonError::new(JsonErrorKind::NotUtf8, error.valid_up_to()))?;
        let (levels, values, members) = (limits.max_depth, limits.max_values, Vec::new());
        Self {
            text,
            at: 0,
            limits: *limits,
            levels,
            values,
            keep,
            members,
        }
        .document()
        .map_err(|error| *error)
    }

    fn document(mut self) -> Fallible<JsonValue<'a>> {
        self.skip_white_space();
        let value = self.value()?;
        self.skip_white_space();
        if self.peek().is_some() {
            Err(self.expected("the end of the text"))
        } else {
            Ok(value)
        }
    }

    fn value(&mut self) -> Fallible<JsonValue<'a>> {
        let max = self.limits.max_values;
        self.values = self
            .values
            .checked_sub(1)
            .ok_or_else(|| self.fault(JsonErrorKind::TooManyValues { max }))?;
        match self.peek() {
            Some(b'"') => self.string(self.keep).map(JsonValue::String),
            Some(b'{') => self.nested(Self::object).map(JsonValue::Object),
            Some(b'[') => self.nested(Self::array).map(JsonValue::Array),
            Some(b'-' | b'0'..=b'9') => self.number().map(JsonValue::Number),
            Some(b't') => self.word("true", JsonValue::Bool(true)),
            Some(b'f') => self.word("false", JsonValue::Bool(false)),
            Some(b'n') => self.word("null", JsonValue::Null),
            _ => Err(self.expected("a value")),
        }
    }

    /// Reads an object or an array whose opening bracket is next.
    fn nested<T>(&mut self, read: fn(&mut Self) -> Fallible<T>) -> Fallible<T> {
        let max = self.limits.max_depth;
        self.levels = self
            .levels
            .checked_sub(1)
            .ok_or_else(|| self.fault(JsonErrorKind::TooDeep { max }))?;
        self.at += 1;
        self.skip_white_space();
        let read = read(self)?;
        self.levels += 1;
        Ok(read)
    }

    fn object(&mut self) -> Fallible<JsonObject<'a>> {
        if self.eat(b'}') {
            return Ok(JsonObject(Vec::new()));
        }
        let first = self.members.len();
        loop {
            let name_at = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.expected("a member name"));
            }
            let name = self.string(true)?;
            let own = self.members.get(first..).unwrap_or_default();
            if own.len() < MAX_SCANNED_MEMBERS && own.iter().any(|member| member.name == name) {
                return Err(duplicate(&name, name_at));
            }
            self.skip_white_space();
            if !self.eat(b':') {
                return Err(self.expected("a colon"));
            }
            self.skip_white_space();
            let value_at = self.at;
            let value = self.value().map_err(|error| error.inside(&name))?;
            let json = self.text.get(value_at..self.at).unwrap_or_default();
            self.members.push(JsonMember { name, value, json });
            self.skip_white_space();
            if self.eat(b'}') {
                break;
            }
            if !self.eat(b',') {
                return Err(self.expected("a comma or the end of the object"));
            }
            self.skip_white_space();
        }
        let own = self.members.drain(first..);
        if own.len() > MAX_SCANNED_MEMBERS {
            refuse_duplicates(own.as_slice(), self.text)?;
        }
        Ok(JsonObject(if self.keep {
            own.collect()
        } else {
            Vec::new()
        }))
    }

    fn array(&mut self) -> Fallible<Vec<JsonValue<'a>>> {
        let mut elements = Vec::new();
        if self.eat(b']') {
            return Ok(elements);
        }
        for index in 0_usize.. {
            let element = self
                .value()
                .map_err(|error| error.inside(&index.to_string()))?;
            if self.keep {
                elements.push(element);
            }
            self.skip_white_space();
            if self.eat(b']') {
                break;
            }
            if !self.eat(b',') {
                return Err(self.expected("a comma or the end of the array"));
            }
            self.skip_white_space();
        }
        Ok(elements)
    }

    /// Reads a string whose opening quotation mark is next.
    fn string(&mut self, keep: bool) -> Fallible<Cow<'a, str>> {
        let start = self.at + 1;
        let (mut end, mut escaped) = (start, false);
        loop {
            end += plain_length(self.text.as_bytes().get(end..).unwrap_or_default());
            match self.text.as_bytes().get(end) {
                Some(b'"') => break,
                Some(b'\\') => (end, escaped) = (end + 2, true),
                found => {
                    self.at = end.min(self.text.len());
                    let expected = if found.is_some() {
                        "no control character"
                    } else {
                        "the end of the string"
                    };
                    return Err(self.expected(expected));
                }
            }
        }
        let inner = self.text.get(start..end).unwrap_or_default();
        self.at = end + 1;
        if !escaped {
            return Ok(Cow::Borrowed(inner));
        }
        // Allocates the whole capacity at once, because growth would leave copies of a secret in
        // memory.
        let mut text = String::with_capacity(if keep { inner.len() } else { 0 });
        let replace = self.limits.replace_lone_surrogates;
        match unescape(inner, keep.then_some(&mut text), replace) {
            Ok(()) => Ok(Cow::Owned(text)),
            Err((fault, at)) => Err(Box::new(JsonError::new(fault, start + at))),
        }
    }

    fn number(&mut self) -> Fallible<JsonNumber<'a>> {
        let start = self.at;
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _sign = self.eat(b'+') || self.eat(b'-');
            self.digits()?;
        }
        Ok(JsonNumber(
            self.text.get(start..self.at).unwrap_or_default(),
        ))
    }

    fn digits(&mut self) -> Fallible<()> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if length == 0 {
            return Err(self.expected("a digit"));
        }
        self.at += length;
        Ok(())
    }

    fn word(&mut self, word: &str, value: JsonValue<'a>) -> Fallible<JsonValue<'a>> {
        if !self
            .text
            .as_bytes()
            .get(self.at..)
            .is_some_and(|rest| rest.starts_with(word.as_bytes()))
        {
            return Err(self.expected("a value"));
        }
        self.at += word.len();
        Ok(value)
    }

    fn skip_white_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expected(&self, expected: &'static str) -> Box<JsonError> {
        self.fault(JsonErrorKind::Syntax { expected })
    }

    fn fault(&self, fault: JsonErrorKind) -> Box<JsonError> {
        Box::new(JsonError::new(fault, self.at))
    }
}

/// The number of members up to which each name is compared with every earlier one.
const MAX_SCANNED_MEMBERS: usize = 16;

fn duplicate(name: &str, at: usize) -> Box<JsonError> {
    Box::new(JsonError::new(JsonErrorKind::DuplicateMember, at)).inside(name)
}

/// Finds duplicates by sorting, for objects with more than [`MAX_SCANNED_MEMBERS`] members of
/// `text`.
fn refuse_duplicates(members: &[JsonMember<'_>], text: &str) -> Fallible<()> {
    let mut sorted: Vec<&JsonMember<'_>> = members.iter().collect();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    let twice = sorted
        .iter()
        .zip(sorted.iter().skip(1))
        .find(|(first, second)| first.name == second.name);
    match twice {
        Some((_, second)) => Err(duplicate(
            &second.name,
            second
                .json
                .as_ptr()
                .addr()
                .saturating_sub(text.as_ptr().addr()),
        )),
        None => Ok(()),
    }
}
