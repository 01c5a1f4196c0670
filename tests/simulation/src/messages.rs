//! The messages of a run, and the keys and sealed texts that all runs share.

use crate::random::Random;
use crate::world::lock;
use bankrail_http::CpuPool;
use bankrail_jose::{DecryptionKey, RsaSize, SigningKey};
use bankrail_mailbox::EndpointId;
use bankrail_secured_payload::{SealError, SealOptions, Sealer};
use bankrail_service::delivery::{SealFuture, SealPayload};
use bankrail_values::{HyphenatedUuid, Timestamp};
use bankrail_webhook::{
    ActionStatus, ActionType, CaseType, DeliveryHeaders, MandateNotification, Message,
    TransactionStatus, Trigger, samples,
};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{LazyLock, Mutex};
use std::thread;
use std::time::Duration;

/// The destination of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The two biller nodes.
    Biller,
    /// A receiver that stores nothing, and may be slow.
    Other,
}

impl Target {
    pub(crate) fn endpoint(self) -> EndpointId {
        let name = match self {
            Self::Biller => "biller",
            Self::Other => "other",
        };
        name.parse().expect("a short name")
    }
}

/// A message to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    pub(crate) name: String,
    pub(crate) message: Message,
    pub(crate) headers: DeliveryHeaders,
    pub(crate) target: Target,
    /// The time at which it is enqueued, from the beginning.
    pub(crate) at: Duration,
    /// The provider that enqueues it.
    pub(crate) provider: usize,
    /// True if its effect is part of the inbox's transaction.
    pub(crate) once: bool,
    /// The interim message whose result this is.
    pub(crate) follows: Option<HyphenatedUuid>,
}

/// The messages of a run that lasts this long, made at a time if that matters. They are the same
/// texts in all runs otherwise, so that they are sealed once.
pub(crate) fn plan(
    random: &mut Random,
    lasts: Duration,
    made: Option<Timestamp>,
) -> BTreeMap<HyphenatedUuid, Planned> {
    let mut planned = BTreeMap::new();
    let most = u64::try_from(lasts.as_millis()).unwrap_or(u64::MAX);
    let mut add = |number: u64,
                   kind: &str,
                   mut message: Message,
                   once: bool,
                   follows: Option<HyphenatedUuid>,
                   random: &mut Random| {
        if let Some(made) = made {
            *match &mut message {
                Message::MandateOutcome(message) => &mut message.creation_date_time,
                Message::MandateNotification(message) => &mut message.creation_date_time,
                Message::PaymentOutcome(message) => &mut message.creation_date_time,
                Message::Query(message) => &mut message.creation_date_time,
            } = made;
        }
        let name = format!("{kind}-{number}");
        let ids = format!("{kind:-<8.8}{number:08}");
        let mut bytes = [0; 16];
        bytes
            .iter_mut()
            .zip(ids.bytes())
            .for_each(|(to, from)| *to = from);
        let mut count = 0;
        let headers = samples::headers_with(message.kind(), || {
            count += 1;
            let mut bytes = bytes;
            bytes[0] = count;
            HyphenatedUuid::from_random_bytes(bytes)
        });
        let id = headers.message_id;
        let target = match random.below(6) {
            0 if follows.is_none() && kind != "pending" => Target::Other,
            _ => Target::Biller,
        };
        let one = Planned {
            name,
            message,
            headers,
            target,
            at: Duration::from_millis(random.below(most)),
            provider: usize::try_from(random.below(2)).unwrap_or(0),
            once,
            follows,
        };
        planned.insert(id, one);
        id
    };
    for number in 1..=3 + random.below(8) {
        match random.below(6) {
            0 => {
                let mut query = samples::query(&CaseType::Mandate);
                query.case_id = format!("C{number}").parse().expect("a short text");
                add(number, "query", query.clone().into(), true, None, random);
                query.narrative = format!("another narrative {number}")
                    .parse()
                    .expect("a short text");
                add(number, "conflict", query.into(), true, None, random);
            }
            1 | 2 => {
                let request =
                    HyphenatedUuid::from_random_bytes((u128::from(number) << 64).to_be_bytes());
                let mut outcome =
                    samples::mandate_outcome(&ActionType::Amend, &ActionStatus::Pending);
                outcome.request_id = Some(request);
                let first = add(number, "pending", outcome.into(), true, None, random);
                let mut outcome =
                    samples::mandate_outcome(&ActionType::Amend, &ActionStatus::Completed);
                outcome.request_id = Some(request);
                add(number, "result", outcome.into(), true, Some(first), random);
            }
            3 => {
                let mut notification = NOTIFICATION.clone();
                let action = format!("{number:08x}8a1d11eb8dcd0242ac130003");
                notification.action_identification = action.parse().expect("an action's id");
                add(number, "notice", notification.into(), false, None, random);
            }
            4 => {
                for status in [
                    TransactionStatus::Warehoused,
                    TransactionStatus::SettlementCompleted,
                ] {
                    let mut outcome = samples::payment_outcome(&status);
                    outcome.instruction_identification =
                        Some(format!("PAYMENT{number}").parse().expect("a short text"));
                    outcome.uetr = None;
                    let kind = if status == TransactionStatus::Warehoused {
                        "warehoused"
                    } else {
                        "settled"
                    };
                    add(number, kind, outcome.into(), false, None, random);
                }
            }
            _ => {
                let mut query = samples::query(&CaseType::Payments);
                query.case_id = format!("P{number}").parse().expect("a short text");
                add(number, "plain", query.into(), true, None, random);
            }
        }
    }
    planned
}

