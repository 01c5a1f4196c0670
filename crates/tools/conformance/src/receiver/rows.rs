//! The rows of the judge of receivers, as data: for each of them its clause, its title, whom it
//! asks, what it delivers and what is right. [`Session`] reads them in this order.

mod deliveries;
mod forms;
mod hostile;
mod origin;
mod repeats;

pub(super) use deliveries::MEMBERS;
pub(super) use hostile::{AFTER, HOSTILE};

use super::delivery::Delivery;
use super::forge::{By, Forge, Jwe};
use super::session::Session;
use crate::error::JudgeError;
use crate::invented::Invented;
pub(super) use crate::row::BEYOND;
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
    let cases = |cases: &'static [Case], right| cases.iter().map(move |case| case.row(right));
    // What is made comes first: it shows whether the receiver's ids tell that a message is known.
    made.chain(cases(&ACCEPTED, Right::Acknowledged))
        .chain(cases(&REFUSED, Right::Refused))
}

/// Rows that are messages of one kind: usual ones with these members.
static ACCEPTED: LazyLock<Vec<Case>> = LazyLock::new(|| read(include_str!("rows/accepted.json")));
static REFUSED: LazyLock<Vec<Case>> = LazyLock::new(|| read(include_str!("rows/refused.json")));

#[derive(Deserialize)]
struct Case {
    id: String,
    kind: String,
    title: String,
    /// What is right, if it is not that of the file.
    right: Option<Right>,
    messages: Vec<Message>,
}

/// Its name in verdicts, its members, and its kind if it is not that of the row.
#[derive(Deserialize)]
pub(super) struct Message(
    pub(super) String,
    pub(super) Value,
    #[serde(default)] Option<String>,
);

fn read(rows: &str) -> Vec<Case> {
    serde_json::from_str(rows).expect("a test reads the rows")
}

/// The kind of this name.
fn kind(name: &str) -> MessageKind {
    MessageKind::from_name(name).expect("a test reads the rows")
}

impl Case {
    fn row(&'static self, right: Right) -> Row {
        let (id, on) = (same(&self.id), On::One(kind(&self.kind)));
        Row {
            id,
            on,
            title: &self.title,
            right: self.right.unwrap_or(right),
            asks: Asks::Messages(&self.messages),
        }
    }
}

impl Message {
    pub(super) fn kind(&self) -> Option<MessageKind> {
        self.2.as_deref().map(kind)
    }
}

/// One row; one for each kind of message that it asks about.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) id: EachKind<&'static str>,
    pub(super) on: On,
    /// `{one}` is `a` and the message's name, `{name}` the name, `{priorities}` those that it may
    /// have.
    title: &'static str,
    pub(super) right: Right,
    pub(super) asks: Asks,
}

/// The kinds of messages that a row asks about.
#[derive(Clone, Copy)]
pub(super) enum On {
    One(MessageKind),
    Each(fn(&Session) -> Vec<MessageKind>),
}

/// What is right.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Right {
    /// Each delivery is acknowledged.
    Acknowledged,
    /// Each is acknowledged. Whether all have one id is open, and says whether ids tell that a
    /// message is known.
    Known,
    /// Each is acknowledged, all of them under one id if ids tell that a message is known.
    Same,
    /// The same, of two deliveries at once.
    Together,
    /// Each is acknowledged under an id of its own.
    Other,
    /// No delivery is acknowledged, or each is: what the specification states is judged as a whole
    /// or not at all.
    Judged,
    /// It is usual that no delivery is acknowledged; the specification and what is known beside it
    /// leave it open.
    Open,
    /// No delivery is acknowledged, and the receiver answers the next good message as before.
    Refused,
    /// No delivery is acknowledged, and all answers look alike.
    Alike,
    /// The next good message is acknowledged, whatever becomes of the delivery.
    Survived,
    /// The next good message is acknowledged, and the delivery is not.
    SurvivedAndRefused,
}

/// What is delivered.
#[derive(Clone, Copy)]
pub(super) enum Asks {
    /// Usual messages with these members.
    Messages(&'static [Message]),
    /// Deliveries, each with the name that a verdict calls it by.
    Deliveries(&'static [(&'static str, Make)]),
    /// These messages, each with a name.
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

/// How a delivery is made.
#[derive(Clone, Copy)]
pub(super) enum Make {
    /// Every member.
    Whole,
    /// A usual message with more members, which a later release may have.
    Later,
    /// The delivery before this one.
    Again,
    /// The message before this one at another time, sealed anew.
    Regenerated,
    /// A usual message whose delivery is changed.
    Sent(fn(Delivery) -> Delivery),
    /// A usual message with this value in the header of the API key.
    ApiKey(Option<&'static str>),
    /// This text in place of the message, made of a usual one.
    Text(fn(String) -> Vec<u8>),
    /// A usual message, signed by this `alg`.
    Signed(&'static str, By),
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

/// The kinds that a row asks about, whether their receivers take good messages or not.
const EVERY: On = On::Each(|_| MessageKind::ALL.into());
/// Those whose receivers take good messages.
const WORKING: On = On::Each(Session::kinds);
/// One of them, for what all receivers share, such as the code that opens messages.
const FIRST: On = On::Each(|session| session.kinds().into_iter().take(1).collect());

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
const fn usual(title: &'static str, deliveries: &'static [(&'static str, Make)]) -> Row {
    Row {
        id: same(BEYOND),
        on: WORKING,
        title,
        right: Right::Open,
        asks: Asks::Deliveries(deliveries),
    }
}

const fn accepts(
    id: EachKind<&'static str>,
    on: On,
    title: &'static str,
    deliveries: &'static [(&'static str, Make)],
) -> Row {
    Row {
        id,
        on,
        title,
        right: Right::Acknowledged,
        asks: Asks::Deliveries(deliveries),
    }
}

const fn refuses(
    id: &'static str,
    on: On,
    title: &'static str,
    deliveries: &'static [(&'static str, Make)],
) -> Row {
    Row {
        id: same(id),
        on,
        title,
        right: Right::Refused,
        asks: Asks::Deliveries(deliveries),
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

impl On {
    pub(super) fn kinds(&self, session: &Session) -> Vec<MessageKind> {
        match self {
            Self::One(kind) => vec![*kind],
            Self::Each(kinds) => kinds(session),
        }
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
            let Asks::Messages(messages) = row.asks else {
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
                        .is_none_or(|kind| !matches!(row.on, On::One(own) if own == kind)),
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
