//! Options for opening messages.

use bankrail_values::options;

/// The default maximum number of bytes of each decoded header.
const MAX_HEADER_BYTES: usize = 4 * 1024;

options! {
    /// Options of an [`Opener`](super::Opener).
    ///
    /// The defaults are for receivers of webhooks: compact messages of up to 512 KiB with headers
    /// of up to 4 KiB, compressed or not, `cty` absent or `JWT`, any inner `typ`, any recipient.
    #[derive(Clone, Debug)]
    pub struct OpenOptions {
        /// The maximum number of characters of a compact message. Default:
        /// [`OpenOptions::DEFAULT_MAX_MESSAGE_BYTES`].
        pub(super) max_message_bytes: usize = Self::DEFAULT_MAX_MESSAGE_BYTES,
        /// The maximum number of bytes of each decoded header, outer and inner. Default: 4 KiB.
        pub(super) max_header_bytes: usize = MAX_HEADER_BYTES,
        /// The maximum number of bytes to which a message with `"zip":"DEF"` is inflated; `None`
        /// refuses compressed messages. The bound is for the signed message in its compact form,
        /// which is a third longer than its JSON. Inflating stops at the first byte beyond the
        /// bound. Default: [`OpenOptions::DEFAULT_MAX_INFLATED_BYTES`], because published senders
        /// compress.
        pub(super) max_inflated_bytes: Option<usize> = Some(Self::DEFAULT_MAX_INFLATED_BYTES),
        /// If true, messages without `"cty":"JWT"` are refused. RFC 7519 section 5.2 requires it in
        /// nested tokens, but senders often leave it out. Default: false.
        pub(super) require_cty: bool = false,
        /// If true, messages whose signed header has no `"typ":"JWT"`, in upper or lower case, are
        /// refused. The specification names no `typ` for messages. Require it if the sender's key
        /// also signs tokens of other types (RFC 8725 section 3.11). Default: false.
        pub(super) require_typ: bool = false,
        /// The recipient that messages must name. Default: any recipient.
        pub(super) recipient(Recipient => Some): Option<Recipient> = None,
        /// If true, the message must be JSON. If false, [`Opened::json`](super::Opened::json)
        /// returns any bytes that the sender signed. Set it to false in a caller that reads every
        /// message anyway, so that the JSON is read once. Default: true.
        pub(super) check_json: bool = true,
    }
}

impl OpenOptions {
    /// The default maximum number of characters of a compact message: 512 KiB, enough for the
    /// longest payload that [`SealOptions`](crate::SealOptions) seals by default.
    pub const DEFAULT_MAX_MESSAGE_BYTES: usize = 512 * 1024;
    /// The default maximum number of bytes to which a message is inflated: 340 kB, enough for the
    /// signed form of the longest payload that [`SealOptions`](crate::SealOptions) seals by
    /// default.
    pub const DEFAULT_MAX_INFLATED_BYTES: usize = 340_000;
}

/// The place where a message names its recipient, and the value expected there.
///
/// A recipient prevents surreptitious forwarding: a signature proves the author of a message, but
/// not its recipient. Another customer of the same sender can decrypt a message that it received,
/// encrypt the signed part to our encryption key, and deliver it to us. Signature and encryption
/// are then both valid.
///
/// The specification has no field for the recipient. If the sender can add one, in the signed
/// header or in the message, this option checks it. Otherwise ask the sender for a signing key per
/// customer, or compare identifiers in the message with your own.
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
    /// Requires that the member `name` of the signed header is the string `value`.
    #[must_use]
    pub fn header(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            place: RecipientPlace::SignedHeader,
            name: name.into(),
            value: value.into(),
        }
    }

    /// Requires that the message is a JSON object whose member `name` is the string `value`.
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
        // The signed form has header, payload and signature; the encrypted one has header,
        // encrypted key, vector, padded text and tag.
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
