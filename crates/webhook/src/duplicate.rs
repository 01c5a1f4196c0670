//! What a receiver de-duplicates by (Specification: "Events").

use crate::ids::{ActionId, Uetr};
use crate::kind::MessageKind;
use bankrail_values::HyphenatedUuid;
use sha2::{Digest, Sha256};
use std::fmt;

/// One key of a message: SHA-256 over its parts, each with its length, absent apart from empty.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    /// The key of these octets, as a store kept them.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The octets.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, out)
    }
}

/// Which members a [`DuplicateKey`] was made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeySource {
    /// The members that the specification names.
    Members,
    /// `X-Message-Id`, because the message has none of them. Default: the fallback.
    MessageId,
}

/// The duplicate check key of a message: one key, or several aliases that are claimed together.
///
/// | message | key |
/// |---|---|
/// | mandate outcome | `request_id` |
/// | mandate notification | `action_identification` |
/// | payment outcome | `instruction_identification` with status, and `uetr` with status: aliases |
/// | query | `case_id`, `reminder_count` and `re_open_case_indication`, absent apart from any value |
///
/// Two messages with a key in common are duplicates if their [`Fingerprint`]s are equal and in conflict if not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DuplicateKey {
    keys: Vec<KeyHash>,
    source: KeySource,
}

impl DuplicateKey {
    /// The aliases: one or two, sorted, none twice.
    #[must_use]
    pub fn keys(&self) -> &[KeyHash] {
        &self.keys
    }

    /// What the key was made of.
    #[must_use]
    pub fn source(&self) -> KeySource {
        self.source
    }

    /// True when the two have a key in common.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.keys.iter().any(|key| other.keys.contains(key))
    }

    /// A key of hashes that a store kept, or of a caller's own rule.
    #[must_use]
    pub fn from_keys(keys: impl IntoIterator<Item = KeyHash>, source: KeySource) -> Self {
        let mut keys: Vec<KeyHash> = keys.into_iter().collect();
        keys.sort_unstable();
        keys.dedup();
        Self { keys, source }
    }

    pub(crate) fn mandate_outcome(scope: &str, request_id: Option<HyphenatedUuid>, message_id: HyphenatedUuid) -> Self {
        match request_id {
            Some(id) => Self::one(Key::new(scope, MessageKind::MandateOutcome, "request_id").text(&id.to_string())),
            None => Self::fallback(scope, MessageKind::MandateOutcome, message_id),
        }
    }

    pub(crate) fn mandate_notification(scope: &str, action: ActionId) -> Self {
        let key = Key::new(scope, MessageKind::MandateNotification, "action_identification");
        Self::one(key.text(&action.to_string()))
    }

    pub(crate) fn payment_outcome(
        scope: &str,
        instruction: Option<&str>,
        uetr: Option<Uetr>,
        status: &str,
        message_id: HyphenatedUuid,
    ) -> Self {
        let key = |member| Key::new(scope, MessageKind::PaymentOutcome, member);
        let instruction = instruction.map(|id| key("instruction_identification").text(id).text(status).finish());
        let uetr = uetr.map(|id| key("uetr").text(&id.to_string()).text(status).finish());
        if instruction.is_none() && uetr.is_none() {
            return Self::fallback(scope, MessageKind::PaymentOutcome, message_id);
        }
        Self::from_keys(instruction.into_iter().chain(uetr), KeySource::Members)
    }

    pub(crate) fn query(scope: &str, case_id: &str, reminders: Option<&str>, re_open: Option<bool>) -> Self {
        let key = Key::new(scope, MessageKind::Query, "case_id").text(case_id).optional(reminders);
        Self::one(key.optional(re_open.map(|re_open| if re_open { "true" } else { "false" })))
    }

    fn one(key: Key) -> Self {
        Self { keys: vec![key.finish()], source: KeySource::Members }
    }

    fn fallback(scope: &str, kind: MessageKind, message_id: HyphenatedUuid) -> Self {
        let key = Key::new(scope, kind, "X-Message-Id").text(&message_id.to_string());
        Self { keys: vec![key.finish()], source: KeySource::MessageId }
    }
}

/// A key under way.
struct Key(Sha256);

impl Key {
    fn new(scope: &str, kind: MessageKind, member: &str) -> Self {
        Self(Sha256::new_with_prefix(b"bankrail webhook key 1")).text(scope).text(kind.as_str()).text(member)
    }

    fn text(self, text: &str) -> Self {
        self.optional(Some(text))
    }

    fn optional(mut self, text: Option<&str>) -> Self {
        match text {
            None => self.0.update([0]),
            Some(text) => {
                self.0.update([1]);
                self.0.update(u64::try_from(text.len()).unwrap_or(u64::MAX).to_be_bytes());
                self.0.update(text.as_bytes());
            }
        }
        self
    }

    fn finish(self) -> KeyHash {
        KeyHash(self.0.finalize().into())
    }
}

/// The content of a message: SHA-256 of its canonical JSON (sorted members, no white space, one spelling of each
/// string) without `creation_date_time`, which differs in each regeneration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// The fingerprint of these octets, as a store kept them.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The octets.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Of a message's canonical JSON.
    pub(crate) fn of(kind: MessageKind, canonical: &str) -> Self {
        let mut hash = Sha256::new_with_prefix(b"bankrail webhook fingerprint 1");
        hash.update(kind.as_str());
        hash.update([0]);
        hash.update(canonical);
        Self(hash.finalize().into())
    }
}

/// As 64 hexadecimal digits.
impl serde::Serialize for Fingerprint {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(&format_args!("{self:?}"))
    }
}

impl<'de> serde::Deserialize<'de> for Fingerprint {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = <String as serde::Deserialize>::deserialize(from)?;
        let digits = text.bytes().map(|octet| match octet {
            b'0'..=b'9' => Some(octet - b'0'),
            b'a'..=b'f' => Some(octet - b'a' + 10),
            _ => None,
        });
        let digits: Option<Vec<u8>> = digits.collect();
        let bytes = digits.map(|digits| digits.chunks(2).map(|pair| pair.iter().fold(0, |b, d| b << 4 | d)).collect());
        let bytes = bytes.filter(|_| text.len() == 64).and_then(|bytes: Vec<u8>| bytes.try_into().ok());
        bytes.map(Self).ok_or_else(|| serde::de::Error::custom("expected 64 lower-case hexadecimal digits"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, out)
    }
}

fn hex(bytes: &[u8], out: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
}
