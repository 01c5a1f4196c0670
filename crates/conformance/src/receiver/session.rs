//! One run: what was heard so far, and the rows that follow from it.

use super::acknowledgements::Acknowledgements;
use super::delivery::{Answer, Delivery, Heard, ReceiverAddresses, TIMEOUT, Target};
use super::forge::Forge;
use super::messages;
use super::options::ReceiverJudgeOptions;
use crate::client::client;
use crate::error::{JudgeError, failed};
use crate::row::{Row, Verdict};
use crate::selection::Wanted;
use bankrail_jose::{EncryptionKey, SigningKey};
use bankrail_secured_payload::{SealOptions, Sealer, SecuredPayload};
use bankrail_webhook::MessageKind;
use http::HeaderValue;
use serde_json::Value;
use std::time::Instant;

/// The id of rows that SPEC.md has no clause for.
pub(super) const BEYOND: &str = "-";
/// After so many calls in a row without an answer, the receiver is taken to be down.
const MOST_SILENCE: u32 = 3;

pub(super) struct Session {
    pub(super) target: Target,
    pub(super) forge: Forge,
    pub(super) large: Option<Sealer>,
    sealer: Sealer,
    strict: bool,
    wanted: Wanted,
    /// How the receiver of each kind acknowledges, once it has.
    habits: Vec<(MessageKind, Habit)>,
    acknowledgements: Acknowledgements,
    silence: u32,
    rows: Vec<Row>,
}

/// How a receiver acknowledges: a 2xx with this text as member `status`. One that says something else than `RCVD` fails
/// in the row about that, and not in each of the others.
struct Habit {
    status: Option<String>,
    first: Answer,
}

impl Session {
    pub(super) fn new(
        addresses: ReceiverAddresses,
        signing_key: &SigningKey,
        encryption_key: &EncryptionKey,
        options: ReceiverJudgeOptions,
    ) -> Result<Self, JudgeError> {
        if MessageKind::ALL.into_iter().all(|kind| addresses.of(kind).is_none()) {
            return Err(JudgeError::NoAddress);
        }
        let ReceiverJudgeOptions { api_key, api_key_header, large_signing_key, roots, strict, only } = options;
        if let Some(key) = &large_signing_key
            && let bits = key.verifying_key().public_key().bits()
            && bits != 4096
        {
            return Err(JudgeError::KeySize { bits });
        }
        let api_key = api_key.map(|key| {
            let mut value = HeaderValue::try_from(key.expose_secret()).map_err(|_| JudgeError::ApiKey)?;
            value.set_sensitive(true);
            Ok::<_, JudgeError>((api_key_header, value))
        });
        Ok(Self {
            target: Target { addresses, client: client(&roots, TIMEOUT)?, api_key: api_key.transpose()? },
            forge: Forge::new(signing_key, encryption_key.clone())?,
            large: large_signing_key.map(|key| Sealer::new(key, encryption_key.clone(), SealOptions::new())),
            sealer: Sealer::new(signing_key.clone(), encryption_key.clone(), SealOptions::new()),
            strict,
            wanted: Wanted { only, rest: None },
            habits: Vec::new(),
            acknowledgements: Acknowledgements::default(),
            silence: 0,
            rows: Vec::new(),
        })
    }

    /// What is judged, for people: the first address without its path.
    pub(super) fn subject(&self) -> String {
        let first = MessageKind::ALL.into_iter().find_map(|kind| self.target.addresses.of(kind));
        first.map_or_else(String::new, |url| url.origin().ascii_serialization())
    }

