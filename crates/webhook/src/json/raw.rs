//! Raw JSON values, split into members and elements with nothing lost.

use crate::error::MessageError;
use crate::json::Context;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// More members than any message has; above it an object is refused.
pub(crate) const MAX_MEMBERS: usize = 256;
/// Deeper than any message goes; below it a value is refused.
pub(crate) const MAX_DEPTH: usize = 32;

/// The kind of a JSON value, for error texts.
pub(crate) fn kind(value: &RawValue) -> &'static str {
    match value.get().as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

pub(crate) fn is_null(value: &RawValue) -> bool {
    value.get() == "null"
}

/// The text of a JSON string; `None` for any other value and for a string that is not Unicode (a lone surrogate).
pub(crate) fn text(value: &RawValue) -> Option<Cow<'_, str>> {
    // The value has been read: without an escape its text is what stands between the quotes.
    let inner = value.get().strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str::<Text<'_>>(value.get()).ok().map(|text| text.0)
}

/// Reads the whole octets as one JSON value.
pub(crate) fn root(json: &[u8]) -> Result<&RawValue, MessageError> {
    let json = std::str::from_utf8(json).map_err(|e| MessageError::NotUtf8 { offset: e.valid_up_to() })?;
    serde_json::from_str::<&RawValue>(json).map_err(MessageError::syntax)
}

/// The members of an object, in their order.
pub(crate) struct Members<'a>(pub(crate) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// Splits an object and refuses duplicate members.
    pub(crate) fn split(value: &'a RawValue, at: &Context) -> Result<Self, MessageError> {
        if !value.get().starts_with('{') {
            return Err(at.wrong_type("an object", value));
        }
        let object: Object<'a> = serde_json::from_str(value.get()).map_err(MessageError::syntax)?;
        if object.too_many {
            return Err(MessageError::TooManyMembers { pointer: at.pointer(), allowed: MAX_MEMBERS });
        }
        if let Some(name) = repeated(&object.members) {
            return Err(MessageError::DuplicateMember { pointer: at.pointer_to(name) });
        }
        Ok(Self(object.members))
    }

    /// Takes a member out.
    pub(crate) fn take(&mut self, name: &str) -> Option<&'a RawValue> {
        let position = self.0.iter().position(|(candidate, _)| candidate == name)?;
        Some(self.0.remove(position).1)
    }
}

/// A name that stands twice.
fn repeated<'m>(members: &'m [(Cow<'_, str>, &RawValue)]) -> Option<&'m str> {
    const FEW: usize = 16;
    if members.len() <= FEW {
        let earlier = |at: usize| members.iter().take(at).map(|(name, _)| name);
        let twice = members.iter().enumerate().find(|(at, (name, _))| earlier(*at).any(|other| other == name));
        return twice.map(|(_, (name, _))| name.as_ref());
    }
    let mut names: Vec<&str> = members.iter().map(|(name, _)| name.as_ref()).collect();
    names.sort_unstable();
    names.windows(2).find(|pair| pair.first() == pair.last())?.first().copied()
}

/// The elements of an array.
pub(crate) fn elements<'a>(value: &'a RawValue, at: &Context) -> Result<Vec<&'a RawValue>, MessageError> {
    if !value.get().starts_with('[') {
        return Err(at.wrong_type("an array", value));
    }
    let array: Array<'a> = serde_json::from_str(value.get()).map_err(MessageError::syntax)?;
    Ok(array.0)
}

/// Checks a value that no rule names: no duplicate members at any depth, strings that are Unicode, not too deep.
pub(crate) fn check_deep(value: &RawValue, at: &mut Context, depth: usize) -> Result<(), MessageError> {
    if depth > MAX_DEPTH {
        return Err(MessageError::TooDeep { pointer: at.pointer(), allowed: MAX_DEPTH });
    }
    match value.get().as_bytes().first() {
        Some(b'{') => {
            for (name, member) in Members::split(value, at)?.0 {
                at.within_unknown(&name, |at| check_deep(member, at, depth + 1))?;
            }
        }
        Some(b'[') => {
            for (index, element) in elements(value, at)?.into_iter().enumerate() {
                at.within_index(index, |at| check_deep(element, at, depth + 1))?;
            }
        }
        Some(b'"') if text(value).is_none() => return Err(at.wrong_type("a string of Unicode text", value)),
        _ => {}
    }
    Ok(())
}

/// Writes a value with sorted members, no white space and one spelling of each string; numbers stay as written.
/// The value has been read before, so it is not too deep and has no duplicates. `skip` names a member to leave out
/// at the top.
pub(crate) fn canonical(value: &RawValue, skip: Option<&str>, out: &mut Vec<u8>) {
    let at = Context::default();
    match value.get().as_bytes().first() {
        Some(b'{') => {
            let mut members = Members::split(value, &at).map(|members| members.0).unwrap_or_default();
            members.sort_by(|a, b| a.0.cmp(&b.0));
            out.push(b'{');
            let mut first = true;
            for (name, member) in members.iter().filter(|(name, _)| Some(name.as_ref()) != skip) {
                if !std::mem::take(&mut first) {
                    out.push(b',');
                }
                write_text(name, out);
                out.push(b':');
                canonical(member, None, out);
            }
            out.push(b'}');
        }
        Some(b'[') => {
            out.push(b'[');
            for (index, element) in elements(value, &at).unwrap_or_default().into_iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                canonical(element, None, out);
            }
            out.push(b']');
        }
        Some(b'"') => match text(value) {
            Some(text) => write_text(&text, out),
            None => out.extend_from_slice(value.get().as_bytes()),
        },
        _ => out.extend_from_slice(value.get().as_bytes()),
    }
}

/// Writes a JSON string.
pub(crate) fn write_text(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, text).expect("writing text to memory does not fail");
}

struct Text<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        from.deserialize_str(TextVisitor)
    }
}

struct Object<'a> {
    members: Vec<(Cow<'a, str>, &'a RawValue)>,
    too_many: bool,
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct ObjectVisitor;
        impl<'de> Visitor<'de> for ObjectVisitor {
            type Value = Object<'de>;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut object = Object { members: Vec::with_capacity(16), too_many: false };
                while let Some(Text(name)) = map.next_key()? {
                    if object.members.len() == MAX_MEMBERS {
                        object.too_many = true;
                        map.next_value::<IgnoredAny>()?;
                    } else {
                        object.members.push((name, map.next_value()?));
                    }
                }
                Ok(object)
            }
        }
        from.deserialize_map(ObjectVisitor)
    }
}

struct Array<'a>(Vec<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Array<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct ArrayVisitor;
        impl<'de> Visitor<'de> for ArrayVisitor {
            type Value = Array<'de>;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an array")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Array<'de>, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = seq.next_element()? {
                    elements.push(element);
                }
                Ok(Array(elements))
            }
        }
        from.deserialize_seq(ArrayVisitor)
    }
}
