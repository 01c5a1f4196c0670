//! The record of what came of a message.

use super::{HANDLED, Handled, HandlerError, WorkerState};
use crate::measure;
use bankrail_mailbox::{
    Disposition, EntryId, Inbox, InboxEntry, InboxState, InboxUpdate, LeaseOwner,
};
use bankrail_values::{StoreError, StoreErrorKind, jitter};
use std::time::Duration;
use tokio::time::Instant;

/// The pauses before the outcome of a message is stored again after a failure of the inbox: the
/// first and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

impl<I: Inbox + ?Sized + 'static> WorkerState<I> {
    /// Notes what came of a message. If the inbox fails it is asked again, for as long as a lease
    /// lasts: a short outage starts no handler again.
    pub(super) async fn note(
        &self,
        id: EntryId,
        owner: LeaseOwner,
        attempts: u32,
        outcome: &Result<Handled, HandlerError>,
    ) -> Result<bool, StoreError> {
        let text = outcome
            .as_ref()
            .err()
            .map(HandlerError::text)
            .unwrap_or_default();
        let text = cut(&text);
        let update = match outcome {
            Ok(Handled::Committed) => return Ok(true),
            Ok(Handled::LeaseLost) => return Ok(false),
            Ok(Handled::Done) => InboxUpdate::to(InboxState::Completed),
            Err(error) => match self.options.schedule.after_failure(
                attempts,
                self.clock.now(),
                None,
                jitter(),
            ) {
                Disposition::RetryAt(due) if !error.permanent => InboxUpdate {
                    due: Some(due),
                    error: Some(&text),
                    ..InboxUpdate::to(InboxState::Pending)
                },
                _ => InboxUpdate {
                    error: Some(&text),
                    ..InboxUpdate::to(InboxState::DeadLetter)
                },
            },
        };
        let (begun, mut pause) = (Instant::now(), FIRST_PAUSE);
        let mut noted = self.inbox.update(id, owner, update, self.clock.now()).await;
        while let Err(error) = &noted
            // Neither passes by waiting.
            && !matches!(
                error.kind(),
                StoreErrorKind::Corrupt | StoreErrorKind::Conflict
            )
            // After the lease another worker may have the message, so that its outcome is no longer
            // ours to store.
            && begun.elapsed() + pause < self.options.lease
        {
            tracing::warn!(entry = %id, %error, "the inbox failed, and is tried again");
            tokio::time::sleep(pause).await;
            // Doubled, so that an inbox that is down is not loaded by all workers.
            pause = (pause * 2).min(LONGEST_PAUSE);
            noted = self.inbox.update(id, owner, update, self.clock.now()).await;
            // An attempt before may have taken effect.
            if matches!(noted, Ok(false)) {
                noted = self
                    .inbox
                    .find(id)
                    .await
                    .map(|entry| entry.is_some_and(|entry| is_applied(&entry, &update)));
            }
        }
        if matches!(noted, Ok(true)) {
            self.count(id, attempts, update.state);
        }
        noted
    }

    fn count(&self, id: EntryId, attempts: u32, state: InboxState) {
        match state {
            InboxState::Completed => {}
            InboxState::Pending => {
                self.lock_counts().failed += 1;
                measure::count(HANDLED, &[("outcome", "failed")], 1);
            }
            InboxState::DeadLetter => {
                self.lock_counts().dead_letters += 1;
                measure::count(HANDLED, &[("outcome", "dead_letter")], 1);
                tracing::error!(entry = %id, attempts, "a message became a dead letter");
            }
        }
    }
}

/// Cuts the text of a handler's error, which may have any length.
pub(super) fn cut(text: &str) -> String {
    text.chars().take(500).collect()
}

/// Returns true if an entry is as this update leaves it.
fn is_applied(entry: &InboxEntry, update: &InboxUpdate<'_>) -> bool {
    entry.state == update.state
        && (update.error.is_none() || entry.last_error.as_deref() == update.error)
}
