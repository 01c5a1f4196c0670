//! Options for opening messages.

use bankrail_values::options;

/// The most bytes of each decoded header by default.
const MAX_HEADER_BYTES: usize = 4 * 1024;

options! {
    /// Options of an [`Opener`](super::Opener).
    ///
    /// The defaults are for those who receive webhooks: compact messages of up to 512 KiB with
    /// headers of up to 4 KiB, compressed or not, `cty` absent or `JWT`, any inner `typ`, any
    /// recipient.
    #[derive(Clone, Debug)]
    pub struct OpenOptions {
        /// The most characters of a compact message. Default:
        /// [`OpenOptions::DEFAULT_MAX_MESSAGE_BYTES`].
        pub(super) max_message_bytes: usize = Self::DEFAULT_MAX_MESSAGE_BYTES,
        /// The most bytes of each decoded header, outer and inner. Default: 4 KiB.
        pub(super) max_header_bytes: usize = MAX_HEADER_BYTES,
        /// The most bytes to which a message with `"zip":"DEF"` is inflated; `None` refuses
        /// compressed messages. The bound is for the signed message in its compact form, which is a
        /// third longer than its JSON. Inflating stops at the first byte beyond it. Default:
        /// [`OpenOptions::DEFAULT_MAX_INFLATED_BYTES`], because published senders compress.
        pub(super) max_inflated_bytes: Option<usize> = Some(Self::DEFAULT_MAX_INFLATED_BYTES),
        /// Refuses messages without `"cty":"JWT"`. RFC 7519 section 5.2 requires it in nested
        /// tokens, but senders often leave it out. Off by default.
        pub(super) require_cty: bool = false,
        /// Refuses messages whose signed header has no `"typ":"JWT"`, in any case. The
        /// specification names no `typ` for messages. Require it if the sender's key also signs
        /// tokens of other types (RFC 8725 section 3.11). Off by default.
        pub(super) require_typ: bool = false,
        /// Refuses messages that do not name this recipient. Default: any recipient.
        pub(super) recipient(Recipient => Some): Option<Recipient> = None,
        /// Checks that the message is JSON. On by default. If it is off,
        /// [`Opened::json`](super::Opened::json) is any bytes that the sender signed: for a caller
        /// that reads every message anyway, so that its JSON is read once.
        pub(super) check_json: bool = true,
    }
}

impl OpenOptions {
    /// The most characters of a compact message by default: 512 KiB, enough for the longest payload
    /// that [`SealOptions`](crate::SealOptions) seals by default.
    pub const DEFAULT_MAX_MESSAGE_BYTES: usize = 512 * 1024;
    /// The most bytes to which a message is inflated by default: 340 kB, enough for the signed form
    /// of the longest payload that [`SealOptions`](crate::SealOptions) seals by default.
    pub const DEFAULT_MAX_INFLATED_BYTES: usize = 340_000;
}

/// The place where a message names its recipient, and the value expected there.
///
/// It prevents surreptitious forwarding: a signature proves who wrote a message, not for whom.
/// Another customer of the same sender can decrypt a message that it received, encrypt the signed
/// part to our encryption key, and deliver it to us. Signature and encryption are then both valid.
///
/// The specification has no field for the recipient. If the sender can add one, in the signed
/// header or in the message, this checks it. If not, ask the sender for a signing key per customer,
/// or compare identifiers in the message with your own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient {
    pub(super) place: RecipientPlace,
    pub(super) name: String,
    pub(super) value: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecipientPlace {
    SignedHeader,
    Claim,
}

impl Recipient {
    /// The member `name` of the signed header must be the string `value`.
    #[must_use]
    pub fn header(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            place: RecipientPlace::SignedHeader,
            name: name.into(),
            value: value.into(),
        }
    }

    /// The message must be a JSON object whose member `name` is the string `value`.
    #[must_use]
    pub fn claim(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            place: RecipientPlace::Claim,
            name: name.into(),
            value: value.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bankrail_jose::algorithm::{
        BLOCK_LEN, ENCRYPTION_KEY_BITS, IV_LEN, MESSAGE_SIGNING_KEY_BITS, TAG_LEN,
    };
    use bankrail_values::MAX_MESSAGE_BYTES;

    #[test]
    fn what_a_sender_seals_by_default_is_opened_by_default_whatever_its_keys_and_headers() {
        let base64 = |bytes: usize| (bytes * 4).div_ceil(3);
        let [_, signing_key] = MESSAGE_SIGNING_KEY_BITS;
        // Header, payload and signature; then header, encrypted key, vector, padded text and tag.
        let signed =
            base64(MAX_HEADER_BYTES) + 1 + base64(MAX_MESSAGE_BYTES) + 1 + base64(signing_key / 8);
        let sealed = base64(MAX_HEADER_BYTES)
            + base64(ENCRYPTION_KEY_BITS / 8)
            + base64(IV_LEN)
            + base64(signed + BLOCK_LEN);
        let sealed = sealed + base64(TAG_LEN) + 4;
        assert!(
            signed <= OpenOptions::DEFAULT_MAX_INFLATED_BYTES,
            "{signed}"
        );
        assert!(sealed <= OpenOptions::DEFAULT_MAX_MESSAGE_BYTES, "{sealed}");
    }

    #[test]
    fn the_defaults_are_what_the_documentation_says() {
        assert_eq!(
            (MAX_HEADER_BYTES, OpenOptions::DEFAULT_MAX_MESSAGE_BYTES),
            (4096, 524_288)
        );
        assert_eq!(
            (
                OpenOptions::DEFAULT_MAX_INFLATED_BYTES,
                crate::SecuredPayload::DEFAULT_MAX_JSON_BYTES
            ),
            (340_000, 525_312)
        );
        let default = OpenOptions::default();
        assert_eq!(
            (
                default.max_message_bytes,
                default.max_header_bytes,
                default.max_inflated_bytes
            ),
            (524_288, 4096, Some(340_000))
        );
        assert!(
            default.check_json
                && !default.require_cty
                && !default.require_typ
                && default.recipient.is_none()
        );
    }
}
