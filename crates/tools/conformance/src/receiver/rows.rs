//! The rows of the judge of receivers, as data: for each of them its clause, its title, the kinds
//! of messages, what it delivers and what is right. A session judges them in the order of the
//! files.

mod recipes;

use crate::row::{BEYOND, Demand};
use bankrail_webhook::MessageKind;
use recipes::Recipe;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// All rows except those of [`HOSTILE`], those about the first messages, and those about all
/// answers.
pub(super) static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    // The first rows show if the receiver's ids reveal that a message is known.
    let files = [
        include_str!("rows/deliveries.json"),
        include_str!("rows/origin.json"),
        include_str!("rows/forms.json"),
        include_str!("rows/accepted.json"),
        include_str!("rows/refused.json"),
    ];
    files.into_iter().flat_map(read).collect()
});

/// Rows whose deliveries crash weak receivers, and a row about a good message after them. They come
/// last, because a receiver may stay down.
pub(super) static HOSTILE: LazyLock<Vec<Row>> =
    LazyLock::new(|| read(include_str!("rows/hostile.json")));

fn read(rows: &str) -> Vec<Row> {
    serde_json::from_str(rows).expect("a test reads the rows")
}

/// Returns the kind with a name.
fn kind(name: &str) -> MessageKind {
    name.parse::<MessageKind>().expect("a test reads the rows")
}

/// One row of the data, which makes a row of the judgement for each of its kinds of messages.
#[derive(Deserialize)]
pub(super) struct Row {
    id: Id,
    pub(super) kinds: Kinds,
    /// The title, in which `{one}` stands for `a` and the message's name, `{name}` for the name,
    /// and `{priorities}` for the priorities that the message may have.
    title: String,
    #[serde(default)]
    pub(super) expected: Expected,
    #[serde(flatten)]
    content: Content,
}

/// The clause of a row: the same for each kind of message, or a different one for each kind that
/// SPEC.md has a clause for.
#[derive(Deserialize)]
#[serde(untagged)]
enum Id {
    Same(String),
    Each(BTreeMap<String, String>),
}

/// The kinds of messages of a row.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kinds {
    /// Every kind, even if its receiver does not accept good messages.
    Every,
    /// The kinds whose receivers accept good messages.
    Working,
    /// The first working kind, for code that all receivers share, such as the code that opens
    /// messages.
    First,
    /// The working kinds with a key that is echoed.
    Echoing,
    /// The working kinds, if the receivers expect an API key.
    Authenticated,
    /// The kind of this name.
    #[serde(untagged)]
    One(String),
}

/// The expected reaction of the receiver.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Expected {
    /// Each delivery is acknowledged.
    #[default]
    Acknowledged,
    /// Each delivery is acknowledged. The ids then show if the receiver repeats the id of a known
    /// message.
    Known,
    /// Each delivery is acknowledged, all of them under one id if the receiver repeats the ids of
    /// known messages.
    Same,
    /// Two simultaneous deliveries are acknowledged, under one id if the receiver repeats the ids
    /// of known messages.
    Together,
    /// Each delivery is acknowledged under its own id.
    Other,
    /// No delivery is acknowledged, which passes, or each is, which is noted; a mix fails.
    Judged,
    /// Usually no delivery is acknowledged; the specification leaves this open.
    Open,
    /// No delivery is acknowledged, and the receiver answers the next good message as before.
    Refused,
    /// No delivery is acknowledged, and all answers look alike.
    Alike,
    /// The next good message is acknowledged; the delivery itself may be acknowledged or not.
    Survived,
    /// The next good message is acknowledged, and the delivery is not.
    SurvivedAndRefused,
}

impl Expected {
    /// Returns the demand on the receiver of a row that expects this.
    pub(super) fn demand(self) -> Demand {
        match self {
            Self::Acknowledged
            | Self::Known
            | Self::Same
            | Self::Together
            | Self::Other
            | Self::Survived => Demand::Service,
            Self::Judged | Self::Open | Self::Refused | Self::Alike | Self::SurvivedAndRefused => {
                Demand::Refusal
            }
        }
    }
}

/// The deliveries of a row.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Content {
    /// Usual messages with these members.
    Messages(Vec<Message>),
    /// Deliveries, each with its name for verdicts.
    Deliveries(Vec<(String, Recipe)>),
    /// Deliveries that depend on the kind of message, or on the provider's keys.
    Made(Made),
}

/// A message: its name for verdicts, its members, and its kind if that is not the row's.
#[derive(Deserialize)]
struct Message(String, Value, #[serde(default)] Option<String>);

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Made {
    /// A message without each of its required members.
    Incomplete,
    /// A message with null in place of each of its required members.
    Nulls,
    /// The messages of the other kinds.
    Others,
    /// A usual message with each priority that it may have.
    Priorities,
    /// A usual message of each kind with each priority that it may not have.
    WrongPriorities,
    /// A usual message that the key of 4096 bits has signed.
    LargeKey,
    /// A usual message of each key of the provider under the name of the other.
    SwappedKeys,
}

impl Message {
    fn kind(&self) -> Option<MessageKind> {
        self.2.as_deref().map(kind)
    }
}

impl Kinds {
    /// Selects these kinds among those whose receivers accept good messages.
    pub(super) fn of(&self, working: Vec<MessageKind>, has_api_key: bool) -> Vec<MessageKind> {
        match self {
            Self::One(name) => vec![kind(name)],
            Self::Every => MessageKind::ALL.into(),
            Self::Working => working,
            Self::First => working.into_iter().take(1).collect(),
            Self::Echoing => working
                .into_iter()
                .filter(|kind| kind.answers_a_request())
                .collect(),
            Self::Authenticated if has_api_key => working,
            Self::Authenticated => Vec::new(),
        }
    }
}

impl Row {
    pub(super) fn id(&self, kind: MessageKind) -> &str {
        match &self.id {
            Id::Same(id) => id,
            Id::Each(ids) => ids.get(kind.as_str()).map_or(BEYOND, String::as_str),
        }
    }

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

/// Returns the name of one message of a kind, for titles.
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
    use crate::invented::Invented;

    #[test]
    fn every_row_of_the_files_can_be_read_and_filled() {
        let mut count = 0;
        for row in ROWS.iter().chain(HOSTILE.iter()) {
            for kind in row.kinds.of(MessageKind::ALL.into(), true) {
                let id = row.id(kind);
                assert!(id == BEYOND || crate::row::place(id).is_some(), "{id}");
            }
            let Content::Messages(messages) = &row.content else {
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
                    message.kind().is_none_or(
                        |kind| !matches!(&row.kinds, Kinds::One(own) if own == kind.as_str())
                    ),
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
