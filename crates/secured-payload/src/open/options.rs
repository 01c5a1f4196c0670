//! What an opener accepts.

/// What an opener accepts, and how much of it.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    pub(super) max_message: usize,
    pub(super) max_header: usize,
    pub(super) inflate: Option<usize>,
    pub(super) require_cty: bool,
    pub(super) require_typ: bool,
    pub(super) recipient: Option<Recipient>,
    pub(super) check_json: bool,
}

/// Compact messages of up to 512 KiB with headers of up to 4 KiB, no compression, `cty` absent or `JWT`, any inner
/// `typ`, any recipient.
impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            max_message: 512 * 1024,
            max_header: 4 * 1024,
            inflate: None,
            require_cty: false,
            require_typ: false,
            recipient: None,
            check_json: true,
        }
    }
}

impl OpenOptions {
    /// How many bytes [`OpenOptions::customer`] inflates at most: 340 kB, which the longest payload that
    /// [`SealOptions`](crate::SealOptions) seals by default has in its signed form.
    pub const DEFAULT_INFLATE: usize = 340_000;

    /// The defaults: nothing that the specification does not name.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The profile of a customer who receives webhooks: the defaults, and inflating up to 340 kB, because published
    /// senders compress (Default).
    #[must_use]
    pub fn customer() -> Self {
        Self::new().inflate(Self::DEFAULT_INFLATE)
    }

    /// How many characters a compact message has at most.
    #[must_use]
    pub fn max_message(mut self, characters: usize) -> Self {
        self.max_message = characters;
        self
    }

    /// How many bytes a decoded header has at most, outer and inner.
    #[must_use]
    pub fn max_header(mut self, bytes: usize) -> Self {
        self.max_header = bytes;
        self
    }

    /// Accepts `"zip":"DEF"` and inflates up to this many bytes (the signed message in its compact form, which is a
    /// third longer than its JSON). More is refused as soon as it appears.
    #[must_use]
    pub fn inflate(mut self, max_bytes: usize) -> Self {
        self.inflate = Some(max_bytes);
        self
    }

    /// Refuses messages without `"cty":"JWT"` (RFC 7519 section 5.2 demands it of nested tokens; senders often leave
    /// it out).
    #[must_use]
    pub fn require_cty(mut self, require: bool) -> Self {
        self.require_cty = require;
        self
    }

    /// Refuses messages whose signed header does not say `"typ":"JWT"`, in any case of letters. The specification names no
    /// `typ` for messages; demand it if the sender's key also signs tokens of other types (RFC 8725 section 3.11).
    #[must_use]
    pub fn require_typ(mut self, require: bool) -> Self {
        self.require_typ = require;
        self
    }

    /// Refuses messages that are not meant for this recipient.
    #[must_use]
    pub fn recipient(mut self, recipient: Recipient) -> Self {
        self.recipient = Some(recipient);
        self
    }
}

/// Where a message names its recipient, and what must stand there.
///
/// The attack that this stops is surreptitious forwarding: a signed message says who wrote it, not to whom. Another
/// customer who received it from the same sender can decrypt it, encrypt the signed part to our public key, and
/// deliver it to us; signature and encryption are both in order. The specification has no field for the recipient.
/// Where the sender can add one, in the signed header or in the message itself, this checks it. Where not, ask the
/// sender for a signing key per customer, or compare identifiers that the message carries with your own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient {
    pub(super) place: Place,
    pub(super) name: String,
    pub(super) value: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    SignedHeader,
    Claim,
}

impl Recipient {
    /// The member `name` of the signed header must be the text `value`.
    #[must_use]
    pub fn header(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { place: Place::SignedHeader, name: name.into(), value: value.into() }
    }

    /// The member `name` of the message, a JSON object, must be the text `value`.
    #[must_use]
    pub fn claim(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { place: Place::Claim, name: name.into(), value: value.into() }
    }
}
