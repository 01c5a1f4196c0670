//! Duplicate keys (Specification: "Events") and fingerprints.

use crate::message::MessageKind;
use bankrail_mailbox::{Fingerprint, KeyHash};
use bankrail_values::HyphenatedUuid;
use sha2::{Digest, Sha256};

/// A duplicate key under construction: SHA-256 over its parts, each with its length. Absent and
/// empty parts differ.
pub(crate) struct KeyParts(Sha256);

impl KeyParts {
    /// Starts a key that consists of a member. `scope` distinguishes receivers that share a store.
    pub(crate) fn new(scope: &str, kind: MessageKind, member: &str) -> Self {
        Self(Sha256::new_with_prefix(b"bankrail webhook key 1"))
            .text(scope)
            .text(kind.as_str())
            .text(member)
    }

    pub(crate) fn text(self, text: &str) -> Self {
        self.optional(Some(text))
    }

    pub(crate) fn optional(mut self, text: Option<&str>) -> Self {
        match text {
            None => self.0.update([0]),
            Some(text) => {
                // The mark keeps an empty text apart from an absent one, and the length keeps
                // neighbours apart.
                self.0.update([1]);
                self.0
                    .update(u64::try_from(text.len()).unwrap_or(u64::MAX).to_be_bytes());
                self.0.update(text.as_bytes());
            }
        }
        self
    }

    pub(crate) fn finish(self) -> KeyHash {
        KeyHash::from_bytes(self.0.finalize().into())
    }

    /// Returns the key of a message that lacks all members of its key. Default: the key is made of
    /// `X-Message-Id`.
    pub(crate) fn fallback(scope: &str, kind: MessageKind, message_id: HyphenatedUuid) -> KeyHash {
        Self::new(scope, kind, "X-Message-Id")
            .text(&message_id.to_string())
            .finish()
    }
}

/// Returns the fingerprint of a message: SHA-256 of its canonical JSON.
pub(crate) fn fingerprint(kind: MessageKind, canonical: &str) -> Fingerprint {
    let mut hash = Sha256::new_with_prefix(b"bankrail webhook fingerprint 1");
    hash.update(kind.as_str());
    // No kind's name has this byte, so the boundary between name and text is unambiguous.
    hash.update([0]);
    hash.update(canonical);
    Fingerprint::from_bytes(hash.finalize().into())
}
