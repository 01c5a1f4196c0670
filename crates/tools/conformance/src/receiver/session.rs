//! One run of the judge: the answers so far, and the rows that follow from them.

mod asked;
mod handled;

use super::answers::{Acknowledgements, form};
use super::rows::{Expected, HOSTILE, ROWS, Row, one};
use super::{Answer, Delivery, Provider, ReceiverAddresses, ReceiverJudgeOptions, Reply, describe};
use crate::error::JudgeError;
use crate::judgement::Judgement;
use crate::row::{self, BEYOND, Demand, Verdict};
use crate::selection::Wanted;
use bankrail_jose::{EncryptionKey, SigningKey};
use bankrail_webhook::{EachKind, MessageKind};
use std::collections::HashMap;
use std::time::Instant;

/// The number of consecutive calls without an answer after which the receiver is taken to be down.
const MAX_SILENT_CALLS: u32 = 3;

/// Judges a customer's receivers by the clauses of the specification that can be seen from outside.
///
/// It plays the provider: it delivers about 1,300 messages over HTTPS, good ones and hostile ones.
/// Each run invents new mandates, payments and cases, which receivers store: judge a test
/// installation. Rows under "Beyond SPEC.md" are about points that the specification leaves open. A
/// receiver that behaves unusually there is [`Verdict::Noted`](crate::Verdict::Noted).
pub struct ReceiverJudge {
    provider: Provider,
    seed: u32,
    /// The file or address where the receivers list the messages that they have handled.
    handled: Option<String>,
    strict: bool,
    wanted: Wanted,
    /// The acknowledgement of the first message by each receiver. Later ones count as acknowledged
    /// if they have the same `status`, so that another status than `RCVD` fails one row and not
    /// all.
    first_answers: EachKind<Option<Answer>>,
    /// The status under which the receiver of each kind has refused the first message.
    refusals: EachKind<Option<u16>>,
    acknowledgements: Acknowledgements,
    /// The ids of the acknowledgements since the last row began.
    ids: Vec<String>,
    /// True if the receiver acknowledges a known message under the first id again.
    known_by_id: EachKind<bool>,
    /// The first delivery of this run with members of the duplicate key, and the id of its
    /// acknowledgement.
    old: Option<(Delivery, Option<String>)>,
    /// The X-Message-Id of each delivery, with true if it was acknowledged at least once.
    taken: HashMap<String, bool>,
    silence: u32,
    /// The delivery after which the receiver did not answer.
    suspect: String,
    /// The delivery that crashed the receiver, and its row, if the receiver is down.
    down: Option<String>,
    rows: Vec<row::Row>,
}

bankrail_values::impl_debug!(ReceiverJudge);

impl ReceiverJudge {
    /// A judge of the receivers at these addresses, who verify what this key signs and decrypt what
    /// is encrypted to their key.
    ///
    /// # Errors
    /// [`JudgeError`] if no receiver has an address, or a key, the API key or the certificates to
    /// trust are unusable.
    pub fn new(
        addresses: ReceiverAddresses,
        signing_key: &SigningKey,
        encryption_key: &EncryptionKey,
        options: ReceiverJudgeOptions,
    ) -> Result<Self, JudgeError> {
        let provider = Provider::new(addresses, signing_key, encryption_key, &options)?;
        Ok(Self {
            provider,
            seed: options.seed,
            handled: options.handled,
            strict: options.strict,
            wanted: Wanted {
                only: options.only,
                rest: None,
            },
            first_answers: EachKind::default(),
            refusals: EachKind::default(),
            acknowledgements: Acknowledgements::default(),
            ids: Vec::new(),
            known_by_id: EachKind::default(),
            old: None,
            taken: HashMap::new(),
            silence: 0,
            suspect: String::new(),
            down: None,
            rows: Vec::new(),
        })
    }

    /// Makes the deliveries: what must be accepted, what must be refused, and last what takes weak
    /// receivers down.
    ///
    /// # Errors
    /// [`JudgeError`] if nobody answers, a message cannot be made, or no row is selected.
    pub async fn judge(mut self) -> Result<Judgement, JudgeError> {
        // First, so that an unreadable list is found before anything is delivered.
        handled::check(&self).await?;
        self.begin().await?;
        for row in ROWS.iter() {
            self.judge_row(row).await?;
        }
        handled::judge(&mut self).await?;
        // These rows are last, because a receiver that crashes here would fail all other rows.
        self.endure().await?;
        let (address, blocked, seed) = (self.address(), self.blocked(), self.seed);
        let rows = self.finish();
        Judgement::new("receivers", address, rows, blocked, seed, &PRICES)
    }

