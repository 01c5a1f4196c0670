//! Duplicate keys and fingerprints of messages.

bankrail_values::hash_value! {
    /// One duplicate key of a message: a cryptographic hash of 32 bytes, which the caller computes.
    pub struct KeyHash;
}

bankrail_values::hash_value! {
    /// A fingerprint of a message's content: a cryptographic hash of 32 bytes, which the caller
    /// computes. Parts that may differ between two deliveries of one message, such as the time of
    /// writing, are not included.
    pub struct Fingerprint;
}

/// The duplicate key of a message: one hash or several, taken together.
///
/// Two messages with a hash in common are duplicates if their [`Fingerprint`]s are equal, and in
/// conflict if not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DuplicateKey {
    hashes: Vec<KeyHash>,
}

impl DuplicateKey {
    /// Makes a key of these hashes. A message whose key has no hashes is never a duplicate.
    #[must_use]
    pub fn from_hashes(hashes: impl IntoIterator<Item = KeyHash>) -> Self {
        let mut hashes: Vec<KeyHash> = hashes.into_iter().collect();
        hashes.sort_unstable();
        hashes.dedup();
        Self { hashes }
    }

    /// Returns the hashes, sorted and without repetitions.
    #[must_use]
    pub fn hashes(&self) -> &[KeyHash] {
        &self.hashes
    }

    /// Returns true if both keys have a hash in common.
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

/// Writes a fingerprint as 64 lower-case hexadecimal digits.
#[cfg(feature = "serde")]
impl serde::Serialize for Fingerprint {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Fingerprint {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = <String as serde::Deserialize>::deserialize(from)?;
        // Only one spelling is accepted, so that two texts are equal if the fingerprints are.
        let read: Option<Self> = text
            .parse()
            .ok()
            .filter(|read: &Self| read.to_string() == text);
        read.ok_or_else(|| serde::de::Error::custom("expected 64 lower-case hexadecimal digits"))
    }
}
