//! The pages of an archive, imported again by a poller.

use super::Archive;
use crate::poller::{PageFuture, PageSource};
use crate::{AccountState, Call, CallError, CallErrorKind, PollError, Poller, StatementPage};
use bankrail_camt052::ReadOptions;
use bankrail_mailbox::ArchiveRecord;
use bankrail_statement::{AccountId, StatementReply, StatementRequest};
use bankrail_values::{StoreError, Timestamp};
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The number of waits in a row without an imported page, after which the import ends.
const MAX_IDLE_LOOKS: u32 = 100;

/// The archived pages of an account in place of the statement endpoint, at the times of their
/// requests ([`Archive::replay`]). Cheap to clone; clones share everything.
///
/// A poller over an archive and an empty store hands over the same entries as the poller whose
/// client archived the pages, if it has the same options. Each page is imported once, in its order.
///
/// - If a page was requested with another cursor than the poller's, as after a restart of the
///   process or a failed call, the poller is interrupted and begins at its recorded position. If
///   the recorded position has another cursor too, the page is taken as the first one of a full
///   walk.
/// - A record that cannot be read as a statement is left out and listed ([`Imported::unreadable`]).
///
/// ```no_run
/// use bankrail_client::{Archive, NewEntries, PolledAccount, Poller, PollerOptions};
/// use bankrail_statement::AccountId;
/// use bankrail_stores::sqlite::{SqliteOptions, SqliteStore};
/// use std::sync::Arc;
///
/// # async fn example(archive: Archive) -> Result<(), Box<dyn std::error::Error>> {
/// let account = AccountId::parse("012003123456789")?;
/// let replay = archive.replay(&account, Default::default()).await?;
/// let book = |new: NewEntries| async move {
///     println!("{} new entries", new.entries.len());
///     Ok(())
/// };
/// let empty = Arc::new(SqliteStore::open("again.db", SqliteOptions::new())?);
/// let poller = Poller::new(&replay, empty, [PolledAccount::new(account)], book, PollerOptions::new());
/// println!("{} pages", replay.import(&poller).await?.pages);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Replay(Arc<ReplayState>);

struct ReplayState {
    archive: Archive,
    account: AccountId,
    read: ReadOptions,
    pages: Vec<ArchiveRecord>,
    progress: Mutex<Progress>,
    /// Notified when the poller has to be interrupted: it requested a page after the last one or
    /// with another cursor, or the archive failed.
    interrupted: Notify,
}

struct Progress {
    now: Timestamp,
    imported: Imported,
    fault: Option<StoreError>,
    /// The record for which the poller was interrupted last.
    interrupted_at: u64,
}

/// The outcome of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// The number of imported pages.
    pub pages: usize,
    /// The numbers of the records that could not be read as a statement.
    pub unreadable: Vec<u64>,
}

