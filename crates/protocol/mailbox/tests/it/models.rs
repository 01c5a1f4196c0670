//! The suites pass on their own models, and find the fault in each faulty model.

use bankrail_mailbox::testing::{ModelInbox, ModelOutbox, inbox_suite, outbox_suite, run_ready};
use bankrail_mailbox::*;
use bankrail_values::{StoreFuture, Timestamp};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

#[test]
fn the_model_inbox_passes_its_suite() {
    run_ready(inbox_suite(async || ModelInbox::new()));
    assert_eq!(
        ModelInbox::new().retention(),
        None,
        "an engine that forgets nothing by itself says nothing of it"
    );
}

#[test]
fn the_model_outbox_passes_its_suite() {
    run_ready(outbox_suite(async || ModelOutbox::new()));
}

/// A mistake that an engine may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// A duplicate is answered with its own acknowledgement.
    FreshAcknowledgement,
    /// Only the first hash is stored and looked up.
    FirstHashOnly,
    /// A conflict is answered as a duplicate.
    KeyAlone,
    /// Content in another spelling is a conflict.
    OneSpelling,
    /// Leases end a moment early.
    ShortLease,
    /// Leases end a moment late.
    LongLease,
    /// Entries are handed out before they are due.
    NotDue,
    /// Completing twice succeeds.
    CompleteAlways,
    /// A lease is never taken over: a crash loses the message.
    NoTakeOver,
    /// Leases whose answer was lost stay.
    NotGivenBack,
    /// The leases of all owners are given back.
    AllGivenBack,
    /// The lead of a clock that was ahead is not undone.
    NotRecalled,
    /// Entries that are due soon are recalled, too.
    AllRecalled,
    /// Dead letters are forgotten.
    Unlisted,
    /// Keys outlive their entries.
    Unforgetting,
}

#[derive(Debug)]
struct Faulty(ModelInbox, Fault);

impl Faulty {
    fn message(&self, message: &Incoming) -> Incoming {
        let mut message = message.clone();
        if self.1 == Fault::FirstHashOnly {
            message.key = DuplicateKey::from_hashes(message.key.hashes().first().copied());
        }
        if self.1 == Fault::KeyAlone {
            message.fingerprint = Fingerprint::from_bytes([0; 32]);
        }
        if self.1 == Fault::OneSpelling {
            message.other_spellings.clear();
        }
        message
    }

    fn lease_of(&self, lease: Lease) -> Lease {
        let moment = Duration::from_millis(1);
        let until = match self.1 {
            Fault::ShortLease => lease.until.saturating_sub(moment),
            Fault::LongLease => lease.until.saturating_add(moment),
            _ => lease.until,
        };
        Lease { until, ..lease }
    }
}

impl Inbox for Faulty {
    fn receive<'a>(
        &'a self,
        message: &'a Incoming,
        now: Timestamp,
    ) -> StoreFuture<'a, ReceiveOutcome> {
        Box::pin(async move {
            let outcome = self.0.receive(&self.message(message), now).await?;
            Ok(match outcome {
                ReceiveOutcome::InProgress { id, .. } if self.1 == Fault::FreshAcknowledgement => {
                    ReceiveOutcome::InProgress {
                        id,
                        acknowledgement: message.acknowledgement.clone(),
                    }
                }
                other => other,
            })
        })
    }

    fn lease<'a>(
        &'a self,
        kinds: &'a [Kind],
        limit: u32,
        lease: Lease,
        now: Timestamp,
    ) -> StoreFuture<'a, Vec<InboxEntry>> {
        let now = if self.1 == Fault::NoTakeOver {
            Timestamp::MIN
        } else {
            now
        };
        self.0.lease(kinds, limit, self.lease_of(lease), now)
    }

    fn update<'a>(
        &'a self,
        id: EntryId,
        owner: LeaseOwner,
        mut update: InboxUpdate<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        update.until = update
            .until
            .map(|until| self.lease_of(Lease { owner, until }).until);
        if self.1 == Fault::NotDue {
            update.due = update.due.map(|_| Timestamp::MIN);
        }
        if self.1 == Fault::Unlisted && update.state == InboxState::DeadLetter {
            update.state = InboxState::Completed;
        }
        let completes = self.1 == Fault::CompleteAlways && update.state == InboxState::Completed;
        Box::pin(async move { Ok(self.0.update(id, owner, update, now).await? || completes) })
    }

    fn release_all<'a>(&'a self, owners: &'a [LeaseOwner]) -> StoreFuture<'a, u64> {
        let all: Vec<LeaseOwner> = (0..=255)
            .map(|number| LeaseOwner::from_random_bytes([number; 16]))
            .collect();
        Box::pin(async move {
            match self.1 {
                Fault::NotGivenBack => Ok(0),
                Fault::AllGivenBack => self.0.release_all(&all).await,
                _ => self.0.release_all(owners).await,
            }
        })
    }

    fn recall(&self, latest: Timestamp, now: Timestamp) -> StoreFuture<'_, u64> {
        match self.1 {
            Fault::NotRecalled => Box::pin(async { Ok(0) }),
            Fault::AllRecalled => self.0.recall(now, now),
            _ => self.0.recall(latest, now),
        }
    }

    fn dead_letters(&self, after: Option<EntryId>, limit: u32) -> StoreFuture<'_, Vec<InboxEntry>> {
        self.0.dead_letters(after, limit)
    }

    fn resend(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool> {
        self.0.resend(id, now)
    }

    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<InboxEntry>> {
        self.0.find(id)
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        self.0.forget(if self.1 == Fault::Unforgetting {
            Timestamp::MIN
        } else {
            before
        })
    }

    fn oldest_pending(&self) -> StoreFuture<'_, Option<Timestamp>> {
        self.0.oldest_pending()
    }

    fn counts(&self) -> StoreFuture<'_, InboxCounts> {
        self.0.counts()
    }
}

#[test]
fn the_suite_finds_each_fault() {
    let passes = |fault| {
        catch_unwind(AssertUnwindSafe(|| {
            run_ready(inbox_suite(async || Faulty(ModelInbox::new(), fault)))
        }))
        .is_ok()
    };
    assert!(passes(Fault::None));
    for fault in [
        Fault::FreshAcknowledgement,
        Fault::FirstHashOnly,
        Fault::KeyAlone,
        Fault::OneSpelling,
        Fault::ShortLease,
        Fault::LongLease,
        Fault::NotDue,
        Fault::CompleteAlways,
        Fault::NoTakeOver,
        Fault::NotGivenBack,
        Fault::AllGivenBack,
        Fault::NotRecalled,
        Fault::AllRecalled,
        Fault::Unlisted,
        Fault::Unforgetting,
    ] {
        assert!(!passes(fault), "{fault:?} passes");
    }
}
