//! The rows of the judge of receivers, as data: for each of them its clause, its title, whom it
//! asks, what it delivers and what is right. A session judges them in this order.

mod deliveries;
mod forms;
mod hostile;
mod origin;
mod recipes;
mod repeats;

pub(super) use hostile::{AFTER, HOSTILE};

use super::Delivery;
use super::forge::{Forge, Jwe, Signer};
use crate::error::JudgeError;
use crate::invented::Invented;
use crate::row::BEYOND;
use bankrail_webhook::{EachKind, MessageKind};
use serde::Deserialize;
use serde_json::Value;
use std::sync::LazyLock;

/// Every row but those of [`HOSTILE`] and [`AFTER`], and those about the first messages and about
/// all answers.
pub(super) fn rows() -> impl Iterator<Item = Row> {
    let made = [deliveries::ROWS, repeats::ROWS, origin::ROWS, forms::ROWS]
        .into_iter()
        .flatten()
        .copied();
    let cases = |cases: &'static [Case], expected| cases.iter().map(move |case| case.row(expected));
    // First the rows that show if the receiver's ids reveal that a message is known.
    made.chain(cases(&ACCEPTED, Expected::Acknowledged))
        .chain(cases(&REFUSED, Expected::Refused))
}

/// Rows that are messages of one kind: usual ones with these members.
static ACCEPTED: LazyLock<Vec<Case>> = LazyLock::new(|| read(include_str!("rows/accepted.json")));
static REFUSED: LazyLock<Vec<Case>> = LazyLock::new(|| read(include_str!("rows/refused.json")));

#[derive(Deserialize)]
struct Case {
    id: String,
    kind: String,
    title: String,
    /// The expectation, if it is not that of the file.
    expected: Option<Expected>,
    messages: Vec<Message>,
}

/// Its name in verdicts, its members, and its kind if it is not that of the row.
#[derive(Deserialize)]
struct Message(String, Value, #[serde(default)] Option<String>);

fn read(rows: &str) -> Vec<Case> {
    serde_json::from_str(rows).expect("a test reads the rows")
}

/// The kind of this name.
fn kind(name: &str) -> MessageKind {
    MessageKind::from_name(name).expect("a test reads the rows")
}

impl Case {
    fn row(&'static self, expected: Expected) -> Row {
        let (id, kinds) = (same(&self.id), Kinds::One(kind(&self.kind)));
        Row {
            id,
            kinds,
            title: &self.title,
            expected: self.expected.unwrap_or(expected),
            content: Content::Messages(&self.messages),
        }
    }
}

impl Message {
    fn kind(&self) -> Option<MessageKind> {
        self.2.as_deref().map(kind)
    }
}

/// One row; one for each kind of message that it asks about.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) id: EachKind<&'static str>,
    pub(super) kinds: Kinds,
    /// `{one}` is `a` and the message's name, `{name}` the name, `{priorities}` those that it may
    /// have.
    title: &'static str,
    pub(super) expected: Expected,
    content: Content,
}

/// The kinds of messages that a row asks about.
#[derive(Clone, Copy)]
pub(super) enum Kinds {
    One(MessageKind),
    /// Every kind, whether its receiver takes good messages or not.
    Every,
    /// The kinds whose receivers take good messages.
    Working,
    /// The first of these, for what all receivers share, such as the code that opens messages.
    First,
    /// The working kinds with a key that is echoed.
    Echoing,
    /// The working kinds, if the receivers expect an API key.
    Authenticated,
}

/// The expected reaction of the receiver.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Expected {
    /// Each delivery is acknowledged.
    Acknowledged,
    /// Each delivery is acknowledged. The ids then show if the receiver repeats the id of a message
    /// that it knows.
    Known,
    /// Each delivery is acknowledged, all of them under one id if the receiver repeats ids of
    /// messages that it knows.
    Same,
    /// The same, of two deliveries at once.
    Together,
    /// Each delivery is acknowledged under its own id.
    Other,
    /// No delivery is acknowledged, or each is: what the specification states is judged as a whole
    /// or not at all.
    Judged,
    /// No delivery is acknowledged, usually. The specification leaves it open.
    Open,
    /// No delivery is acknowledged, and the receiver answers the next good message as before.
    Refused,
    /// No delivery is acknowledged, and all answers look alike.
    Alike,
    /// The next good message is acknowledged; the delivery may be or not.
    Survived,
    /// The next good message is acknowledged, and the delivery is not.
    SurvivedAndRefused,
}

/// The deliveries of a row.
#[derive(Clone, Copy)]
enum Content {
    /// Usual messages with these members.
    Messages(&'static [Message]),
    /// Deliveries, each with the name that a verdict calls it by.
    Deliveries(&'static [(&'static str, Recipe)]),
    /// Messages that a function makes, each with a name.
    Made(fn(&Invented, MessageKind) -> Vec<(String, Value)>),
    /// A usual message with each priority that it may have.
    Priorities,
    /// A usual message of each kind with each priority that it may not have.
    WrongPriorities,
    /// A usual message that the key of 4096 bits has signed.
    LargeKey,
    /// A usual message of each key of the provider under the name of the other.
    SwappedKeys,
}

