//! Messages as JSON, made from SPEC.md's tables and not from the library's types, so that they can
//! have forms that no type allows.

use crate::invented::Invented;
use bankrail_values::{Clock as _, SystemClock};
use bankrail_webhook::{EachKind, MessageKind};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::Duration;

/// The members of each kind: `minimal` has the required ones, `key` those of the duplicate key, and
/// `more` the others. The specification leaves the members of `mandate_details` open.
static MEMBERS: LazyLock<EachKind<Value>> = LazyLock::new(|| {
    let read = |members| serde_json::from_str(members).expect("a test reads the messages");
    EachKind {
        mandate_outcome: read(include_str!("messages/mandate_outcome.json")),
        mandate_notification: read(include_str!("messages/mandate_notification.json")),
        payment_outcome: read(include_str!("messages/payment_outcome.json")),
        query: read(include_str!("messages/query.json")),
    }
});

/// The methods that make messages with invented values.
impl Invented {
    fn members(&self, kind: MessageKind, which: &str) -> Value {
        Values::new(self).fill(MEMBERS.get(kind).get(which).unwrap_or(&Value::Null))
    }

    /// Returns a message with only the required members.
    pub(super) fn minimal(&self, kind: MessageKind) -> Value {
        self.members(kind, "minimal")
    }

    /// Returns a message with the required members and those of the duplicate key.
    pub(super) fn usual(&self, kind: MessageKind) -> Value {
        with(self.minimal(kind), &self.members(kind, "key"))
    }

    /// Returns a message with every member.
    pub(super) fn whole(&self, kind: MessageKind) -> Value {
        with(self.usual(kind), &self.members(kind, "more"))
    }
}

/// The values that names in JSON stand for, such as `$uuid` for a new UUID each time. `$text:20`
/// stands for a text of 20 characters. Equal names with `#`, such as `$uuid#request`, stand for the
/// same value everywhere. A text after `+` is appended to the value. `$now:60` is a minute ago,
/// `$absent` leaves a member out, and `$$` begins a text with one `$`.
pub(super) struct Values<'a> {
    invented: &'a Invented,
    named: HashMap<String, String>,
}

impl<'a> Values<'a> {
    pub(super) fn new(invented: &'a Invented) -> Self {
        Self {
            invented,
            named: HashMap::new(),
        }
    }

    /// Returns the JSON of a row, with the names of values replaced by the values.
    pub(super) fn fill(&mut self, json: &Value) -> Value {
        let mut value = json.clone();
        self.replace(&mut value);
        value
    }

    fn replace(&mut self, value: &mut Value) {
        match value {
            Value::Array(values) => values.iter_mut().for_each(|value| self.replace(value)),
            Value::Object(members) => members.values_mut().for_each(|value| self.replace(value)),
            Value::String(text) => {
                let Some(name) = text.strip_prefix('$').filter(|name| *name != "absent") else {
                    return;
                };
                if let Some(literal) = name.strip_prefix('$') {
                    *text = format!("${literal}");
                    return;
                }
                let (name, behind) = name.split_once('+').unwrap_or((name, ""));
                let value = match name.split_once('#') {
                    Some((name, one)) => self
                        .named
                        .entry(one.to_owned())
                        .or_insert_with(|| new(self.invented, name))
                        .clone(),
                    None => new(self.invented, name),
                };
                *text = value + behind;
            }
            _ => {}
        }
    }
}

/// Returns the value of a name.
fn new(invented: &Invented, name: &str) -> String {
    let (name, of) = name.split_once(':').unwrap_or((name, ""));
    let simple = || invented.uuid().to_simple().to_string();
    // A UUID of version 1 without hyphens, here of random digits; its 17th character is the
    // variant.
    let time_uuid = |variant: &str| {
        let mut digits = simple();
        digits.replace_range(12..13, "1");
        digits.replace_range(16..17, variant);
        digits
    };
    let length = || of.parse::<u32>().unwrap_or_default();
    match name {
        "now" => SystemClock
            .now()
            .saturating_sub(Duration::from_secs(length().into()))
            .to_string(),
        "uuid" => invented.uuid().to_string(),
        "simple" => simple(),
        "time_uuid" => time_uuid(if of.is_empty() { "a" } else { of }),
        "hyphenated" => {
            let mut text = invented.uuid().to_string();
            text.replace_range(14..15, if of.is_empty() { "1" } else { of });
            text
        }
        "upper" => time_uuid("a").replacen(|digit: char| digit.is_ascii_digit(), "F", 1),
        "version" => simple()
            .chars()
            .enumerate()
            .map(|(at, own)| {
                if at == 12 {
                    of.chars().next().unwrap_or(own)
                } else {
                    own
                }
            })
            .collect(),
        "long" => time_uuid("a") + "0",
        "short" => time_uuid("a").split_off(1),
        "text" => simple()
            .to_uppercase()
            .chars()
            .cycle()
            // Lossless: `usize` has at least 32 bits.
            .take(length() as usize)
            .collect(),
        // Lossless, as above.
        character => character.repeat(length() as usize),
    }
}

/// Returns a message with these members in place of those that it has, and without those that are
/// `$absent`. Objects are merged, member by member.
pub(super) fn with(mut message: Value, members: &Value) -> Value {
    put(&mut message, members);
    message
}

fn put(target: &mut Value, members: &Value) {
    match (target, members) {
        (Value::Object(target), Value::Object(members)) => {
            for (name, value) in members {
                if value == "$absent" {
                    target.remove(name);
                } else {
                    put(target.entry(name.clone()).or_insert(Value::Null), value);
                }
            }
        }
        (target, value) => *target = value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bankrail_webhook::{Message, RuleClass};

    #[test]
    fn good_messages_break_no_rule_and_none_is_a_duplicate() {
        let invented = Invented::new(7);
        let id = invented.uuid();
        for kind in MessageKind::ALL {
            for make in [Invented::minimal, Invented::usual, Invented::whole] {
                let read = |message: Value| {
                    Message::from_json(kind, message.to_string().as_bytes()).unwrap()
                };
                let (one, two) = (read(make(&invented, kind)), read(make(&invented, kind)));
                // The specification leaves open which values occur together in real messages.
                let mut findings = one.findings.iter().map(|finding| finding.rule.class());
                assert!(
                    findings.all(|class| class == RuleClass::Consistency),
                    "{kind}: {:?}",
                    one.findings
                );
                // Without members of the duplicate key, the key of the delivery counts.
                let keyless = kind.answers_a_request() && one.message.to_json().len() < 100;
                let same = one.message.duplicate_key("", id) == two.message.duplicate_key("", id);
                assert_eq!(same, keyless, "{kind}");
            }
        }
    }

    #[test]
    fn whole_messages_have_every_member_of_the_samples() {
        use bankrail_webhook::samples;
        for sample in samples::all() {
            let whole = Invented::new(7).whole(sample.kind());
            let sample: Value = serde_json::from_str(&sample.to_json()).unwrap();
            for name in sample.as_object().unwrap().keys() {
                assert!(whole.get(name).is_some(), "{name}");
            }
        }
    }
}
