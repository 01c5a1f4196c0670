//! One run: what was heard so far, and the rows that follow from it.

use super::acknowledgements::Acknowledgements;
use super::delivery::{Answer, Delivery, Heard, ReceiverAddresses, TIMEOUT, Target};
use super::forge::Forge;
use super::make::deliveries;
use super::options::ReceiverJudgeOptions;
use super::rows::{AFTER, BEYOND, HOSTILE, MEMBERS, Right, Row, one};
use crate::client::client;
use crate::error::{JudgeError, failed};
use crate::invented::Invented;
use crate::row;
use crate::row::Verdict;
use crate::selection::Wanted;
use bankrail_jose::{EncryptionKey, SigningKey};
use bankrail_secured_payload::{SealOptions, Sealer, SecuredPayload};
use bankrail_values::excerpt;
use bankrail_webhook::{EachKind, MessageKind};
use http::HeaderValue;
use serde_json::Value;
use std::collections::HashSet;
use std::time::Instant;

/// After so many calls in a row without an answer, the receiver is taken to be down.
const MOST_SILENCE: u32 = 3;

pub(super) struct Session {
    pub(super) target: Target,
    pub(super) forge: Forge,
    pub(super) large: Option<Sealer>,
    /// The names of both keys of the provider, if both have one.
    pub(super) kids: Option<[String; 2]>,
    pub(super) seed: u32,
    /// Where the receivers list what they have handled.
    pub(super) handled: Option<String>,
    sealer: Sealer,
    strict: bool,
    wanted: Wanted,
    /// How the receiver of each kind has acknowledged the first message: with this text as member
    /// `status`. One that says something else than `RCVD` fails in the row about that, and not in
    /// each of the others.
    habits: EachKind<Option<Answer>>,
    /// The status under which the receiver of each kind has refused the first message.
    refusals: EachKind<Option<u16>>,
    acknowledgements: Acknowledgements,
    /// The ids of the acknowledgements since the last row began.
    ids: Vec<String>,
    /// Whether a message that is known is acknowledged under the id that it was first.
    known_by_id: EachKind<bool>,
    /// The first delivery of this run with members of the duplicate key, and the id of its
    /// acknowledgement.
    old: Option<(Delivery, Option<String>)>,
    silence: u32,
    rows: Vec<row::Row>,
}

impl Session {
    pub(super) fn new(
        addresses: ReceiverAddresses,
        signing_key: &SigningKey,
        encryption_key: &EncryptionKey,
        options: ReceiverJudgeOptions,
    ) -> Result<Self, JudgeError> {
        let addresses = addresses.0;
        if addresses.iter().all(|(_, url)| url.is_none()) {
            return Err(JudgeError::NoAddress);
        }
        let ReceiverJudgeOptions {
            api_key,
            api_key_header,
            large_signing_key,
            roots,
            strict,
            seed,
            handled,
            only,
        } = options;
        if let Some(key) = &large_signing_key
            && let bits = key.verifying_key().public_key().bits()
            && bits != 4096
        {
            return Err(JudgeError::KeySize { bits });
        }
        let api_key = api_key.map(|key| {
            let mut value =
                HeaderValue::try_from(key.expose_secret()).map_err(|_| JudgeError::ApiKey)?;
            value.set_sensitive(true);
            Ok::<_, JudgeError>((api_key_header, value))
        });
        Ok(Self {
            target: Target {
                addresses,
                client: client(&roots, TIMEOUT)?,
                api_key: api_key.transpose()?,
                invented: Invented::new(seed),
            },
            seed,
            handled,
            forge: Forge::new(
                signing_key,
                large_signing_key.as_ref(),
                encryption_key.clone(),
            )?,
            kids: large_signing_key
                .as_ref()
                .and_then(|large| Some([signing_key.kid()?, large.kid()?].map(str::to_owned))),
            large: large_signing_key
                .map(|key| Sealer::new(key, encryption_key.clone(), SealOptions::new())),
            sealer: Sealer::new(
                signing_key.clone(),
                encryption_key.clone(),
                SealOptions::new(),
            ),
            strict,
            wanted: Wanted { only, rest: None },
            habits: EachKind::default(),
            refusals: EachKind::default(),
            acknowledgements: Acknowledgements::default(),
            ids: Vec::new(),
            known_by_id: EachKind::default(),
            old: None,
            silence: 0,
            rows: Vec::new(),
        })
    }

