//! Makes the deliveries of a row.

use super::super::forge::{Change, Part, Signer};
use super::super::messages::{Values, with};
use super::super::{Delivery, Provider};
use super::{Content, Made, Message, Row, one};
use crate::error::JudgeError;
use bankrail_webhook::MessageKind;
use bankrail_webhook::headers::PRIORITY;
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

/// The levels of nested JSON.
const DEEP_LEVELS: usize = 60_000;
/// The bytes of a large body.
const LARGE_BYTES: usize = 100 << 20;

/// The recipe of one delivery.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Recipe {
    /// A message with every member.
    Whole,
    /// A usual message with these members.
    Members(Value),
    /// The previous delivery once more.
    Again,
    /// The previous message with another time, sealed again.
    Regenerated,
    /// A usual message with these headers, or without those that are null. `$api_key_header` is the
    /// header of the API key.
    Headers(Value),
    /// A GET, which has no body.
    Get,
    /// A text in place of the message, made from a usual message.
    Text(String),
    /// A message with a byte that is not valid in UTF-8.
    NotUtf8,
    /// A usual message with these members in its signed header, and its signer.
    Signed(Value, Signer),
    /// A usual message that a stranger has signed, with the stranger's key in the header.
    BroughtAlong,
    /// A usual message with the signature of another.
    OthersSignature,
    /// A usual message with a bit of its signature flipped.
    FlippedSignature,
    /// A usual message, signed by RS256, with another algorithm's name in the header.
    Renamed(String),
    /// A usual message that is encrypted but not signed.
    Unsigned,
    /// A usual message that is signed but not encrypted.
    Unencrypted,
    /// A usual message that is encrypted first and then signed.
    SignedLast,
    /// A usual message, encrypted by this `alg` and `enc`.
    Encrypted(String, String),
    /// A usual message with these members in its outer and in its signed header.
    Sealed(Value, Value),
    /// A usual message, one part of whose JWE is changed.
    Changed(Part, Change),
    /// A usual message with white space added to the header of its JWE.
    Respelled,
    /// A usual message whose tag does not cover its header.
    Unbound,
    /// A usual message that is compressed before it is encrypted.
    Compressed,
    /// A message of 100 MiB that is compressed, with its signer.
    Bomb(Signer),
    /// A usual message with a header of 100,000 characters.
    LongHeader,
    /// A body, made of a usual message.
    Body(String),
}

impl Row {
    /// Makes the deliveries of the row; returns `None` if they need a key that was not given.
    /// `working` has the kinds whose receivers accept good messages.
    pub(in super::super) fn deliveries(
        &self,
        provider: &Provider,
        kind: MessageKind,
        working: &[MessageKind],
    ) -> Result<Option<Vec<Delivery>>, JudgeError> {
        let invented = &provider.invented;
        let mut values = Values::new(invented);
        let made = match &self.content {
            Content::Messages(all) => {
                let seal = |message: &Message| {
                    let kind = message.kind().unwrap_or(kind);
                    let members = values.fill(&message.1);
                    provider.sealed(kind, &message.0, &with(invented.usual(kind), &members))
                };
                all.iter().map(seal).collect::<Result<_, _>>()?
            }
            Content::Deliveries(all) => {
                let mut maker = Maker {
                    provider,
                    kind,
                    values,
                    message: Value::Null,
                    before: None,
                };
                all.iter()
                    .map(|(what, make)| maker.make(what, make))
                    .collect::<Result<_, _>>()?
            }
            Content::Made(made) => return made.deliveries(provider, kind, working),
        };
        Ok(Some(made))
    }
}

