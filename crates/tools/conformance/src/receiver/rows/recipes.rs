//! Makes the deliveries of a row.

use super::super::messages::{Values, with};
use super::super::{Delivery, Provider};
use super::{Content, Message, Recipe, Row, Signer};
use crate::error::JudgeError;
use bankrail_webhook::MessageKind;
use bankrail_webhook::headers::PRIORITY;
use serde_json::{Value, json};

impl Row {
    /// Makes the deliveries of the row; `None` if they need a key that was not given.
    /// `working` are the kinds whose receivers take good messages.
    pub(in super::super) fn deliveries(
        &self,
        provider: &Provider,
        kind: MessageKind,
        working: &[MessageKind],
    ) -> Result<Option<Vec<Delivery>>, JudgeError> {
        let invented = &provider.invented;
        let values = Values::new(invented);
        let mut maker = Maker {
            provider,
            kind,
            values,
            message: Value::Null,
            before: None,
        };
        let made = match &self.content {
            Content::Messages(all) => {
                let seal = |message: &Message| {
                    let (kind, members) = (
                        message.kind().unwrap_or(kind),
                        maker.values.fill(&message.1),
                    );
                    provider.sealed(kind, &message.0, &with(invented.usual(kind), &members))
                };
                all.iter().map(seal).collect::<Result<_, _>>()?
            }
            Content::Deliveries(all) => all
                .iter()
                .map(|(what, make)| maker.make(what, make))
                .collect::<Result<_, _>>()?,
            Content::Made(all) => all(invented, kind)
                .iter()
                .map(|(what, message)| provider.sealed(kind, what, message))
                .collect::<Result<_, _>>()?,
            Content::Priorities => {
                let with = |priority: &str| {
                    let delivery = provider.sealed(
                        kind,
                        &format!("priority {priority}"),
                        &invented.usual(kind),
                    );
                    delivery.map(|delivery| delivery.with(PRIORITY, priority))
                };
                kind.priorities()
                    .iter()
                    .map(|priority| with(priority.as_str()))
                    .collect::<Result<_, _>>()?
            }
            Content::WrongPriorities => {
                let cases = working.iter().copied().flat_map(|kind| {
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
                    provider
                        .sealed(kind, &name, &invented.usual(kind))
                        .map(|delivery| delivery.with(PRIORITY, priority))
                };
                cases.map(with).collect::<Result<_, _>>()?
            }
            Content::SwappedKeys => {
                let Some([own, large]) = &provider.kids else {
                    return Ok(None);
                };
                let text = invented.usual(kind).to_string();
                let swapped = |what: &str, kid: &str, by: Signer| {
                    let jws = provider.forge.jws(
                        &json!({"alg": "RS256", "kid": kid}),
                        text.as_bytes(),
                        by,
                    )?;
                    let jwe = provider.forge.encrypted(&json!({}), jws.as_bytes())?;
                    Ok::<_, JudgeError>(provider.carried(kind, what, jwe.compact()))
                };
                vec![
                    swapped(
                        "one of the first key that names the key of 4096 bits",
                        large,
                        Signer::Provider,
                    )?,
                    swapped(
                        "one of the key of 4096 bits that names the first key",
                        own,
                        Signer::Large,
                    )?,
                ]
            }
            Content::LargeKey => {
                let Some(large) = &provider.large else {
                    return Ok(None);
                };
                vec![provider.sealed_by(large, kind, "the message", &invented.usual(kind))?]
            }
        };
        Ok(Some(made))
    }
}

/// The common parts of the deliveries of one row.
struct Maker<'a> {
    provider: &'a Provider,
    kind: MessageKind,
    values: Values<'a>,
    /// The message before, and its delivery.
    message: Value,
    before: Option<Delivery>,
}

impl Maker<'_> {
    fn make(&mut self, what: &str, make: &Recipe) -> Result<Delivery, JudgeError> {
        let (provider, kind, forge) = (self.provider, self.kind, &self.provider.forge);
        let invented = &provider.invented;
        let message = invented.usual(kind);
        let text = message.to_string();
        let carried = |compact| provider.carried(kind, what, compact);
        let encrypted = |jws: String| {
            forge
                .encrypted(&json!({}), jws.as_bytes())
                .map(|jwe| carried(jwe.compact()))
        };
        let delivery = match make {
            Recipe::Whole => self.sealed(kind, what, invented.whole(kind))?,
            Recipe::Later => {
                let later = json!({"release": {"minor": 7}, "later": [1, null, "two"]});
                self.sealed(kind, what, with(message, &later))?
            }
            Recipe::Again => match &self.before {
                Some(before) => before.clone().named(what),
                None => self.sealed(kind, what, message)?,
            },
            Recipe::Regenerated => {
                let later = self.values.fill(&json!({"creation_date_time": "$now"}));
                self.sealed(kind, what, with(self.message.clone(), &later))?
            }
            Recipe::Header(name, value) => {
                let delivery = self.sealed(kind, what, message)?;
                match value {
                    Some(value) => delivery.with(name, value),
                    None => delivery.without(name),
                }
            }
            Recipe::Sent(change) => change(self.sealed(kind, what, message)?),
            Recipe::ApiKey(value) => {
                let delivery = self.sealed(kind, what, message)?;
                match (&provider.api_key, value) {
                    (Some((name, _)), Some(value)) => delivery.with(name.as_str(), value),
                    (Some((name, _)), None) => delivery.without(name.as_str()),
                    (None, _) => delivery,
                }
            }
            Recipe::Text(change) => carried(forge.sealed(&json!({}), &json!({}), &change(text))?),
            Recipe::Signed(alg, by) => {
                let header = forge.signed_header(alg, &json!({}));
                encrypted(forge.jws(&header, text.as_bytes(), *by)?)?
            }
            Recipe::Jws(jws) => encrypted(jws(forge, text.as_bytes())?)?,
            Recipe::Encrypted(alg, enc) => {
                let jws = forge.signed(text.as_bytes())?;
                carried(
                    forge
                        .jwe(alg, enc, &json!({}), jws.as_bytes(), true)?
                        .compact(),
                )
            }
            Recipe::Changed(change) => {
                let jws = forge.signed(text.as_bytes())?;
                let mut jwe = forge.encrypted(&json!({}), jws.as_bytes())?;
                change(&mut jwe);
                carried(jwe.compact())
            }
            Recipe::Carried(compact) => carried(compact(forge, text.as_bytes())?),
            Recipe::Body(body) => {
                let sealed = forge.sealed(&json!({}), &json!({}), text.as_bytes())?;
                provider.delivery(kind, what, body(&sealed, &text).into_bytes())
            }
        };
        // After the change, so that the same bytes can be delivered again.
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
        self.provider.sealed(kind, what, &self.message)
    }
}
