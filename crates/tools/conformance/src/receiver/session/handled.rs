//! Judges the list of messages that the receivers have handled (Specification: "Events", rules 1
//! and 2).

use super::super::messages::{Values, with};
use super::super::rows::one;
use super::super::{Delivery, Provider, describe};
use super::ReceiverJudge;
use crate::client::address;
use crate::error::JudgeError;
use crate::row::{Verdict, listed};
use bankrail_webhook::MessageKind;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The pause before the list is read again, which is also the time in which a message could be
/// handled twice.
const PAUSE: Duration = Duration::from_millis(500);

const ONCE: &str = "S23.16";
const ORDER: &str = "S23.18";
const REFUSED: (&str, &str) = ("S22.16", "handles no message that it refuses");

/// The orders in which three messages can come.
const ORDERS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];

/// Three outcomes of one mandate or payment, the last of which is final.
struct Story {
    kind: MessageKind,
    title: &'static str,
    statuses: [&'static str; 3],
    /// Another name of the final state.
    end_name: &'static str,
    /// The value that names the mandate or the payment.
    subject: &'static str,
}

const STORIES: [Story; 3] = [
    Story {
        kind: MessageKind::PaymentOutcome,
        title: "a payment ends as settled, in whatever order PDNG, ACSP and ACSC come",
        statuses: ["PDNG", "ACSP", "ACSC"],
        end_name: "payment_settled",
        subject: "$text:35#subject",
    },
    Story {
        kind: MessageKind::PaymentOutcome,
        title: "a payment ends as rejected, in whatever order PDNG, ACSP and RJCT come",
        statuses: ["PDNG", "ACSP", "RJCT"],
        end_name: "payment_rejected",
        subject: "$text:35#subject",
    },
    Story {
        kind: MessageKind::MandateOutcome,
        title: "a mandate ends as cancelled, in whatever order ACTV, SUSD and CNCD come",
        statuses: ["ACTV", "SUSD", "CNCD"],
        end_name: "mandate_cancelled",
        subject: "$time_uuid#subject",
    },
];

impl Story {
    /// Returns the members of the outcome with a status.
    fn outcome(&self, status: &str, created: &str) -> Value {
        let outcome = match self.kind {
            MessageKind::PaymentOutcome => {
                json!({"instruction_identification": self.subject, "uetr": "$uuid#uetr", "transaction_status": status})
            }
            _ => {
                json!({"mandate_identification": self.subject, "status": "SUCC", "action_type": "STCH",
                "action_status": "CMPL", "mandate_status": status})
            }
        };
        with(outcome, &json!({ "creation_date_time": created }))
    }
}

/// One line of the list: a message that a receiver has handled.
#[derive(Deserialize)]
struct Line {
    /// The event of a line of a journal, in which only messages count.
    event: Option<String>,
    message_id: String,
    /// A name of a mandate or a payment, or an array of them.
    #[serde(default)]
    about: Value,
    state: Option<String>,
    effect: Option<String>,
}

/// The deliveries of one event, with true if all of them were acknowledged.
struct Delivered {
    kind: MessageKind,
    ids: Vec<String>,
    subject: String,
    /// The statuses in the order of delivery.
    order: String,
    taken: bool,
}

/// Checks that the list can be read.
///
/// # Errors
/// [`JudgeError::Handled`].
pub(super) async fn check(session: &ReceiverJudge) -> Result<(), JudgeError> {
    let Some(source) = &session.handled else {
        return Ok(());
    };
    read(&session.provider, source)
        .await
        .map(drop)
        .map_err(|reason| JudgeError::Handled { reason })
}

/// The rows about what was handled.
pub(super) async fn judge(session: &mut ReceiverJudge) -> Result<(), JudgeError> {
    let begin = std::time::Instant::now();
    let kinds = session.kinds();
    let title = |kind| format!("handles {} once, however often it comes", one(kind));
    let stories: Vec<&Story> = STORIES
        .iter()
        .filter(|story| kinds.contains(&story.kind))
        .collect();
    let Some(source) = session.handled.clone().filter(|_| {
        [ONCE, ORDER, REFUSED.0]
            .iter()
            .any(|id| session.wanted.has(id))
    }) else {
        let unseen = || Verdict::not_seen("--handled names a list of what is handled");
        kinds
            .into_iter()
            .for_each(|kind| session.push(ONCE, title(kind), unseen(), begin));
        stories
            .iter()
            .for_each(|story| session.push(ORDER, story.title.to_owned(), unseen(), begin));
        session.push(REFUSED.0, REFUSED.1.to_owned(), unseen(), begin);
        return Ok(());
    };
    let (mut events, mut told) = (Vec::new(), Vec::new());
    for kind in kinds {
        events.push(deliver_thrice(session, kind).await?);
    }
    for story in &stories {
        let mut all = Vec::new();
        for order in ORDERS {
            all.push(tell(session, story, order).await?);
        }
        told.push((story, all));
    }
    // Waits from the last delivery on, because receivers handle messages after they have answered.
    let until = Instant::now() + session.provider.timeout;
    let mut is_last = false;
    let (once, ends, refused) = loop {
        // A list that cannot be read is read again until the time is over.
        let lines = read(&session.provider, &source).await.unwrap_or_default();
        let once: Vec<_> = events
            .iter()
            .map(|event| event.is_handled_once(&lines))
            .collect();
        let ends: Vec<_> = told
            .iter()
            .map(|(story, all)| story.ends_right(all, &lines))
            .collect();
        if is_last {
            break (once, ends, handles_none(&session.taken, &lines));
        }
        // Reads the list once more, because a message may still be handled again.
        is_last = once
            .iter()
            .chain(&ends)
            .all(|verdict| *verdict == Verdict::Passed)
            || Instant::now() >= until;
        // Receivers write the list while they handle messages.
        sleep(PAUSE).await;
    };
    session.push(REFUSED.0, REFUSED.1.to_owned(), refused, begin);
    events
        .iter()
        .zip(once)
        .for_each(|(event, once)| session.push(ONCE, title(event.kind), once, begin));
    stories
        .iter()
        .zip(ends)
        .for_each(|(story, end)| session.push(ORDER, story.title.to_owned(), end, begin));
    Ok(())
}

/// Delivers a message with every member: twice unchanged, and once sealed again under another
/// X-Message-Id.
async fn deliver_thrice(
    session: &mut ReceiverJudge,
    kind: MessageKind,
) -> Result<Delivered, JudgeError> {
    let message = session.provider.invented.whole(kind);
    let again =
        Values::new(&session.provider.invented).fill(&json!({"creation_date_time": "$now"}));
    let first = session.provider.sealed(kind, "a message", &message)?;
    let anew = session.provider.sealed(
        kind,
        "the same message, sealed anew",
        &with(message, &again),
    )?;
    deliver(session, kind, &[first.clone(), first, anew]).await
}

/// Delivers three outcomes in a given order.
async fn tell(
    session: &mut ReceiverJudge,
    story: &Story,
    order: [usize; 3],
) -> Result<Delivered, JudgeError> {
    let mut values = Values::new(&session.provider.invented);
    let subject = values.fill(&json!(story.subject));
    let made = story
        .statuses
        .into_iter()
        .zip(["$now:180", "$now:120", "$now:60"])
        .map(|(status, created)| {
            let members = values.fill(&story.outcome(status, created));
            let message = with(session.provider.invented.usual(story.kind), &members);
            Ok((
                status,
                session.provider.sealed(story.kind, status, &message)?,
            ))
        });
    let made = made.collect::<Result<Vec<_>, JudgeError>>()?;
    let (names, deliveries): (Vec<_>, Vec<_>) = order
        .into_iter()
        .filter_map(|place| made.get(place).cloned())
        .unzip();
    let delivered = deliver(session, story.kind, &deliveries).await?;
    Ok(Delivered {
        subject: subject.as_str().unwrap_or_default().to_owned(),
        order: names.join(", "),
        ..delivered
    })
}

async fn deliver(
    session: &mut ReceiverJudge,
    kind: MessageKind,
    deliveries: &[Delivery],
) -> Result<Delivered, JudgeError> {
    let ids = deliveries
        .iter()
        .map(|delivery| delivery.message_id().to_owned())
        .collect();
    let mut all = Delivered {
        kind,
        ids,
        subject: String::new(),
        order: String::new(),
        taken: true,
    };
    for delivery in deliveries {
        let reply = session.send(delivery).await;
        all.taken &= session.is_acknowledged(kind, &reply);
    }
    Ok(all)
}

const NOT_TAKEN: &str = "the receiver did not take the messages";

impl Delivered {
    fn is_of(&self, line: &Line) -> bool {
        let mut ids = self.ids.iter();
        ids.any(|id| id.eq_ignore_ascii_case(&line.message_id))
    }