    /// Why no receiver takes a good message, and what to check.
    pub(super) fn blocked(&self) -> Option<String> {
        let all: Vec<u16> = self
            .refusals
            .iter()
            .filter_map(|(_, status)| *status)
            .collect();
        let first = *all.first().filter(|_| self.kinds().is_empty())?;
        let check = match first {
            401 | 403 => "check the API key and its header",
            404 | 405 => "check the addresses",
            _ => "check the provider's signing key, the receivers' encryption key and their names",
        };
        Some(format!("no receiver takes a good message: {check}"))
    }

    /// Where the first receiver is: its address without its path.
    pub(super) fn address(&self) -> String {
        let first = self
            .target
            .addresses
            .iter()
            .find_map(|(_, url)| url.as_ref());
        first.map_or_else(String::new, |url| url.origin().ascii_serialization())
    }

    /// Delivers the first good message to each receiver.
    pub(super) async fn begin(&mut self) -> Result<(), JudgeError> {
        let mut silent = None;
        let mut answered = false;
        for (kind, id) in MEMBERS {
            let title = format!("takes {} with the required members alone", one(kind));
            let begin = Instant::now();
            let Some(address) = self
                .target
                .addresses
                .get(kind)
                .as_ref()
                .map(ToString::to_string)
            else {
                self.push(id, title, Verdict::NotRun(NO_ADDRESS.to_owned()), begin);
                continue;
            };
            let delivery = self.sealed(
                kind,
                "the first message",
                &self.target.invented.minimal(kind),
            )?;
            let heard = self.send(&delivery).await;
            match &heard {
                Heard::Nothing(reason) => drop(silent.get_or_insert((address, reason.clone()))),
                Heard::Answer(_) => answered = true,
            }
            let verdict = match heard {
                Heard::Answer(answer) if answer.status.is_success() => {
                    self.acknowledgements.add(&answer);
                    *self.habits.get_mut(kind) = Some(answer);
                    Verdict::Passed
                }
                other => {
                    if let Heard::Answer(answer) = &other {
                        *self.refusals.get_mut(kind) = Some(answer.status.as_u16());
                    }
                    Verdict::Failed(format!(
                        "expected it to be acknowledged, found {}",
                        other.describe()
                    ))
                }
            };
            self.push(id, title, verdict, begin);
        }
        if let (false, Some((address, reason))) = (answered, silent) {
            return Err(JudgeError::Unreachable { address, reason });
        }
        self.silence = 0;
        if let Some(&kind) = self.kinds().first() {
            let old = self.sealed(
                kind,
                "the same delivery, after all the others",
                &self.target.invented.usual(kind),
            )?;
            let id = match self.send(&old).await {
                Heard::Answer(answer) => answer.member("id"),
                Heard::Nothing(_) => None,
            };
            self.old = Some((old, id));
        }
        for (id, title, verdict) in self
            .habits
            .iter()
            .filter_map(|(kind, first)| Some(form(kind, first.as_ref()?)))
            .flatten()
            .collect::<Vec<_>>()
        {
            self.push(id, title, verdict, Instant::now());
        }
        Ok(())
    }