/// The reason why not all pages were imported. To try again, begin with an empty store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The archive failed, or a record was sealed with another secret.
    #[error("the archive failed")]
    Archive(#[source] StoreError),
    /// The poller has stopped the account.
    #[error("the poller stopped the account")]
    Stopped(#[source] Arc<PollError>),
    /// The poller requests no more pages, because it does not poll the account or its store fails.
    #[error("the poller imports no pages of the account")]
    Idle,
}

impl Replay {
    pub(super) fn new(
        archive: Archive,
        account: AccountId,
        read: ReadOptions,
        pages: Vec<ArchiveRecord>,
    ) -> Self {
        let now = pages
            .first()
            .map_or(Timestamp::UNIX_EPOCH, |first| first.label.at);
        let progress = Mutex::new(Progress {
            now,
            imported: Imported::default(),
            fault: None,
            interrupted_at: 0,
        });
        Self(Arc::new(ReplayState {
            archive,
            account,
            read,
            pages,
            progress,
            interrupted: Notify::new(),
        }))
    }

    /// Runs a poller over these pages until it has imported them all. The poller must not run
    /// elsewhere.
    ///
    /// # Errors
    /// [`ImportError`] if it does not import all of them.
    pub async fn import(&self, poller: &Poller) -> Result<Imported, ImportError> {
        let mut idle = 0;
        loop {
            let before = self.taken();
            // Without records the source never answers, so the poller is dropped instead of ended.
            tokio::select! {
                // The poller has one page at a time: all are recorded when it asks for another one.
                () = self.0.interrupted.notified() => {
                    if let Some(error) = self.progress().fault.take() {
                        return Err(ImportError::Archive(error));
                    }
                    if self.next().is_none() {
                        return Ok(self.progress().imported.clone());
                    }
                }
                _ = poller.run_due() => {}
            }
            idle = if self.taken() == before { idle + 1 } else { 0 };
            let until = match poller.state(&self.0.account) {
                Some(AccountState::Stopped { error, .. }) => {
                    return Err(ImportError::Stopped(error));
                }
                Some(AccountState::Waiting { until, .. }) if idle < MAX_IDLE_LOOKS => until,
                _ => return Err(ImportError::Idle),
            };
            let next = self.next().map_or(until, |next| next.label.at);
            let mut progress = self.progress();
            // Never back, which the poller would take for a clock that was set.
            progress.now = progress.now.max(until).max(next);
        }
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.0
            .progress
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of records that were imported or left out.
    fn taken(&self) -> usize {
        let imported = &self.progress().imported;
        imported.pages + imported.unreadable.len()
    }

    fn next(&self) -> Option<&ArchiveRecord> {
        self.0.pages.get(self.taken())
    }

    /// Returns the answer of the next record that can be read; `None` if there is none, or if the
    /// poller has to begin at its position.
    async fn answer(
        &self,
        request: &StatementRequest,
    ) -> Result<Option<PageOrRefusal>, StoreError> {
        while let Some(record) = self.next() {
            let archived = self.0.archive.find(record.number).await?;
            let asked = archived
                .as_ref()
                .and_then(|one| StatementRequest::from_json(one.note.as_bytes()).ok());
            if asked
                .as_ref()
                .is_some_and(|asked| asked.cursor != request.cursor)
            {
                // Once for each record: a poller that asks with another cursor again has recorded
                // that one.
                if std::mem::replace(&mut self.progress().interrupted_at, record.number)
                    != record.number
                {
                    return Ok(None);
                }
                if request.cursor.is_some() {
                    // A refused cursor is followed by a request for the first page.
                    let refusal = CallErrorKind::Service { title: None };
                    return Ok(Some(Err(CallError {
                        status: Some(400),
                        ..CallError::new(Call::Statement, refusal)
                    })));
                }
            }
            let page = asked.zip(archived).and_then(|(asked, one)| {
                match StatementReply::parse(200, &one.body) {
                    Ok(StatementReply::Statement(received)) => {
                        StatementPage::read(&asked, received, 200, &self.0.read)
                            .or_else(CallError::readable)
                            .ok()
                    }
                    _ => None,
                }
            });
            let mut progress = self.progress();
            progress.now = progress.now.max(record.label.at);
            match page {
                Some(page) => {
                    progress.imported.pages += 1;
                    return Ok(Some(Ok(page)));
                }
                None => progress.imported.unreadable.push(record.number),
            }
        }
        Ok(None)
    }
}

type PageOrRefusal = Result<StatementPage, CallError>;

impl PageSource for Replay {
    fn page<'a>(&'a self, request: &'a StatementRequest) -> PageFuture<'a> {
        Box::pin(async move {
            match self.answer(request).await {
                Ok(Some(answer)) => return answer,
                Ok(None) => {}
                Err(error) => self.progress().fault = Some(error),
            }
            // `notify_one` keeps the notice until `import` waits for it.
            self.0.interrupted.notify_one();
            pending().await
        })
    }

    fn calls_an_hour(&self) -> Option<usize> {
        None
    }

    fn now(&self) -> Timestamp {
        self.progress().now
    }
}

// Without the account.
bankrail_values::impl_debug!(Replay, self; pages: self.0.pages.len());