    fn is_handled_once(&self, lines: &[Line]) -> Verdict {
        if !self.taken {
            return Verdict::not_run(NOT_TAKEN);
        }
        let count = lines
            .iter()
            .filter(|line| self.is_of(line))
            .filter(|line| line.effect.as_deref() != Some("repeated"))
            .count();
        Verdict::when(count == 1, || {
            format!("expected it to be handled once, found {count} times")
        })
    }
}

/// Returns the verdict on listed messages of deliveries that were never acknowledged.
fn handles_none(taken: &HashMap<String, bool>, lines: &[Line]) -> Verdict {
    let ids = lines.iter().map(|line| line.message_id.to_lowercase());
    let found = ids.filter(|id| taken.get(id) == Some(&false)).count();
    Verdict::when(found == 0, || {
        format!("expected none of them to be listed, found {found}")
    })
}

impl Story {
    fn ends_right(&self, all: &[Delivered], lines: &[Line]) -> Verdict {
        let [_, _, end] = self.statuses;
        let (mut wrong, mut has_lines, mut has_states) = (Vec::new(), false, false);
        for told in all {
            if !told.taken {
                return Verdict::not_run(NOT_TAKEN);
            }
            let of_story = |line: &&Line| {
                let is_about = line.about.to_string().contains(&told.subject);
                is_about || told.is_of(line)
            };
            let own: Vec<_> = lines.iter().filter(of_story).collect();
            has_lines |= !own.is_empty();
            let state = own.iter().rev().find_map(|line| line.state.as_deref());
            has_states |= state.is_some();
            let state = state.unwrap_or("no state");
            let names = [end, self.end_name];
            if !names.iter().any(|name| name.eq_ignore_ascii_case(state)) {
                let found = bankrail_values::excerpt(state);
                wrong.push(format!(
                    "expected {end} after {}, found {found}",
                    told.order
                ));
            }
        }
        if has_lines && !has_states {
            return Verdict::not_seen("the list of --handled has no state of it");
        }
        Verdict::when(wrong.is_empty(), || listed(&wrong))
    }
}

/// Reads the present list. A file that does not exist yet is an empty list.
///
/// # Errors
/// The reason why the list cannot be read.
async fn read(provider: &Provider, source: &str) -> Result<Vec<Line>, String> {
    let text = match address(source) {
        Ok(url) => match provider.get(url).await {
            Ok(answer) if answer.status.is_success() => answer.body,
            other => return Err(describe(&other)),
        },
        Err(_) => match std::fs::read(source) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error.to_string());
            }
            found => found.unwrap_or_default(),
        },
    };
    Ok(lines(&String::from_utf8_lossy(&text)))
}

