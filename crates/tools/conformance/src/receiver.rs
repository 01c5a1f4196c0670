//! The judge of receivers.

mod acknowledgements;
mod delivery;
mod forge;
mod handled;
mod make;
mod messages;
mod options;
mod rows;
mod session;

pub use delivery::ReceiverAddresses;
pub use options::ReceiverJudgeOptions;

use crate::error::JudgeError;
use crate::judgement::Judgement;
use bankrail_jose::{EncryptionKey, SigningKey};
use session::Session;
use std::fmt;

/// Judges a customer's receivers by the clauses of the specification that can be seen from outside.
///
/// It plays the provider: it delivers some 1,300 messages over HTTPS, good ones and hostile ones.
/// Mandates, payments and cases are made up anew in each run, and receivers store them: judge a
/// test installation. Rows under "Beyond SPEC.md" are about what the specification does not say.
/// What differs from what is sensible there is [`Verdict::Noted`](crate::Verdict::Noted).
pub struct ReceiverJudge(Session);

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
        Session::new(addresses, signing_key, encryption_key, options).map(Self)
    }

    /// Makes the deliveries: what must be accepted, what must be refused, and last what takes weak
    /// receivers down.
    ///
    /// # Errors
    /// [`JudgeError`] if nobody answers, a message cannot be made, or no row is selected.
    pub async fn judge(self) -> Result<Judgement, JudgeError> {
        let mut session = self.0;
        handled::check(&session).await?;
        session.begin().await?;
        for row in rows::rows() {
            session.judge(&row).await?;
        }
        handled::judge(&mut session).await?;
        session.endure().await?;
        let (address, blocked, seed) = (session.address(), session.blocked(), session.seed);
        Judgement::new("receivers", address, session.finish(), blocked, seed)
    }
}

impl fmt::Debug for ReceiverJudge {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ReceiverJudge").finish_non_exhaustive()
    }
}