    /// Judges a row, for each kind of message that it asks about.
    pub(super) async fn judge(&mut self, row: &Row) -> Result<(), JudgeError> {
        for kind in row.on.kinds(self) {
            let (id, begin) = (*row.id.get(kind), Instant::now());
            if !self.wants(id) {
                continue;
            }
            let verdict = match deliveries(self, row, kind)? {
                None => Verdict::NotSeen(NO_LARGE_KEY.to_owned()),
                Some(deliveries) => match self.obstacle(&deliveries) {
                    Some(why) => Verdict::NotRun(why),
                    None => self.ask(row.right, &deliveries).await?,
                },
            };
            self.push(id, row.title(kind), verdict, begin);
        }
        Ok(())
    }

    /// Judges the rows about what takes weak receivers down, and what they take afterwards.
    pub(super) async fn endure(&mut self) -> Result<(), JudgeError> {
        let known = "S21.26";
        let Some((old, id)) = self.old.take() else {
            return Ok(());
        };
        if ![known, "S23.22"].into_iter().any(|id| self.wants(id)) {
            return Ok(());
        }
        for row in HOSTILE {
            self.judge(row).await?;
        }
        if self.wants(known) {
            let (begin, old) = (Instant::now(), [old]);
            let verdict = match self.obstacle(&old) {
                Some(why) => Verdict::NotRun(why),
                None => {
                    let verdict = self.each(true, &old).await?;
                    self.ids.extend(id);
                    self.by_ids(verdict, Right::Same, &old)
                }
            };
            self.push(
                known,
                "takes a message that it knows after all of that".to_owned(),
                verdict,
                begin,
            );
        }
        for row in AFTER {
            self.judge(row).await?;
        }
        Ok(())
    }

    async fn ask(&mut self, right: Right, deliveries: &[Delivery]) -> Result<Verdict, JudgeError> {
        match right {
            Right::Acknowledged => self.each(true, deliveries).await,
            Right::Known | Right::Same | Right::Other => {
                let verdict = self.each(true, deliveries).await?;
                Ok(self.by_ids(verdict, right, deliveries))
            }
            Right::Together => self.together(deliveries).await,
            Right::Judged => Ok(self.judged(deliveries).await),
            Right::Open => Ok(match self.each(false, deliveries).await? {
                Verdict::Failed(why) => Verdict::Noted(why),
                verdict => verdict,
            }),
            Right::Refused => self.each(false, deliveries).await,
            Right::Alike => Ok(self.alike(deliveries).await),
            Right::Survived => self.survives(true, deliveries).await,
            Right::SurvivedAndRefused => self.survives(false, deliveries).await,
        }
    }

    /// Passed if each of these deliveries is acknowledged, or none is.
    async fn each(
        &mut self,
        acknowledged: bool,
        deliveries: &[Delivery],
    ) -> Result<Verdict, JudgeError> {
        let mut faults = Vec::new();
        self.ids.clear();
        for delivery in deliveries {
            let heard = self.send(delivery).await;
            match &heard {
                // A receiver may refuse by closing the connection, if it answers the next good
                // message.
                Heard::Nothing(why) if !acknowledged => {
                    if let Some(found) = self.is_down(delivery.kind).await? {
                        let what = &delivery.what;
                        faults.push(format!(
                            "for {what} no answer ({why}), and for a good message after it {found}"
                        ));
                        break;
                    }
                }
                heard if self.is_acknowledged(delivery.kind, heard) != acknowledged => {
                    faults.push(format!("for {} {}", delivery.what, heard.describe()));
                }
                _ => {}
            }
        }
        let expected = if acknowledged {
            "the acknowledgement"
        } else {
            "no acknowledgement"
        };
        Ok(match faults.as_slice() {
            [] => Verdict::Passed,
            [only] => Verdict::Failed(format!("expected {expected}, found {only}")),
            [first, ..] => {
                let of = deliveries.len();
                Verdict::Failed(format!(
                    "expected {expected}, found {first}; {} of {of}",
                    faults.len()
                ))
            }
        })
    }