/// Reads the objects of a JSON array, of lines with one object each, or of a sequence of objects.
/// Other texts are ignored.
fn lines(text: &str) -> Vec<Line> {
    // Some libraries write a byte order mark.
    let text = text.trim_start_matches('\u{feff}');
    let array: Option<Vec<Value>> = serde_json::from_str(text).ok();
    let values = array.unwrap_or_else(|| {
        let lines = text.lines();
        let lines: Vec<Value> = lines
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        if lines.iter().any(Value::is_object) {
            return lines;
        }
        let objects = serde_json::Deserializer::from_str(text).into_iter();
        objects.map_while(Result::ok).collect()
    });
    let lines = values
        .into_iter()
        .filter_map(|value| serde_json::from_value::<Line>(value).ok());
    lines
        .filter(|line| line.event.as_deref().is_none_or(|event| event == "message"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_judged() {
        let journal = r#"{"event":"started","listen":null}
            {"event":"message","message_id":"A","about":["instruction:I1","uetr:U"],"state":"payment_settled"}
            {"event":"duplicate","message_id":"a"}
            {"message_id":"b","about":"I1","state":"PDNG","effect":"repeated"}
            half a li"#;
        let found = lines(journal);
        assert_eq!(found.len(), 2);
        let event = |ids: &[&str], taken| {
            let ids = ids.iter().map(|id| (*id).to_owned()).collect();
            Delivered {
                kind: MessageKind::Query,
                ids,
                subject: "I1".to_owned(),
                order: "ACSC, PDNG".to_owned(),
                taken,
            }
        };
        assert_eq!(event(&["a"], true).is_handled_once(&found), Verdict::Passed);
        assert_eq!(
            event(&["a", "b"], true).is_handled_once(&found),
            Verdict::Passed
        );
        assert!(matches!(
            event(&["c"], true).is_handled_once(&found),
            Verdict::Failed(_)
        ));
        assert!(matches!(
            event(&["a"], false).is_handled_once(&found),
            Verdict::NotRun(_)
        ));
        let none = |taken| handles_none(&HashMap::from([("a".to_owned(), taken)]), &found);
        assert_eq!(none(true), Verdict::Passed);
        assert!(matches!(none(false), Verdict::Failed(_)));
        let told = [event(&[], true)];
        let [settled, ..] = &STORIES;
        let verdict = settled.ends_right(&told, &found);
        assert_eq!(
            verdict,
            Verdict::Failed("expected ACSC after ACSC, PDNG, found \"PDNG\"".to_owned())
        );
        let array = lines(r#"[{"message_id":"a","about":"I1","state":"acsc"}]"#);
        assert_eq!(settled.ends_right(&told, &array), Verdict::Passed);
        // Without any state there is nothing to judge, and without a line nothing was handled.
        let plain = lines(r#"[{"message_id":"a","about":"I1"}]"#);
        let unseen = settled.ends_right(&told, &plain);
        assert!(matches!(unseen, Verdict::NotSeen(_)), "{unseen:?}");
        assert!(matches!(settled.ends_right(&told, &[]), Verdict::Failed(_)));
    }

    #[test]
    fn lists_are_read_in_each_spelling_of_json() {
        for text in [
            "[\r\n  {\r\n    \"message_id\": \"a\"\r\n  }, {\"message_id\": \"b\"}\r\n]\r\n",
            "\u{feff}{\"message_id\":\"a\"}\r\n{\"message_id\":\"\\u0062\"}\r\n",
            "{\n  \"message_id\": \"a\",\n  \"about\": [\n    \"x\"\n  ]\n}\n{\n  \"message_id\": \"b\"\n}\n",
        ] {
            let ids: Vec<_> = lines(text)
                .into_iter()
                .map(|line| line.message_id)
                .collect();
            assert_eq!(ids, ["a", "b"], "{text}");
        }
    }
}