    /// Delivers the first good message to each receiver.
    pub(super) async fn begin(&mut self) -> Result<(), JudgeError> {
        let mut silent = None;
        let mut answered = false;
        for (kind, id) in MessageKind::ALL.into_iter().zip(["S21.4", "S21.9", "S21.13", "S21.18"]) {
            let title = format!("takes {} with the required members alone", messages::one(kind));
            let begin = Instant::now();
            let Some(address) = self.target.addresses.of(kind).map(ToString::to_string) else {
                self.push(id, title, Verdict::NotRun(NO_ADDRESS.to_owned()), begin);
                continue;
            };
            let delivery = self.sealed(kind, "the first message", &messages::minimal(kind))?;
            let heard = self.send(&delivery).await;
            match &heard {
                Heard::Nothing(reason) => drop(silent.get_or_insert((address, reason.clone()))),
                Heard::Answer(_) => answered = true,
            }
            let verdict = match heard {
                Heard::Answer(answer) if answer.status.is_success() => {
                    self.acknowledgements.add(&answer);
                    self.habits.push((kind, Habit { status: answer.member("status"), first: answer }));
                    Verdict::Passed
                }
                other => Verdict::Failed(format!("expected it to be acknowledged, found {}", other.describe())),
            };
            self.push(id, title, verdict, begin);
        }
        if let (false, Some((address, reason))) = (answered, silent) {
            return Err(JudgeError::Unreachable { address, reason });
        }
        self.silence = 0;
        self.judge_answers();
        Ok(())
    }

    /// The form of the first answers.
    fn judge_answers(&mut self) {
        let now = Instant::now();
        let mut rows = Vec::new();
        for (kind, habit) in &self.habits {
            let one = messages::one(*kind);
            let whole = ["id", "status"].into_iter().all(|member| habit.first.member(member).is_some());
            let found = habit.first.describe();
            rows.push((
                "S21.3",
                format!("answers {one} with JSON that has id and status as text"),
                verdict(whole, || format!("expected {{\"id\":…,\"status\":\"RCVD\"}}, found {found}")),
            ));
            let status = habit.first.status.as_u16();
            let title = format!("acknowledges {one} with the HTTP status 200");
            rows.push((BEYOND, title, verdict(status == 200, || format!("expected 200, found {status}"))));
            let of_json = habit.first.content_type.as_deref().is_some_and(|found| {
                found.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
            });
            let title = format!("says that its answer to {one} is application/json");
            let found = habit.first.content_type.clone().unwrap_or_else(|| "none".to_owned());
            let found = bankrail_values::excerpt(&found);
            rows.push((
                BEYOND,
                title,
                verdict(of_json, || format!("expected the content type application/json, found {found}")),
            ));
        }
        for (id, title, verdict) in rows {
            self.push(id, title, verdict, now);
        }
    }

    /// The rows about all acknowledgements; then all rows.
    pub(super) fn finish(mut self) -> Vec<Row> {
        let begin = Instant::now();
        for (id, title, verdict) in std::mem::take(&mut self.acknowledgements).rows() {
            self.push(id, title, verdict, begin);
        }
        self.rows
    }

    /// A row that passes if each of these deliveries to one receiver is acknowledged.
    pub(super) async fn accepts(
        &mut self,
        id: &'static str,
        title: impl Into<String>,
        deliveries: &[Delivery],
    ) -> Result<(), JudgeError> {
        self.each(id, title.into(), deliveries, true).await
    }

    /// A row that passes if none of these deliveries is acknowledged, and the receiver has survived them.
    pub(super) async fn refuses(
        &mut self,
        id: &'static str,
        title: impl Into<String>,
        deliveries: &[Delivery],
    ) -> Result<(), JudgeError> {
        self.each(id, title.into(), deliveries, false).await
    }

    /// A row that passes if each of these deliveries is acknowledged, or none is.
    async fn each(
        &mut self,
        id: &'static str,
        title: String,
        deliveries: &[Delivery],
        acknowledged: bool,
    ) -> Result<(), JudgeError> {
        if !self.wants(id) {
            return Ok(());
        }
        let begin = Instant::now();
        if let Some(why) = self.obstacle(deliveries) {
            self.push(id, title, Verdict::NotRun(why), begin);
            return Ok(());
        }
        let mut faults = Vec::new();
        for delivery in deliveries {
            let heard = self.send(delivery).await;
            match &heard {
                // A receiver may refuse by closing the connection, if it answers the next good message.
                Heard::Nothing(why) if !acknowledged => {
                    if let Some(found) = self.is_down(delivery.kind).await? {
                        let what = &delivery.what;
                        faults.push(format!("for {what} no answer ({why}), and for a good message after it {found}"));
                        break;
                    }
                }
                heard if self.is_acknowledged(delivery.kind, heard) != acknowledged => {
                    faults.push(format!("for {} {}", delivery.what, heard.describe()));
                }
                _ => {}
            }
        }
        let expected = if acknowledged { "the acknowledgement" } else { "no acknowledgement" };
        self.push(id, title, all_of(expected, &faults, deliveries.len()), begin);
        Ok(())
    }