/// The recipe of one delivery.
#[derive(Clone, Copy)]
enum Recipe {
    /// Every member.
    Whole,
    /// A usual message with more members, which a later release may have.
    Later,
    /// The delivery before this one.
    Again,
    /// The message before this one with another time, sealed again.
    Regenerated,
    /// A usual message whose delivery is changed.
    Sent(fn(Delivery) -> Delivery),
    /// A usual message with this value in a header, or without the header.
    Header(&'static str, Option<&'static str>),
    /// A usual message with this value in the header of the API key.
    ApiKey(Option<&'static str>),
    /// This text in place of the message, made of a usual one.
    Text(fn(String) -> Vec<u8>),
    /// A usual message, signed by this `alg`.
    Signed(&'static str, Signer),
    /// This JWS, made of a usual message.
    Jws(fn(&Forge, &[u8]) -> Result<String, JudgeError>),
    /// A usual message, encrypted by this `alg` and `enc`.
    Encrypted(&'static str, &'static str),
    /// A usual message, one part of whose JWE is changed.
    Changed(fn(&mut Jwe)),
    /// This `secured_payload`, made of a usual message.
    Carried(fn(&Forge, &[u8]) -> Result<String, JudgeError>),
    /// This body, made of a usual message: sealed, and as it is.
    Body(fn(&str, &str) -> String),
}

/// The row about the required members, and about all members, of each kind.
pub(super) const MEMBERS: EachKind<&str> = EachKind {
    mandate_outcome: "S21.4",
    mandate_notification: "S21.9",
    payment_outcome: "S21.13",
    query: "S21.18",
};
const PRIORITIES: EachKind<&str> = EachKind {
    mandate_outcome: "S21.8",
    mandate_notification: "S21.11",
    payment_outcome: "S21.17",
    query: "S21.20",
};
const REQUEST_KEYS: EachKind<&str> = EachKind {
    mandate_outcome: "S21.5",
    mandate_notification: BEYOND,
    payment_outcome: "S21.14",
    query: BEYOND,
};
const MESSAGE_IDS: EachKind<&str> = EachKind {
    mandate_outcome: "S21.6",
    mandate_notification: "S21.10",
    payment_outcome: "S21.15",
    query: "S21.19",
};
const CORRELATIONS: EachKind<&str> = EachKind {
    mandate_outcome: "S21.7",
    mandate_notification: BEYOND,
    payment_outcome: "S21.16",
    query: BEYOND,
};

/// The same id for each kind.
const fn same(id: &'static str) -> EachKind<&'static str> {
    EachKind {
        mandate_outcome: id,
        mandate_notification: id,
        payment_outcome: id,
        query: id,
    }
}

/// A row about what is usual and open.
const fn usual(title: &'static str, deliveries: &'static [(&'static str, Recipe)]) -> Row {
    Row {
        id: same(BEYOND),
        kinds: Kinds::Working,
        title,
        expected: Expected::Open,
        content: Content::Deliveries(deliveries),
    }
}

const fn accepts(
    id: EachKind<&'static str>,
    kinds: Kinds,
    title: &'static str,
    deliveries: &'static [(&'static str, Recipe)],
) -> Row {
    Row {
        id,
        kinds,
        title,
        expected: Expected::Acknowledged,
        content: Content::Deliveries(deliveries),
    }
}

const fn refuses(
    id: &'static str,
    kinds: Kinds,
    title: &'static str,
    deliveries: &'static [(&'static str, Recipe)],
) -> Row {
    Row {
        id: same(id),
        kinds,
        title,
        expected: Expected::Refused,
        content: Content::Deliveries(deliveries),
    }
}

impl Row {
    pub(super) fn title(&self, kind: MessageKind) -> String {
        let priorities: Vec<&str> = kind
            .priorities()
            .iter()
            .map(|priority| priority.as_str())
            .collect();
        self.title
            .replace("{one}", &one(kind))
            .replace("{name}", kind.specification_name())
            .replace("{priorities}", &priorities.join(" or "))
    }
}

/// One message of a kind, for titles.
pub(super) fn one(kind: MessageKind) -> String {
    let name = kind.specification_name();
    format!(
        "{} {name}",
        if name.starts_with("MPIR") { "an" } else { "a" }
    )
}

#[cfg(test)]
mod tests {
    use super::super::messages::Values;
    use super::*;

    #[test]
    fn every_row_of_the_files_can_be_read_and_filled() {
        let mut count = 0;
        for row in rows() {
            let Content::Messages(messages) = row.content else {
                continue;
            };
            for message in messages {
                let filled = Values::new(&Invented::new(7)).fill(&message.1);
                assert!(
                    filled.is_object()
                        && !filled
                            .to_string()
                            .replace("$absent", "")
                            .replace("$12.50", "")
                            .contains('$'),
                    "{filled}"
                );
                assert!(
                    message
                        .kind()
                        .is_none_or(|kind| !matches!(row.kinds, Kinds::One(own) if own == kind)),
                    "{filled}"
                );
                count += 1;
            }
        }
        assert!(count >= 828, "rows are added, and none is lost: {count}");
        assert_eq!(
            MessageKind::ALL.map(one).join(", "),
            "a MandateActionOutcome, a MandateNotification, an MPIRActionOutcome, a QueryNotification"
        );
    }
}