    /// Returns the reason why no receiver accepts a good message, and what to check.
    fn blocked(&self) -> Option<String> {
        if let Some(after) = &self.down {
            return Some(format!("the receiver no longer answers after {after}"));
        }
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

    /// Returns the address of the first receiver, without its path.
    fn address(&self) -> String {
        let first = self
            .provider
            .addresses
            .iter()
            .find_map(|(_, url)| url.as_ref());
        first.map_or_else(String::new, |url| url.origin().ascii_serialization())
    }

    /// Delivers the first good message to each receiver.
    async fn begin(&mut self) -> Result<(), JudgeError> {
        let mut silent = None;
        let mut answered = false;
        for (kind, id) in MEMBERS {
            let title = format!("takes {} with the required members alone", one(kind));
            let begin = Instant::now();
            let Some(address) = self
                .provider
                .addresses
                .get(kind)
                .as_ref()
                .map(ToString::to_string)
            else {
                self.push(id, title, Verdict::not_run(NO_ADDRESS), begin);
                continue;
            };
            let delivery = self.provider.sealed(
                kind,
                "the first message",
                &self.provider.invented.minimal(kind),
            )?;
            let reply = self.send(&delivery).await;
            match &reply {
                Err(reason) => drop(silent.get_or_insert((address, reason.clone()))),
                Ok(_) => answered = true,
            }
            let verdict = match reply {
                Ok(answer) if answer.status.is_success() => {
                    self.acknowledgements.add(&answer);
                    *self.first_answers.get_mut(kind) = Some(answer);
                    Verdict::Passed
                }
                other => {
                    if let Ok(answer) = &other {
                        *self.refusals.get_mut(kind) = Some(answer.status.as_u16());
                    }
                    Verdict::Failed(format!(
                        "expected it to be acknowledged, found {}",
                        describe(&other)
                    ))
                }
            };
            self.push(id, title, verdict, begin);
        }
        if let (false, Some((address, reason))) = (answered, silent) {
            return Err(JudgeError::Unreachable { address, reason });
        }
        // Receivers that are down from the start do not end the rows about the others.
        self.silence = 0;
        if let Some(&kind) = self.kinds().first() {
            let old = self.provider.sealed(
                kind,
                "the same delivery, after all the others",
                &self.provider.invented.usual(kind),
            )?;
            let answer = self.send(&old).await.ok();
            self.old = Some((old, answer.and_then(|answer| answer.member("id"))));
        }
        for (id, title, verdict) in self
            .first_answers
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
    async fn judge_row(&mut self, row: &'static Row) -> Result<(), JudgeError> {
        let has_api_key = self.provider.api_key.is_some();
        for kind in row.kinds.of(self.kinds(), has_api_key) {
            let (id, begin) = (row.id(kind), Instant::now());
            if !self.wanted.has(id) {
                continue;
            }
            let verdict = match row.deliveries(&self.provider, kind, &self.kinds())? {
                None => Verdict::not_seen(NO_LARGE_KEY),
                Some(deliveries) => match self.obstacle(&deliveries) {
                    Some(why) => Verdict::NotRun(why),
                    None => self.ask_alive(row.expected, &deliveries).await?,
                },
            };
            let title = row.title(kind);
            let demand = match self.silence >= MAX_SILENT_CALLS && self.down.is_none() {
                true => {
                    self.down = Some(match &*self.suspect {
                        "" => format!("{id} {title}"),
                        what => format!("{what} ({id} {title})"),
                    });
                    Demand::Survival
                }
                false => row.expected.demand(),
            };
            self.push_demanding(demand, id, title, verdict, begin);
        }
        Ok(())
    }

    /// Judges the answers to a row's deliveries. A receiver has refused only if it accepts the next
    /// good message, because one that is down accepts nothing.
    async fn ask_alive(
        &mut self,
        expected: Expected,
        deliveries: &[Delivery],
    ) -> Result<Verdict, JudgeError> {
        let verdict = self.ask(expected, deliveries).await?;
        let refuses = expected.demand() == Demand::Refusal && verdict == Verdict::Passed;
        let Some(last) = deliveries.last().filter(|_| refuses) else {
            return Ok(verdict);
        };
        Ok(match self.is_down(last).await? {
            None => verdict,
            Some(found) => Verdict::Failed(format!(
                "expected a good message to be acknowledged after it, found {found}"
            )),
        })
    }

    /// Judges the rows about messages that crash weak receivers, and about good messages
    /// afterwards.
    async fn endure(&mut self) -> Result<(), JudgeError> {
        let known = "S21.26";
        let Some((old, id)) = self.old.take() else {
            return Ok(());
        };
        if ![known, "S23.22"].into_iter().any(|id| self.wanted.has(id)) {
            return Ok(());
        }
        for row in HOSTILE.iter() {
            self.judge_row(row).await?;
        }
        if self.wanted.has(known) {
            let (begin, old) = (Instant::now(), [old]);
            let verdict = match self.obstacle(&old) {
                Some(why) => Verdict::NotRun(why),
                None => {
                    let verdict = self.each(true, &old).await?;
                    self.ids.extend(id);
                    self.by_ids(verdict, Expected::Same, &old)
                }
            };
            self.push(
                known,
                "takes a message that it knows after all of that".to_owned(),
                verdict,
                begin,
            );
        }
        Ok(())
    }

    /// Adds the rows about all acknowledgements, and returns all rows.
    fn finish(mut self) -> Vec<row::Row> {
        let begin = Instant::now();
        for (id, title, verdict) in std::mem::take(&mut self.acknowledgements).rows() {
            self.push(id, title, verdict, begin);
        }
        self.rows
    }

    /// Returns the reason why these deliveries show nothing about the row.
    fn obstacle(&self, deliveries: &[Delivery]) -> Option<String> {
        if let Some(after) = &self.down {
            return Some(format!("the receiver no longer answers after {after}"));
        }
        deliveries.iter().find_map(|delivery| {
            if self.provider.addresses.get(delivery.kind).is_none() {
                return Some(NO_ADDRESS.to_owned());
            }
            let works = self.first_answers.get(delivery.kind).is_some();
            (!works).then(|| {
                format!(
                    "the receiver did not take the first {}",
                    delivery.kind.specification_name()
                )
            })
        })
    }

    /// The kinds whose receivers take good messages.
    fn kinds(&self) -> Vec<MessageKind> {
        self.first_answers
            .iter()
            .filter_map(|(kind, first)| first.as_ref().map(|_| kind))
            .collect()
    }

    async fn send(&mut self, delivery: &Delivery) -> Reply {
        let reply = self.provider.send(delivery).await;
        if let Ok(answer) = &reply {
            let taken = self.taken.entry(delivery.message_id().to_lowercase());
            *taken.or_default() |= !answer.status.is_client_error();
        }
        self.silence = if reply.is_err() {
            if self.silence == 0 {
                self.suspect.clone_from(&delivery.what);
            }
            self.silence.saturating_add(1)
        } else {
            0
        };
        reply
    }

    fn is_acknowledged(&mut self, kind: MessageKind, reply: &Reply) -> bool {
        let (Ok(answer), Some(first)) = (reply, self.first_answers.get(kind)) else {
            return false;
        };
        let yes = answer.status.is_success() && answer.member("status") == first.member("status");
        if yes {
            self.acknowledgements.add(answer);
            self.ids.push(answer.member("id").unwrap_or_default());
        }
        yes
    }

    /// Adds a row. A failure beyond SPEC.md is noted, and fails only under `strict`.
    fn push(&mut self, id: &'static str, title: String, verdict: Verdict, begin: Instant) {
        self.push_demanding(Demand::Service, id, title, verdict, begin);
    }

    fn push_demanding(
        &mut self,
        demand: Demand,
        id: &'static str,
        title: String,
        verdict: Verdict,
        begin: Instant,
    ) {
        // A row that is noted for any behaviour is about an open point, and never fails.
        let fails_strictly = id == BEYOND && matches!(verdict, Verdict::Failed(_));
        let verdict = match verdict {
            Verdict::Failed(why) if fails_strictly && !self.strict => Verdict::Noted(why),
            other => other,
        };
        if self.wanted.has(id) {
            let row = row::Row::new(id, title, verdict, begin.elapsed());
            self.rows.push(row::Row {
                fails_strictly,
                ..row.demanding(demand)
            });
        }
    }
}

const NO_LARGE_KEY: &str = "--sign-4096 names another key of the provider, that the receivers know, and each needs a name for swapped ones";
/// The options that judge more rows, and their costs.
const PRICES: [(&str, &str); 3] = [
    (
        "--handled",
        "66 deliveries and as long as an answer may take, no further minute",
    ),
    ("--sign-4096", "3 deliveries, no further minute"),
    ("--strict", "no delivery"),
];

const NO_ADDRESS: &str = "no address of this receiver was given";

/// The row about the required members of each kind.
const MEMBERS: EachKind<&str> = EachKind {
    mandate_outcome: "S21.4",
    mandate_notification: "S21.9",
    payment_outcome: "S21.13",
    query: "S21.18",
};
