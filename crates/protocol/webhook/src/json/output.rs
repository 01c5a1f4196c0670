//! Writing messages, for the wire and for fingerprints.

use bankrail_values::json::{JsonValue, read, write_string};
use std::fmt::{Display, Write as _};
use std::ops::Range;

/// A message's JSON under construction.
pub(crate) struct Output {
    json: String,
    /// True to sort members by name and leave out the top-level member [`SKIPPED`].
    canonical: bool,
}

/// The member that differs in each regeneration of a message.
const SKIPPED: &str = "creation_date_time";

/// A capacity that few objects of a message exceed.
const MEMBERS: usize = 16;

impl Output {
    /// Returns an output for delivery, with members in the order of their declaration.
    pub(crate) fn plain() -> Self {
        Self {
            json: String::with_capacity(2048),
            canonical: false,
        }
    }

    /// Returns an output of canonical JSON: sorted members, no white space, and one spelling of
    /// each string; numbers keep their spelling.
    pub(crate) fn canonical() -> Self {
        Self {
            canonical: true,
            ..Self::plain()
        }
    }

    pub(crate) fn finish(self) -> String {
        self.json
    }

    pub(crate) fn string(&mut self, text: &str) {
        write_string(text, &mut self.json);
    }

    /// Writes as a string a value that is displayed without any character that JSON escapes.
    pub(crate) fn displayed(&mut self, value: &impl Display) {
        write!(self.json, "\"{value}\"").expect("a String takes all");
    }

    /// Writes JSON text unchanged.
    pub(crate) fn raw(&mut self, json: &str) {
        self.json.push_str(json);
    }

    pub(crate) fn object<'n>(&mut self, members: impl FnOnce(&mut ObjectOut<'_, 'n>)) {
        self.raw("{");
        let names = Vec::with_capacity(if self.canonical { MEMBERS } else { 0 });
        let mut object = ObjectOut {
            start: self.json.len(),
            names,
            out: self,
        };
        members(&mut object);
        object.sort();
        self.raw("}");
    }

    pub(crate) fn array<T>(&mut self, elements: &[T], write: impl Fn(&T, &mut Self)) {
        self.raw("[");
        for (index, element) in elements.iter().enumerate() {
            if index > 0 {
                self.raw(",");
            }
            write(element, self);
        }
        self.raw("]");
    }

    /// Writes a value that was read.
    pub(crate) fn value(&mut self, value: &JsonValue<'_>) {
        match value {
            JsonValue::Null => self.raw("null"),
            JsonValue::Bool(true) => self.raw("true"),
            JsonValue::Bool(false) => self.raw("false"),
            JsonValue::Number(number) => self.raw(number.as_str()),
            JsonValue::String(text) => self.string(text),
            JsonValue::Array(elements) => self.array(elements, |element, out| out.value(element)),
            JsonValue::Object(object) => self.object(|out| {
                for member in object.members() {
                    out.member(member.name(), |out| out.value(member.value()));
                }
            }),
        }
    }
}

/// An object under construction.
pub(crate) struct ObjectOut<'o, 'n> {
    out: &'o mut Output,
    /// The place where the object's first member begins.
    start: usize,
    /// The names so far with the place of each member, without its comma, if the members are to be
    /// sorted.
    names: Vec<(&'n str, Range<usize>)>,
}

impl<'n> ObjectOut<'_, 'n> {
    pub(crate) fn member(&mut self, name: &'n str, value: impl FnOnce(&mut Output)) {
        let canonical = self.out.canonical;
        // The first member of the outermost object begins after its brace.
        if canonical && self.start == 1 && name == SKIPPED {
            return;
        }
        if self.out.json.len() > self.start {
            self.out.raw(",");
        }
        let begin = self.out.json.len();
        self.out.string(name);
        self.out.raw(":");
        value(self.out);
        if canonical {
            self.names.push((name, begin..self.out.json.len()));
        }
    }

    /// Writes a member whose value is JSON text that was read before.
    pub(crate) fn raw_member(&mut self, name: &'n str, json: &str) {
        if !self.out.canonical {
            return self.member(name, |out| out.raw(json));
        }
        // The length was bounded when the message was read.
        let value = read(
            json.as_bytes(),
            &super::LIMITS.max_document_bytes(usize::MAX),
        )
        .expect("a value that was read before");
        self.member(name, |out| out.value(&value));
    }

    /// Appends the members again in order, and removes the unordered ones.
    fn sort(&mut self) {
        if self.names.is_sorted_by_key(|(name, _)| name) {
            return;
        }
        let json = &mut self.out.json;
        self.names.sort_unstable_by(|(a, at), (b, bt)| {
            (a, json.get(at.clone())).cmp(&(b, json.get(bt.clone())))
        });
        let end = json.len();
        for (_, member) in &self.names {
            if json.len() > end {
                json.push(',');
            }
            json.extend_from_within(member.clone());
        }
        json.drain(self.start..end);
    }
}
