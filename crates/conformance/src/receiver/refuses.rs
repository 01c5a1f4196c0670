//! What no receiver takes: messages that are not the provider's, and calls that are no deliveries of one.

mod forms;
mod origin;

use super::session::Session;
use crate::error::JudgeError;

pub(super) async fn run(session: &mut Session) -> Result<(), JudgeError> {
    origin::run(session).await?;
    forms::run(session).await
}