    /// What the ids of the last acknowledgements say, if each delivery was acknowledged.
    fn by_ids(&mut self, verdict: Verdict, right: Right, deliveries: &[Delivery]) -> Verdict {
        let Some(kind) = deliveries
            .first()
            .map(|delivery| delivery.kind)
            .filter(|_| verdict == Verdict::Passed)
        else {
            return verdict;
        };
        // A row of its own says so.
        if self.ids.iter().any(String::is_empty) {
            return verdict;
        }
        let different = self.ids.iter().collect::<HashSet<_>>().len();
        let tells = self.known_by_id.get_mut(kind);
        match right {
            Right::Known => {
                *tells = different == 1;
                let why = "each delivery is acknowledged under an id of its own: whether it is known cannot be seen";
                if *tells {
                    verdict
                } else {
                    Verdict::Noted(why.to_owned())
                }
            }
            Right::Other => Verdict::when(different == deliveries.len(), || {
                format!(
                    "expected an id for each of {} messages, found {different}",
                    deliveries.len()
                )
            }),
            _ => Verdict::when(!*tells || different == 1, || {
                "expected the id of the first acknowledgement again, found another".to_owned()
            }),
        }
    }

    /// Two deliveries at once.
    async fn together(&mut self, deliveries: &[Delivery]) -> Result<Verdict, JudgeError> {
        let [first, second] = deliveries else {
            return self.each(true, deliveries).await;
        };
        let (one, two) = tokio::join!(self.target.send(first), self.target.send(second));
        self.ids.clear();
        for (delivery, heard) in [(first, &one), (second, &two)] {
            if !self.is_acknowledged(delivery.kind, heard) {
                let what = &delivery.what;
                return Ok(Verdict::Failed(format!(
                    "expected the acknowledgement, found for {what} {}",
                    heard.describe()
                )));
            }
        }
        Ok(self.by_ids(Verdict::Passed, Right::Same, deliveries))
    }

    /// Passed if none of these deliveries is acknowledged, and noted if all are.
    async fn judged(&mut self, deliveries: &[Delivery]) -> Verdict {
        let (mut taken, mut refused) = (Vec::new(), Vec::new());
        for delivery in deliveries {
            let heard = self.send(delivery).await;
            let to = if self.is_acknowledged(delivery.kind, &heard) {
                &mut taken
            } else {
                &mut refused
            };
            to.push(&*delivery.what);
        }
        match (taken.first(), refused.first()) {
            (None, _) => Verdict::Passed,
            (Some(_), None) => Verdict::Noted(
                "it takes every value; whether a receiver judges this is open".to_owned(),
            ),
            (Some(_), Some(other)) => {
                let taken = taken.join(", ");
                Verdict::Failed(format!(
                    "expected no acknowledgement, as for {other}, found one for {taken}"
                ))
            }
        }
    }

    /// Passed if the answers to all of these deliveries look alike.
    async fn alike(&mut self, deliveries: &[Delivery]) -> Verdict {
        let mut first: Option<String> = None;
        for delivery in deliveries {
            let looks = match self.send(delivery).await {
                Heard::Answer(answer) => looks(&answer),
                Heard::Nothing(why) => format!("no answer: {why}"),
            };
            let found = format!("{looks} for {}", delivery.what);
            match &first {
                Some(first) if !first.starts_with(&format!("{looks} for ")) => {
                    return Verdict::Failed(format!(
                        "expected one answer, found {first} and {found}"
                    ));
                }
                _ => drop(first.get_or_insert(found)),
            }
        }
        Verdict::Passed
    }

    /// Passed if the next good message is acknowledged after each of these deliveries, and they are
    /// not unless they may be.
    async fn survives(
        &mut self,
        may_take: bool,
        deliveries: &[Delivery],
    ) -> Result<Verdict, JudgeError> {
        for delivery in deliveries {
            let heard = self.send(delivery).await;
            let taken = self.is_acknowledged(delivery.kind, &heard) && !may_take;
            if let Some(found) = self.is_down(delivery.kind).await? {
                let before = match heard {
                    Heard::Nothing(why) => format!(", after no answer ({why})"),
                    Heard::Answer(_) => String::new(),
                };
                let what = format!(
                    "expected the next good message to be acknowledged, found {found}{before}"
                );
                return Ok(Verdict::Failed(what));
            }
            if taken {
                return Ok(Verdict::Failed(format!(
                    "expected no acknowledgement, found {}",
                    heard.describe()
                )));
            }
        }
        Ok(Verdict::Passed)
    }

