//! The client of statements: one page, page by page, or all pages.

mod page;
mod pages;

pub use page::{Statement, StatementPage};
pub use pages::{FetchedPage, Pages};

use crate::answer_form::AnswerForm;
use crate::archive::Archive;
use crate::call_error::{Call, CallError, CallErrorKind};
use crate::pace::AccountPacers;
use crate::pacer::Pacer;
use crate::token::{Token, TokenSource};
use crate::transport::{Caller, Reply};
use bankrail_camt052::ReadOptions;
use bankrail_mailbox::ArchiveLabel;
use bankrail_statement::{
    AccountId, Checkpoint, ErrorCode, PageWalk, StatementReply, StatementRequest,
};
use bankrail_values::Timestamp;
use http::{HeaderValue, StatusCode};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Fetches statements of registered accounts (Specification: "Request statement").
///
/// - A reserved account number is refused before anything is sent.
/// - Calls keep to the limit of 25 an hour; see [`Pacing`](crate::Pacing).
/// - If the service refuses the token, a call replaces it once.
/// - The service's error is recognised with any HTTP status.
/// - Cheap to clone; clones share limits and connections.
#[derive(Clone, Debug)]
pub struct StatementClient(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    caller: Caller,
    /// `None`: all accounts share the caller's pacer.
    apart: Option<AccountPacers>,
    /// The accounts whose calls a `Retry-After` holds back.
    held: AccountPacers,
    /// The account whose call was answered with a `Retry-After` last, and until when, if no call
    /// has succeeded since.
    refused: Mutex<Option<(String, Timestamp)>>,
    tokens: TokenSource,
    read: ReadOptions,
    archive: Option<Archive>,
}

impl StatementClient {
    pub(crate) fn new(
        caller: Caller,
        apart: Option<AccountPacers>,
        held: AccountPacers,
        tokens: TokenSource,
        read: ReadOptions,
        archive: Option<Archive>,
    ) -> Self {
        Self(Arc::new(Parts {
            caller,
            apart,
            held,
            refused: Mutex::default(),
            tokens,
            read,
            archive,
        }))
    }

    /// Fetches one page. Dropping the future is safe, but the service may have counted the call.
    ///
    /// # Errors
    /// [`CallError`] if the call was not sent, failed, or had no usable statement as its
    /// answer.
    pub async fn page(&self, request: &StatementRequest) -> Result<StatementPage, CallError> {
        self.page_or(request, Err).await
    }

    /// Fetches one page. `or` first gets the error of a fetched page, which it may replace by a
    /// page.
    pub(crate) async fn page_or(
        &self,
        request: &StatementRequest,
        or: fn(CallError) -> Result<StatementPage, CallError>,
    ) -> Result<StatementPage, CallError> {
        refuse_reserved(request)?;
        let outcome = self.fetch(request).await.or_else(or);
        let caller = &self.0.caller;
        match &outcome {
            Ok(page) => {
                caller.succeeded();
                let findings = page.received.findings.len() + page.document_findings.len();
                tracing::debug!(request_key = %page.request_key(), findings, "statement received");
            }
            Err(error) => caller.failed("no statement", error),
        }
        outcome
    }

