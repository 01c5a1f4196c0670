//! Duplicate keys and fingerprints of messages.

use std::fmt;

macro_rules! hash {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; 32]);

        impl $name {
            /// The hash of these bytes.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 32]) -> Self {
                Self(bytes)
            }

            /// The bytes.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; 32] {
                &self.0
            }
        }

        /// As 64 lower-case hexadecimal digits.
        impl fmt::Debug for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
            }
        }
    };
}

hash! {
    /// One duplicate key of a message: a cryptographic hash of 32 bytes, which the caller computes.
    KeyHash
}

hash! {
    /// The content of a message: a cryptographic hash of 32 bytes, which the caller computes. Parts that may differ
    /// between two deliveries of one message, such as the time of writing, are not included.
    Fingerprint
}

/// The duplicate key of a message: one hash or several, taken together.
///
/// Two messages with a hash in common are duplicates if their [`Fingerprint`]s are equal, and in conflict if not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DuplicateKey {
    hashes: Vec<KeyHash>,
}

impl DuplicateKey {
    /// A key of these hashes. A message whose key has no hashes is never a duplicate.
    #[must_use]
    pub fn from_hashes(hashes: impl IntoIterator<Item = KeyHash>) -> Self {
        let mut hashes: Vec<KeyHash> = hashes.into_iter().collect();
        hashes.sort_unstable();
        hashes.dedup();
        Self { hashes }
    }

    /// The hashes, sorted, each once.
    #[must_use]
    pub fn hashes(&self) -> &[KeyHash] {
        &self.hashes
    }

    /// True when the two have a hash in common.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.hashes.iter().any(|hash| other.hashes.contains(hash))
    }
}

impl From<KeyHash> for DuplicateKey {
    fn from(hash: KeyHash) -> Self {
        Self { hashes: vec![hash] }
    }
}

/// As 64 lower-case hexadecimal digits.
#[cfg(feature = "serde")]
impl serde::Serialize for Fingerprint {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(&format_args!("{self:?}"))
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Fingerprint {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = <String as serde::Deserialize>::deserialize(from)?;
        let digits = text.bytes().map(|byte| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        });
        let digits: Option<Vec<u8>> = digits.collect();
        let bytes = digits.map(|digits| digits.chunks(2).map(|pair| pair.iter().fold(0, |b, d| b * 16 + d)).collect());
        let bytes = bytes.filter(|_| text.len() == 64).and_then(|bytes: Vec<u8>| bytes.try_into().ok());
        bytes.map(Self).ok_or_else(|| serde::de::Error::custom("expected 64 lower-case hexadecimal digits"))
    }
}