impl Made {
    fn deliveries(
        &self,
        provider: &Provider,
        kind: MessageKind,
        working: &[MessageKind],
    ) -> Result<Option<Vec<Delivery>>, JudgeError> {
        let invented = &provider.invented;
        let messages = |all: Vec<(String, Value)>| {
            all.iter()
                .map(|(what, message)| provider.sealed(kind, what, message))
                .collect::<Result<_, _>>()
        };
        let prioritised = |kind: MessageKind, priority: &str, what: &str| {
            let delivery = provider.sealed(kind, what, &invented.usual(kind));
            delivery.map(|delivery| delivery.with(PRIORITY, priority))
        };
        let signed = |what: &str, kid: Option<&String>, by: Signer| {
            let kid = kid.map_or("$absent", String::as_str);
            let (forge, text) = (&provider.forge, invented.usual(kind).to_string());
            // The headers are those of an ordinary message, so that the key alone is judged.
            let headers = json!({ "kid": kid, "typ": "JWT" });
            let jws = forge.signed_by(&headers, text.as_bytes(), by)?;
            let jwe = forge.encrypted(&json!({ "cty": "JWT" }), jws.as_bytes())?;
            Ok::<_, JudgeError>(provider.carried(kind, what, jwe.compact()))
        };
        let made = match self {
            Self::Incomplete | Self::Nulls => {
                let (what, value) = match self {
                    Self::Incomplete => ("without", json!("$absent")),
                    _ => ("with null as", Value::Null),
                };
                let required = invented.minimal(kind);
                let names = required.as_object().into_iter().flatten();
                let cases = names.map(|(name, _)| {
                    let message = with(invented.usual(kind), &json!({ name.as_str(): value }));
                    (format!("one {what} {name}"), message)
                });
                messages(cases.collect())?
            }
            Self::Others => {
                let others = MessageKind::ALL.into_iter().filter(|other| *other != kind);
                messages(
                    others
                        .map(|other| (one(other), invented.usual(other)))
                        .collect(),
                )?
            }
            Self::Priorities => kind
                .priorities()
                .iter()
                .map(|priority| {
                    let priority = priority.as_str();
                    prioritised(kind, priority, &format!("priority {priority}"))
                })
                .collect::<Result<_, _>>()?,
            Self::WrongPriorities => {
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
                    let what = format!("priority {priority} of {}", kind.specification_name());
                    prioritised(kind, priority, &what)
                };
                cases.map(with).collect::<Result<_, _>>()?
            }
            Self::SwappedKeys => {
                let Some([Some(own), Some(large)]) = &provider.kids else {
                    return Ok(None);
                };
                vec![
                    signed(
                        "one of the first key that names the key of 4096 bits",
                        Some(large),
                        Signer::Provider,
                    )?,
                    signed(
                        "one of the key of 4096 bits that names the first key",
                        Some(own),
                        Signer::Large,
                    )?,
                ]
            }
            Self::LargeKey => {
                let Some([_, large]) = &provider.kids else {
                    return Ok(None);
                };
                vec![signed("the message", large.as_ref(), Signer::Large)?]
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
    /// The previous message and its delivery.
    message: Value,
    before: Option<Delivery>,
}

impl Maker<'_> {
    fn make(&mut self, what: &str, make: &Recipe) -> Result<Delivery, JudgeError> {
        let (provider, kind, forge) = (self.provider, self.kind, &self.provider.forge);
        let invented = &provider.invented;
        let message = invented.usual(kind);
        let text = message.to_string();
        let usual = text.as_bytes();
        let carried = |compact| provider.carried(kind, what, compact);
        let sealed = |text: &[u8]| forge.sealed(&json!({}), &json!({}), text);
        let encrypted = |plain: &[u8]| {
            let jwe = forge.encrypted(&json!({}), plain)?;
            Ok::<_, JudgeError>(carried(jwe.compact()))
        };
        let delivery = match make {
            Recipe::Whole => self.sealed(what, invented.whole(kind))?,
            Recipe::Members(members) => self.sealed(what, with(message, members))?,
            Recipe::Again => match &self.before {
                Some(before) => before.clone().named(what),
                None => self.sealed(what, message)?,
            },
            Recipe::Regenerated => {
                let later = self.values.fill(&json!({"creation_date_time": "$now"}));
                self.sealed(what, with(self.message.clone(), &later))?
            }
            Recipe::Headers(headers) => {
                let (headers, api_key) = (self.values.fill(headers), provider.api_key.as_ref());
                let change = |delivery: Delivery, (name, value): (&String, &Value)| {
                    let name = api_key
                        .filter(|_| name == "$api_key_header")
                        .map_or(name.as_str(), |(name, _)| name.as_str());
                    match value.as_str() {
                        Some(value) => delivery.with(name, value),
                        None => delivery.without(name),
                    }
                };
                let delivery = self.sealed(what, message)?;
                let headers = headers.as_object().into_iter().flatten();
                headers.fold(delivery, change)
            }
            Recipe::Get => Delivery {
                method: Method::GET,
                ..self.sealed(what, message)?
            },
            Recipe::Text(template) => carried(sealed(filled(template, &text, "").as_bytes())?),
            Recipe::NotUtf8 => {
                let members = filled("{$members", &text, "");
                carried(sealed(&[members.as_bytes(), b",\"x\":\"\xff\"}"].concat())?)
            }
            Recipe::Signed(header, by) => {
                encrypted(forge.signed_by(header, usual, *by)?.as_bytes())?
            }
            Recipe::BroughtAlong => {
                let header = json!({ "jwk": forge.strangers_jwk() });
                encrypted(
                    forge
                        .signed_by(&header, usual, Signer::Stranger)?
                        .as_bytes(),
                )?
            }
            Recipe::OthersSignature => encrypted(forge.others_signature(usual)?.as_bytes())?,
            Recipe::FlippedSignature => encrypted(forge.flipped_signature(usual)?.as_bytes())?,
            Recipe::Renamed(alg) => encrypted(forge.renamed(usual, alg)?.as_bytes())?,
            Recipe::Unsigned => carried(forge.encrypted(&json!({"cty": "json"}), usual)?.compact()),
            Recipe::Unencrypted => carried(forge.signed(usual)?),
            Recipe::SignedLast => {
                let jwe = forge.encrypted(&json!({}), usual)?;
                carried(forge.signed(jwe.compact().as_bytes())?)
            }
            Recipe::Encrypted(alg, enc) => {
                let jws = forge.signed(usual)?;
                let jwe = forge.jwe(alg, enc, &json!({}), jws.as_bytes(), true)?;
                carried(jwe.compact())
            }
            Recipe::Sealed(outer, inner) => carried(forge.sealed(outer, inner, usual)?),
            Recipe::Changed(part, change) => carried(forge.changed(usual, *part, change)?),
            Recipe::Respelled => {
                let mut jwe = forge.encrypted(&json!({}), forge.signed(usual)?.as_bytes())?;
                // The header has the same members, but the tag covers other bytes.
                jwe.header = jwe.header.replacen(':', ": ", 1);
                carried(jwe.compact())
            }
            Recipe::Unbound => {
                let jws = forge.signed(usual)?;
                let (alg, enc) = ("RSA-OAEP", "A256CBC-HS512");
                carried(
                    forge
                        .jwe(alg, enc, &json!({}), jws.as_bytes(), false)?
                        .compact(),
                )
            }
            Recipe::Compressed => carried(forge.compressed(usual)?),
            Recipe::Bomb(by) => carried(forge.bomb(usual, *by, LARGE_BYTES)?),
            Recipe::LongHeader => {
                let header = json!({ "x".repeat(100_000): 1 });
                carried(forge.sealed(&header, &json!({}), usual)?)
            }
            Recipe::Body(template) => {
                let body = filled(template, &text, &sealed(usual)?);
                provider.delivery(kind, what, body.into_bytes())
            }
        };
        // Stored after the change, so that the same bytes can be delivered again.
        self.before = Some(delivery.clone());
        Ok(delivery)
    }

    /// Returns a correct delivery of a message, and remembers it.
    fn sealed(&mut self, what: &str, message: Value) -> Result<Delivery, JudgeError> {
        self.message = message;
        self.provider.sealed(self.kind, what, &self.message)
    }
}

/// Replaces the names of values in a template: `$message` is the message, `$members` the message
/// without its braces, and `$sealed` the sealed message.
fn filled(template: &str, message: &str, sealed: &str) -> String {
    let value = |name: &str| match name {
        "$message" => message.to_owned(),
        "$members" => {
            let members = message.strip_prefix('{');
            let members = members.and_then(|members| members.strip_suffix('}'));
            members.unwrap_or_default().to_owned()
        }
        "$sealed" => sealed.to_owned(),
        "$four_parts" => sealed.rsplit_once('.').unwrap_or_default().0.to_owned(),
        "$escaped" => sealed.replace('.', "\\u002e"),
        "$nested" => "[".repeat(DEEP_LEVELS) + &"]".repeat(DEEP_LEVELS),
        _ => "A".repeat(LARGE_BYTES),
    };
    [
        "$message",
        "$members",
        "$sealed",
        "$four_parts",
        "$escaped",
        "$nested",
        "$large",
    ]
    .into_iter()
    .filter(|name| template.contains(name))
    .fold(template.to_owned(), |text, name| {
        text.replace(name, &value(name))
    })
}