    /// The rows about all acknowledgements; then all rows.
    pub(super) fn finish(mut self) -> Vec<row::Row> {
        let begin = Instant::now();
        for (id, title, verdict) in std::mem::take(&mut self.acknowledgements).rows() {
            self.push(id, title, verdict, begin);
        }
        self.rows
    }

    /// What the receiver answers to a good message, if it does not acknowledge it.
    pub(super) async fn is_down(
        &mut self,
        kind: MessageKind,
    ) -> Result<Option<String>, JudgeError> {
        let good = self.sealed(kind, "a good message", &self.target.invented.usual(kind))?;
        let heard = self.send(&good).await;
        if self.is_acknowledged(kind, &heard) {
            return Ok(None);
        }
        // The rows that follow would all fail for this.
        self.silence = MOST_SILENCE;
        Ok(Some(heard.describe()))
    }

    /// Why these deliveries show nothing about the row.
    pub(super) fn obstacle(&self, deliveries: &[Delivery]) -> Option<String> {
        if self.silence >= MOST_SILENCE {
            return Some("the receiver no longer answers as before".to_owned());
        }
        deliveries.iter().find_map(|delivery| {
            if self.target.addresses.get(delivery.kind).is_none() {
                return Some(NO_ADDRESS.to_owned());
            }
            let works = self.habits.get(delivery.kind).is_some();
            (!works).then(|| {
                format!(
                    "the receiver did not take the first {}",
                    delivery.kind.specification_name()
                )
            })
        })
    }

    /// True if this row is to be judged.
    pub(super) fn wants(&self, id: &str) -> bool {
        self.wanted.has(id)
    }

    /// The kinds whose receivers take good messages.
    pub(super) fn kinds(&self) -> Vec<MessageKind> {
        self.habits
            .iter()
            .filter_map(|(kind, first)| first.as_ref().map(|_| kind))
            .collect()
    }

    pub(super) async fn send(&mut self, delivery: &Delivery) -> Heard {
        let heard = self.target.send(delivery).await;
        self.silence = if matches!(heard, Heard::Nothing(_)) {
            self.silence.saturating_add(1)
        } else {
            0
        };
        heard
    }

    pub(super) fn is_acknowledged(&mut self, kind: MessageKind, heard: &Heard) -> bool {
        let Heard::Answer(answer) = heard else {
            return false;
        };
        let Some(first) = self.habits.get(kind) else {
            return false;
        };
        let yes = answer.status.is_success() && answer.member("status") == first.member("status");
        if yes {
            self.acknowledgements.add(answer);
            self.ids.push(answer.member("id").unwrap_or_default());
        }
        yes
    }

    /// A good delivery of this message.
    pub(super) fn sealed(
        &self,
        kind: MessageKind,
        what: &str,
        message: &Value,
    ) -> Result<Delivery, JudgeError> {
        self.sealed_by(&self.sealer, kind, what, message)
    }

    pub(super) fn sealed_by(
        &self,
        sealer: &Sealer,
        kind: MessageKind,
        what: &str,
        message: &Value,
    ) -> Result<Delivery, JudgeError> {
        let compact = sealer.seal(message.to_string().as_bytes());
        let compact = compact.map_err(failed)?;
        Ok(self.carried(kind, what, compact))
    }

    /// A delivery of this text as `secured_payload`.
    pub(super) fn carried(&self, kind: MessageKind, what: &str, compact: String) -> Delivery {
        self.target.delivery(
            kind,
            what,
            SecuredPayload::new(compact).to_json().into_bytes(),
        )
    }

