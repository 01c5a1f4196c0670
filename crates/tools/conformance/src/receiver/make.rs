//! Makes the deliveries that rows ask for.

use super::delivery::Delivery;
use super::forge::By;
use super::messages::{Values, with};
use super::rows::{Asks, Make, Message, Row};
use super::session::Session;
use crate::error::JudgeError;
use bankrail_webhook::MessageKind;
use bankrail_webhook::headers::PRIORITY;
use serde_json::{Value, json};

/// The deliveries of a row; `None` if they need a key that was not given.
pub(super) fn deliveries(
    session: &Session,
    row: &Row,
    kind: MessageKind,
) -> Result<Option<Vec<Delivery>>, JudgeError> {
    let invented = &session.target.invented;
    let values = Values::new(invented);
    let mut maker = Maker {
        session,
        kind,
        values,
        message: Value::Null,
        before: None,
    };
    let made = match &row.asks {
        Asks::Messages(all) => {
            let seal = |message: &Message| {
                let (kind, members) = (
                    message.kind().unwrap_or(kind),
                    maker.values.fill(&message.1),
                );
                session.sealed(kind, &message.0, &with(invented.usual(kind), &members))
            };
            all.iter().map(seal).collect::<Result<_, _>>()?
        }
        Asks::Deliveries(all) => all
            .iter()
            .map(|(what, make)| maker.make(what, make))
            .collect::<Result<_, _>>()?,
        Asks::Made(all) => all(invented, kind)
            .iter()
            .map(|(what, message)| session.sealed(kind, what, message))
            .collect::<Result<_, _>>()?,
        Asks::Priorities => {
            let with = |priority: &str| {
                let delivery =
                    session.sealed(kind, &format!("priority {priority}"), &invented.usual(kind));
                delivery.map(|delivery| delivery.with(PRIORITY, priority))
            };
            kind.priorities()
                .iter()
                .map(|priority| with(priority.as_str()))
                .collect::<Result<_, _>>()?
        }
        Asks::WrongPriorities => {
            let cases = session.kinds().into_iter().flat_map(|kind| {
                let wrong = [
                    "ATTENDED",
                    "UNATTENDED ATTENDED",
                    "attended",
                    "Unattended",
                    "HIGH",
                    "1",
                ]
                .into_iter();
                let is_wrong = move |value: &&str| {
                    kind.priorities()
                        .iter()
                        .all(|right| right.as_str() != *value)
                };
                wrong.filter(is_wrong).map(move |wrong| (kind, wrong))
            });
            let with = |(kind, priority): (MessageKind, &str)| {
                let name = format!("priority {priority} of {}", kind.specification_name());
                session
                    .sealed(kind, &name, &invented.usual(kind))
                    .map(|delivery| delivery.with(PRIORITY, priority))
            };
            cases.map(with).collect::<Result<_, _>>()?
        }
        Asks::SwappedKeys => {
            let Some([own, large]) = &session.kids else {
                return Ok(None);
            };
            let text = invented.usual(kind).to_string();
            let swapped = |what: &str, kid: &str, by: By| {
                let jws =
                    session
                        .forge
                        .jws(&json!({"alg": "RS256", "kid": kid}), text.as_bytes(), by)?;
                let jwe = session.forge.encrypted(&json!({}), jws.as_bytes())?;
                Ok::<_, JudgeError>(session.carried(kind, what, jwe.compact()))
            };
            vec![
                swapped(
                    "one of the first key that names the key of 4096 bits",
                    large,
                    By::Provider,
                )?,
                swapped(
                    "one of the key of 4096 bits that names the first key",
                    own,
                    By::Large,
                )?,
            ]
        }
        Asks::LargeKey => {
            let Some(large) = &session.large else {
                return Ok(None);
            };
            vec![session.sealed_by(large, kind, "the message", &invented.usual(kind))?]
        }
    };
    Ok(Some(made))
}

/// What the deliveries of one row have in common.
struct Maker<'a> {
    session: &'a Session,
    kind: MessageKind,
    values: Values<'a>,
    /// The message before, and its delivery.
    message: Value,
    before: Option<Delivery>,
}

impl Maker<'_> {
    fn make(&mut self, what: &str, make: &Make) -> Result<Delivery, JudgeError> {
        let (session, kind, forge) = (self.session, self.kind, &self.session.forge);
        let invented = &session.target.invented;
        let message = invented.usual(kind);
        let text = message.to_string();
        let carried = |compact| session.carried(kind, what, compact);
        let encrypted = |jws: String| {
            forge
                .encrypted(&json!({}), jws.as_bytes())
                .map(|jwe| carried(jwe.compact()))
        };
        let signed =
            |alg: &str, by| forge.jws(&forge.signed_header(alg, &json!({})), text.as_bytes(), by);
        let delivery = match make {
            Make::Whole => self.sealed(kind, what, invented.whole(kind))?,
            Make::Later => {
                let later = json!({"release": {"minor": 7}, "later": [1, null, "two"]});
                self.sealed(kind, what, with(message, &later))?
            }
            Make::Again => match &self.before {
                Some(before) => before.clone().named(what),
                None => self.sealed(kind, what, message)?,
            },
            Make::Regenerated => {
                let later = self.values.fill(&json!({"creation_date_time": "$now"}));
                self.sealed(kind, what, with(self.message.clone(), &later))?
            }
            Make::Sent(change) => change(self.sealed(kind, what, message)?),
            Make::ApiKey(value) => {
                let delivery = self.sealed(kind, what, message)?;
                match (&session.target.api_key, value) {
                    (Some((name, _)), Some(value)) => delivery.with(name.as_str(), value),
                    (Some((name, _)), None) => delivery.without(name.as_str()),
                    (None, _) => delivery,
                }
            }
            Make::Text(change) => carried(forge.sealed(&json!({}), &json!({}), &change(text))?),
            Make::Signed(alg, by) => encrypted(signed(alg, *by)?)?,
            Make::Jws(jws) => encrypted(jws(forge, text.as_bytes())?)?,
            Make::Encrypted(alg, enc) => carried(
                forge
                    .jwe(
                        alg,
                        enc,
                        &json!({}),
                        signed("RS256", By::Provider)?.as_bytes(),
                    )?
                    .compact(),
            ),
            Make::Changed(change) => {
                let mut jwe =
                    forge.encrypted(&json!({}), signed("RS256", By::Provider)?.as_bytes())?;
                change(&mut jwe);
                carried(jwe.compact())
            }
            Make::Carried(compact) => carried(compact(forge, text.as_bytes())?),
            Make::Body(body) => {
                let sealed = forge.sealed(&json!({}), &json!({}), text.as_bytes())?;
                session
                    .target
                    .delivery(kind, what, body(&sealed, &text).into_bytes())
            }
        };
        self.before = Some(delivery.clone());
        Ok(delivery)
    }

    /// A good delivery of a message, which is remembered.
    fn sealed(
        &mut self,
        kind: MessageKind,
        what: &str,
        message: Value,
    ) -> Result<Delivery, JudgeError> {
        self.message = message;
        self.session.sealed(kind, what, &self.message)
    }
}
