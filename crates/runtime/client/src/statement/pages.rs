//! The walk through a statement's pages.

use super::{Statement, StatementClient, StatementPage};
use crate::call_error::{Call, CallError, CallErrorKind};
use bankrail_rate_limit::CallType;
use bankrail_statement::{
    Checkpoint, EntryIdentity, PageWalk, PendingPage, SeenEntry, StatementRequest, Step,
};
use std::ops::Deref;

/// A walk through the pages of one statement, from [`StatementClient::pages`].
///
/// A page that is dropped without [`FetchedPage::stored`] is fetched again by the next
/// [`Pages::next`]. After three fetches of a page, that is an error.
#[derive(Debug)]
pub struct Pages {
    client: StatementClient,
    request: StatementRequest,
    walk: PageWalk,
    over: bool,
    /// The number of times that the current page was returned.
    handed_out: u32,
}

impl Pages {
    /// The maximum number of pages of a walk unless [`Pages::max_pages`] sets another number: the
    /// calls that are allowed in an hour.
    pub const DEFAULT_MAX_PAGES: usize = match CallType::Statement.default_windows() {
        // Lossless: `usize` has at least the 32 bits of a limit.
        [hour, ..] => hour.limit() as usize,
        [] => usize::MAX,
    };

    pub(super) fn new(client: StatementClient, request: StatementRequest, walk: PageWalk) -> Self {
        let walk = walk.max_pages(Self::DEFAULT_MAX_PAGES);
        Self {
            client,
            request,
            walk,
            over: false,
            handed_out: 0,
        }
    }

    /// Sets the maximum number of pages of this walk.
    #[must_use]
    pub fn max_pages(mut self, pages: usize) -> Self {
        self.walk = self.walk.max_pages(pages);
        self
    }

    /// Fetches the next page; `None` after the last. Dropping the future is safe: the walk is
    /// unchanged.
    ///
    /// # Errors
    /// [`CallError`]. The walk is unchanged, so a retryable error can be followed by another
    /// call.
    pub async fn next(&mut self) -> Result<Option<FetchedPage<'_>>, CallError> {
        const MAX_FETCHES: u32 = 3;
        if self.over {
            return Ok(None);
        }
        // A caller that never stores a page would use up the calls of an hour with it.
        if self.handed_out >= MAX_FETCHES {
            let times = self.handed_out;
            return Err(CallError::new(
                Call::Statement,
                CallErrorKind::NotStored { times },
            ));
        }
        if let Some(cursor) = self.walk.cursor() {
            self.request.cursor = Some(cursor.clone());
        }
        // Counted after the answer: a dropped or failed call is not a page that was handed out.
        let page = self.client.page(&self.request).await?;
        self.handed_out += 1;
        let identities: Vec<EntryIdentity> = page.entries().map(EntryIdentity::of).collect();
        let pending = self.walk.receive(&page.received.next_page, &identities);
        Ok(Some(FetchedPage {
            page,
            pending,
            over: &mut self.over,
            handed_out: &mut self.handed_out,
        }))
    }

    /// Fetches the remaining pages into memory.
    ///
    /// # Errors
    /// [`CallError`] of a page. The pages before it are lost.
    pub async fn collect(mut self) -> Result<Statement, CallError> {
        let mut statement = Statement::default();
        while let Some(page) = self.next().await? {
            statement.pages.push(page.stored()?);
        }
        Ok(statement)
    }
}

/// A page that was fetched and not yet stored. It dereferences to its [`StatementPage`].
#[derive(Debug)]
#[must_use = "the walk advances only when `stored` is called"]
pub struct FetchedPage<'a> {
    page: StatementPage,
    pending: PendingPage<'a>,
    over: &'a mut bool,
    handed_out: &'a mut u32,
}

impl FetchedPage<'_> {
    /// Returns the checkpoint to store in one transaction with the page, from which the walk
    /// continues after a crash ([`StatementClient::resume`]); `None` if there is no next page.
    #[must_use]
    pub fn checkpoint(&self) -> Option<Checkpoint> {
        self.pending.checkpoint()
    }

    /// Returns the page's entries in their order, counted over the whole walk. Pass them to
    /// [`bankrail_statement::find_new`], then to
    /// [`bankrail_statement::TransactionalSeenEntries::record_with`] or, after the import, to
    /// [`bankrail_statement::SeenEntries::record`], with the checkpoint as the position.
    #[must_use]
    pub fn seen_entries(&self) -> &[SeenEntry] {
        self.pending.entries()
    }

    /// Confirms that the page is stored, and advances the walk.
    ///
    /// # Errors
    /// [`CallErrorKind::Walk`] if the statement cannot be read to its end. This page and those
    /// before it are valid.
    pub fn stored(self) -> Result<StatementPage, CallError> {
        // A stored page ends the row of repetitions.
        *self.handed_out = 0;
        match self.pending.stored() {
            Ok(Step::Fetch(_)) => {}
            Ok(Step::Done) => *self.over = true,
            Err(error) => {
                *self.over = true;
                return Err(CallError::new(Call::Statement, CallErrorKind::Walk(error)));
            }
        }
        Ok(self.page)
    }
}

impl Deref for FetchedPage<'_> {
    type Target = StatementPage;

    fn deref(&self) -> &StatementPage {
        &self.page
    }
}