    /// Adds a row. Where SPEC.md says nothing, what differs is noted, and fails only if it is to be
    /// strict.
    pub(super) fn push(
        &mut self,
        id: &'static str,
        title: String,
        verdict: Verdict,
        begin: Instant,
    ) {
        let verdict = match verdict {
            Verdict::Failed(why) if id == BEYOND && !self.strict => Verdict::Noted(why),
            other => other,
        };
        if self.wants(id) {
            self.rows
                .push(row::Row::new(id, title, verdict, begin.elapsed()));
        }
    }
}

const NO_LARGE_KEY: &str = "it takes another key of the provider, that the receivers know: --sign-4096, and a name of each for swapped ones";
const NO_ADDRESS: &str = "no address of this receiver was given";

/// The rows about the form of the first answer of a receiver: id, title, verdict.
fn form(kind: MessageKind, answer: &Answer) -> [(&'static str, String, Verdict); 3] {
    let one = one(kind);
    let whole = ["id", "status"]
        .into_iter()
        .all(|member| answer.member(member).is_some());
    let status = answer.status.as_u16();
    let content_type = answer.content_type.as_deref().unwrap_or("none");
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    [
        (
            "S21.3",
            format!("answers {one} with JSON that has id and status as text"),
            Verdict::when(whole, || {
                format!(
                    "expected {{\"id\":…,\"status\":\"RCVD\"}}, found {}",
                    answer.describe()
                )
            }),
        ),
        (
            BEYOND,
            format!("acknowledges {one} with the HTTP status 200"),
            Verdict::when(status == 200, || format!("expected 200, found {status}")),
        ),
        (
            BEYOND,
            format!("says that its answer to {one} is application/json"),
            Verdict::when(media_type.eq_ignore_ascii_case("application/json"), || {
                format!(
                    "expected the content type application/json, found {}",
                    excerpt(content_type)
                )
            }),
        ),
    ]
}

/// Status and body, without the digits of times and of ids that differ in each answer.
fn looks(answer: &Answer) -> String {
    let masked = |value: &Value| -> String {
        value
            .to_string()
            .split_inclusive(|c: char| !c.is_ascii_alphanumeric())
            .map(mask)
            .collect()
    };
    let body = serde_json::from_slice(&answer.body)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&answer.body).into_owned()));
    format!("{} {}", answer.status.as_u16(), excerpt(&masked(&body)))
}

/// A word and what ends it; `#` for one with digits, and for what may be a part of a UUID.
fn mask(word: &str) -> &str {
    let text = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    let hexadecimal = text.len() >= 4 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if hexadecimal || text.contains(|c: char| c.is_ascii_digit()) {
        "#"
    } else {
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::StatusCode;

    #[test]
    fn answers_that_differ_in_times_and_ids_look_alike() {
        let look = |status: u16, body: &str| {
            let status = StatusCode::from_u16(status).unwrap();
            looks(&Answer {
                status,
                content_type: None,
                body: body.as_bytes().to_vec(),
            })
        };
        let body = |id: &str, why: &str| {
            format!(r#"{{"id":"{id}","at":"2026-11-22T01:02:03Z","detail":"{why}"}}"#)
        };
        let first = look(
            400,
            &body("0b7c2f6e-8a1d-41eb-8dcd-0242ac130003", "refused"),
        );
        assert_eq!(
            first,
            look(
                400,
                &body("1b7c2f6e-9a1d-42eb-abcd-0242ac130004", "refused")
            )
        );
        assert_ne!(
            first,
            look(
                400,
                &body("0b7c2f6e-8a1d-41eb-8dcd-0242ac130003", "signature")
            )
        );
        assert_ne!(
            first,
            look(
                401,
                &body("0b7c2f6e-8a1d-41eb-8dcd-0242ac130003", "refused")
            )
        );
        assert_ne!(look(400, ""), look(400, "bad tag"));
        assert_eq!(look(400, "call 17"), look(400, "call 18"));
    }
}