    /// What a good message finds, if it is not acknowledged.
    pub(super) async fn is_down(&mut self, kind: MessageKind) -> Result<Option<String>, JudgeError> {
        let good = self.sealed(kind, "a good message", &messages::usual(kind))?;
        let heard = self.send(&good).await;
        if self.is_acknowledged(kind, &heard) {
            return Ok(None);
        }
        // The rows that follow would all fail for this.
        self.silence = MOST_SILENCE;
        Ok(Some(heard.describe()))
    }

    /// Why these deliveries cannot tell anything.
    pub(super) fn obstacle(&self, deliveries: &[Delivery]) -> Option<String> {
        if self.silence >= MOST_SILENCE {
            return Some("the receiver no longer answers as before".to_owned());
        }
        deliveries.iter().find_map(|delivery| {
            if self.target.addresses.of(delivery.kind).is_none() {
                return Some(NO_ADDRESS.to_owned());
            }
            let works = self.habits.iter().any(|(kind, _)| *kind == delivery.kind);
            (!works).then(|| format!("the receiver did not take the first {}", messages::name(delivery.kind)))
        })
    }

    /// True if this row is to be judged.
    pub(super) fn wants(&self, id: &str) -> bool {
        self.wanted.has(id)
    }

    /// The kinds whose receivers take good messages.
    pub(super) fn kinds(&self) -> Vec<MessageKind> {
        self.habits.iter().map(|(kind, _)| *kind).collect()
    }

    pub(super) async fn send(&mut self, delivery: &Delivery) -> Heard {
        let heard = self.target.send(delivery).await;
        self.silence = if matches!(heard, Heard::Nothing(_)) { self.silence.saturating_add(1) } else { 0 };
        heard
    }

    pub(super) fn is_acknowledged(&mut self, kind: MessageKind, heard: &Heard) -> bool {
        let Heard::Answer(answer) = heard else { return false };
        let Some((_, habit)) = self.habits.iter().find(|(own, _)| *own == kind) else { return false };
        let yes = answer.status.is_success() && answer.member("status") == habit.status;
        if yes {
            self.acknowledgements.add(answer);
        }
        yes
    }

    /// A good delivery of this message.
    pub(super) fn sealed(&self, kind: MessageKind, what: &str, message: &Value) -> Result<Delivery, JudgeError> {
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
        self.target.delivery(kind, what, SecuredPayload::new(compact).to_json().into_bytes())
    }

    /// Adds a row. Where SPEC.md says nothing, what differs is noted, and fails only if it is to be strict.
    pub(super) fn push(&mut self, id: &'static str, title: String, verdict: Verdict, begin: Instant) {
        let verdict = match verdict {
            Verdict::Failed(why) if id == BEYOND && !self.strict => Verdict::Noted(why),
            other => other,
        };
        if self.wants(id) {
            self.rows.push(Row::new(id, title, verdict, begin.elapsed()));
        }
    }
}

const NO_ADDRESS: &str = "no address of this receiver was given";

pub(super) fn verdict(passed: bool, why: impl FnOnce() -> String) -> Verdict {
    if passed { Verdict::Passed } else { Verdict::Failed(why()) }
}

fn all_of(expected: &str, faults: &[String], of: usize) -> Verdict {
    match faults {
        [] => Verdict::Passed,
        [only] => Verdict::Failed(format!("expected {expected}, found {only}")),
        [first, ..] => Verdict::Failed(format!("expected {expected}, found {first}; {} of {of}", faults.len())),
    }
}