    /// Walks through the pages of a statement from its first page, or from the request's own
    /// cursor.
    ///
    /// ```no_run
    /// # use bankrail_statement::{AccountId, StatementRequest};
    /// # async fn example(client: bankrail_client::Client) -> Result<(), Box<dyn std::error::Error>> {
    /// let request = StatementRequest::new(&AccountId::parse("012003123456789")?);
    /// let mut pages = client.statements().pages(request);
    /// while let Some(page) = pages.next().await? {
    ///     // Store the entries and the checkpoint in one transaction …
    ///     let (document, checkpoint) = (&page.document, page.checkpoint());
    /// #   let _ = (document, checkpoint);
    ///     // … and only then continue.
    ///     page.stored()?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn pages(&self, request: StatementRequest) -> Pages {
        Pages::new(self.clone(), request, PageWalk::new())
    }

    /// Continues a walk after the page of a checkpoint. The request must be the same as in that
    /// walk.
    #[must_use]
    pub fn resume(&self, request: StatementRequest, checkpoint: Checkpoint) -> Pages {
        Pages::new(self.clone(), request, PageWalk::resume(checkpoint))
    }

    /// Fetches all pages of an account's statement, at most [`Pages::DEFAULT_MAX_PAGES`] of them,
    /// into memory.
    ///
    /// # Errors
    /// [`CallError`] of a page. The pages before it are lost, so use
    /// [`StatementClient::pages`] for long statements.
    pub async fn statement(&self, account: &AccountId) -> Result<Statement, CallError> {
        self.pages(StatementRequest::new(account)).collect().await
    }

    /// Returns the time by the client's clock.
    pub(crate) fn now(&self) -> Timestamp {
        self.0.caller.now()
    }

    pub(crate) fn counts_apart(&self) -> bool {
        self.0.apart.is_some()
    }

    pub(crate) fn caller(&self) -> &Caller {
        &self.0.caller
    }

    /// Sends a request without a token, which is refused and counts as no call, and returns the
    /// answer's status.
    pub(crate) async fn unauthorized(&self) -> Result<u16, CallError> {
        self.0
            .caller
            .post_uncounted("application/json", b"{}")
            .await
            .map(|reply| reply.status.as_u16())
    }

    async fn fetch(&self, request: &StatementRequest) -> Result<StatementPage, CallError> {
        let (reply, token) = self.send(request).await?;
        match self.read(request, &reply) {
            // The token may have been revoked, or may have expired on the way: call again with
            // another one, which may have been fetched meanwhile.
            Err(CallError {
                reason: CallErrorKind::Unauthorized,
                ..
            }) => self.0.tokens.refused(&token).await,
            outcome => return outcome,
        }
        // Once only: a refusal of another token has a cause other than the token.
        let (reply, _) = self.send(request).await?;
        self.read(request, &reply)
    }

    fn pacer(&self, request: &StatementRequest) -> Arc<Pacer> {
        let Parts { caller, apart, .. } = &*self.0;
        let of = |apart: &AccountPacers| apart.of(request.account_id());
        apart.as_ref().map_or_else(|| caller.pacer.clone(), of)
    }

    /// Holds calls back until the time of an answer's `Retry-After`, and returns that time.
    ///
    /// The limits are a customer's, but an answer does not show whether its `Retry-After` is meant
    /// for the account or for all accounts. So the account waits until that time, and the others
    /// wait only for the time that the slowest limit takes for one call. If the next account gets a
    /// `Retry-After` too, without a success in between, all accounts wait until that time.
    fn hold(&self, request: &StatementRequest, reply: &Reply) -> Option<Timestamp> {
        let (caller, pacer, account) = (&self.0.caller, self.pacer(request), request.account_id());
        if self.counts_apart() {
            return caller.hold(&pacer, reply);
        }
        reply.retry_after?;
        let until = caller.hold(&self.0.held.of(account), reply)?;
        let now = self.now();
        let before = self.refused().replace((account.to_owned(), until));
        let is_for_all = before.is_some_and(|(other, held)| other != account && held > now);
        let briefly = now.saturating_add(Caller::pause(&pacer));
        pacer.hold_until(if is_for_all {
            until
        } else {
            until.min(briefly)
        });
        Some(until)
    }

    fn refused(&self) -> MutexGuard<'_, Option<(String, Timestamp)>> {
        // The pair is written at once, so a panic elsewhere leaves it consistent.
        let refused = self.0.refused.lock();
        refused.unwrap_or_else(PoisonError::into_inner)
    }

    async fn send(&self, request: &StatementRequest) -> Result<(Reply, Arc<Token>), CallError> {
        let (parts, asked_at) = (&*self.0, self.now());
        // The token is needed before the call is counted, and asked for again because waiting can
        // outlast its life.
        parts.tokens.token().await?;
        if let Some(held) = parts.held.known(request.account_id()) {
            drop(parts.caller.admit(&held).await?);
        }
        let admitted = parts.caller.admit(&self.pacer(request)).await?;
        let token = parts.tokens.token().await?;
        let mut authorization =
            HeaderValue::from_str(token.access_token.to_authorization().expose_secret())
                .expect("a token is a UUID, which a header can carry");
        // Not printed by the HTTP stack, nor kept in its table of headers.
        authorization.set_sensitive(true);
        let body = request.to_json().into_bytes();
        let reply = parts
            .caller
            .post(admitted, "application/json", Some(authorization), body)
            .await?;
        if let Some(archive) = parts.archive.as_ref().filter(|_| reply.status.is_success()) {
            let label = ArchiveLabel::new(
                Archive::PAGE,
                request.account_id(),
                reply.request_key,
                asked_at,
            );
            // Before it is read, so that an answer that cannot be read is kept too.
            archive.keep(label, &request.to_json(), &reply.body).await;
        }
        Ok((reply, token))
    }

    fn read(&self, request: &StatementRequest, reply: &Reply) -> Result<StatementPage, CallError> {
        let status = reply.status.as_u16();
        let (error, refusal) = match StatementReply::parse(status, &reply.body) {
            Ok(StatementReply::Statement(received)) => {
                *self.refused() = None;
                return StatementPage::read(request, received, status, &self.0.read);
            }
            Ok(StatementReply::Error(error)) => (Some(error), None),
            Err(refusal) => (None, Some(refusal)),
        };
        let request_key = error
            .as_ref()
            .and_then(|error| error.request_key)
            .or(reply.request_key);
        let code = error.as_ref().and_then(|error| error.code.as_ref());
        let caller = &self.0.caller;
        let mut failed = CallError {
            status: Some(status),
            code: code.map(|code| code.as_str().into()),
            request_key,
            ..caller.failure(CallErrorKind::Unauthorized)
        };
        if reply.status == StatusCode::TOO_MANY_REQUESTS {
            failed.reason = CallErrorKind::TooManyCalls;
            let until = self.hold(request, reply);
            let pacer = self.pacer(request);
            failed.retry_at = until.or_else(|| Some(caller.hold_refused(&pacer, reply)));
            return Err(failed);
        }
        // A gateway in front of the service answers 401 with its own code, under any status
        // (Default: "Statement exchange").
        if reply.status == StatusCode::UNAUTHORIZED
            || code.and_then(ErrorCode::gateway_status) == Some(401)
        {
            return Err(failed);
        }
        if reply.status.is_server_error() {
            failed.retry_at = self.hold(request, reply);
        }
        failed.reason = match (error, refusal) {
            (Some(error), _) => CallErrorKind::Service {
                // A peer's text, bounded.
                title: error.title.map(|title| title.chars().take(200).collect()),
            },
            (None, Some(source)) if reply.status.is_success() && reply.form == AnswerForm::Json => {
                CallErrorKind::Reply(source)
            }
            _ => CallErrorKind::Unexpected {
                form: reply.form,
                target: reply.target.clone(),
            },
        };
        Err(failed)
    }
}

/// Refuses reserved account numbers, which must not be used (Specification: "Request statement",
/// test data), and texts that are not account identifiers, which could hide one.
fn refuse_reserved(request: &StatementRequest) -> Result<(), CallError> {
    let failed = |reason| CallError::new(Call::Statement, reason);
    let account = request
        .account()
        .map_err(|error| failed(CallErrorKind::Account(error)))?;
    if account.is_reserved_for_negative_testing() {
        return Err(failed(CallErrorKind::ReservedAccount { account }));
    }
    Ok(())
}
