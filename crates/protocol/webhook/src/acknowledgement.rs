//! The receiver's answer (Specification: "Webhook acknowledgement").

use crate::error::MessageError;
use crate::json::{self, Context, ExtraMembers, Output, Wire};
use bankrail_values::HyphenatedUuid;

/// The acknowledgement body: `{"id": UUID, "status": "RCVD"}`.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct Acknowledgement {
    /// Identifier of the acknowledgement, the receiver's own.
    pub id: HyphenatedUuid,
    /// `RCVD`.
    pub status: String,
    /// Members that this version does not know, in their order.
    #[wire(extra)]
    pub extra: ExtraMembers,
}

impl Acknowledgement {
    /// The status that the specification fixes.
    pub const RECEIVED: &'static str = "RCVD";

    /// Returns an acknowledgement with this identifier and the status `RCVD`.
    #[must_use]
    pub fn received(id: HyphenatedUuid) -> Self {
        Self::new(id, Self::RECEIVED.to_owned())
    }

    /// Returns an acknowledgement whose identifier is a random (version 4) UUID made from 16 random
    /// bytes.
    #[must_use]
    #[doc(hidden)]
    pub fn from_random_bytes(random: [u8; 16]) -> Self {
        Self::received(HyphenatedUuid::from_random_bytes(random))
    }

    /// Returns true when the status is `RCVD`.
    #[must_use]
    pub fn is_received(&self) -> bool {
        self.status == Self::RECEIVED
    }

    /// Reads a body of at most 64 KiB. Unknown members are kept.
    ///
    /// # Errors
    /// [`MessageError`] if the body is not an acknowledgement.
    pub fn from_json(json: &[u8]) -> Result<Self, MessageError> {
        // The body comes from a peer, and an acknowledgement has only two short members.
        const MAX_BYTES: usize = 64 * 1024;
        let value = bankrail_values::json::read(json, &json::LIMITS.max_document_bytes(MAX_BYTES))?;
        Self::read(&value, &mut Context::default())
    }

    /// Writes the body.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut out = Output::plain();
        self.write(&mut out);
        out.finish()
    }
}