/// Read from its text once: it is the longest sample.
static NOTIFICATION: LazyLock<MandateNotification> = LazyLock::new(|| {
    samples::mandate_notification(&Trigger::CreationConfirmed)
        .expect("there is a sample of each trigger")
});

/// The keys of all runs, of several generations.
pub(crate) struct Keys {
    /// The second and the third have one name; the first has none.
    pub(crate) signing: [SigningKey; 3],
    pub(crate) decryption: [DecryptionKey; 2],
    pub(crate) assertion: [SigningKey; 2],
}

pub(crate) static KEYS: LazyLock<Keys> = LazyLock::new(|| {
    let signing = || SigningKey::generate(RsaSize::Rsa2048).expect("a key can be made");
    let decryption = || DecryptionKey::generate(RsaSize::Rsa2048).expect("a key can be made");
    Keys {
        signing: [
            signing(),
            signing().with_kid("bank"),
            signing().with_kid("bank"),
        ],
        decryption: [decryption(), decryption()],
        assertion: [signing(), signing()],
    }
});

/// A sealed text, by the numbers of both keys and the message.
type Sealed = BTreeMap<(usize, usize, Vec<u8>), String>;

/// Seals each message once for all runs: RSA operations are most of what a run costs.
#[derive(Clone, Copy)]
pub(crate) struct SealOnce {
    pub(crate) signing: usize,
    pub(crate) encryption: usize,
}

impl fmt::Debug for SealOnce {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("SealOnce")
    }
}

impl SealPayload for SealOnce {
    fn seal<'a>(&'a self, json: &'a [u8], _: &'a CpuPool) -> SealFuture<'a> {
        static SEALED: Mutex<Sealed> = Mutex::new(BTreeMap::new());
        let key = (self.signing, self.encryption, json.to_vec());
        let sealed = lock(&SEALED).get(&key).cloned();
        let sealed = sealed.map_or_else(|| self.seal_now(json), Ok);
        if let Ok(sealed) = &sealed {
            lock(&SEALED).insert(key, sealed.clone());
        }
        Box::pin(async move { sealed })
    }
}

impl SealOnce {
    /// Seals on another thread, because a sealed message is kept for later runs: the random bytes
    /// that sealing takes must not be those of the run that happens to seal first.
    fn seal_now(self, json: &[u8]) -> Result<String, SealError> {
        let sealed = thread::scope(|scope| {
            let seal = || {
                let signing = KEYS.signing[self.signing].clone();
                let encryption = KEYS.decryption[self.encryption].encryption_key();
                Sealer::new(signing, encryption, SealOptions::new()).seal(json)
            };
            scope.spawn(seal).join()
        });
        sealed.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}
