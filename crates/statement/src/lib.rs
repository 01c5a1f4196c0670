//! The intraday statement exchange: request, response, errors, cursors, paging and entry de-duplication.
//!
//! What it is: the JSON around a camt.052 document, for both sides of the call. A server reads a [`StatementRequest`],
//! and writes a [`StatementResponse`] or a [`StatementErrorBody`], strictly; a client writes the request and reads a
//! [`StatementReply`], tolerantly. For the client it also knows how to walk through the pages ([`PageWalk`]) and how to
//! tell entries that come again from new ones ([`EntryIdentity`], [`SeenEntries`]).
//!
//! What it is not: it opens no connection and keeps nothing; the document itself is `bankrail-camt052`'s.
//!
//! ```
//! use bankrail_statement::{
//!     AccountId, EntryIdentity, Page, PageWalk, StatementReply, StatementRequest, StatementResponse, Step,
//! };
//!
//! // The client asks ...
//! let account = AccountId::parse("012003123456789")?;
//! assert!(!account.is_reserved_for_negative_testing());
//! let asked = StatementRequest::new(&account);
//!
//! // ... the server answers ...
//! let request = StatementRequest::from_json(asked.to_json().as_bytes())?;
//! let key = "0b7c2f6e-8a1d-41eb-8dcd-0242ac130003".parse()?;
//! let answer = StatementResponse::new(&request.account()?, key, Page::Last);
//! # let xml = r#"<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.052.001.06"><BkToCstmrAcctRpt><GrpHdr><MsgId>m</MsgId><CreDtTm>2021-07-29T17:10:05.1750344+10:00</CreDtTm></GrpHdr><Rpt><Id>r</Id><CreDtTm>2021-07-29T17:10:05+10:00</CreDtTm><Acct><Id><Othr><Id>012003123456789</Id></Othr></Id></Acct></Rpt></BkToCstmrAcctRpt></Document>"#;
//! # let document = bankrail_camt052::Document::parse(xml)?.document;
//! let mut body = String::new();
//! answer.write_json(&document, &mut body)?;
//!
//! // ... and the client reads the page, stores its entries, and goes on or is done.
//! let StatementReply::Statement(mut page) = StatementReply::parse(200, body.as_bytes())? else { panic!("an error") };
//! page.check_against(&asked)?;
//! let read = page.document()?;
//! page.check_document(&read.document, &asked)?;
//! let entries = read.document.reports.iter().flat_map(|report| &report.entries);
//! let identities: Vec<EntryIdentity> = entries.map(EntryIdentity::of).collect();
//! let mut walk = PageWalk::new();
//! let pending = walk.receive(&page.page, &identities);
//! // find_new(&store, ...), import the new ones, store.record(...), keep pending.checkpoint(), and then:
//! assert_eq!(pending.stored()?, Step::Done);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Nouns
//!
//! - [`AccountId`], [`Cursor`], [`MaxEntries`], [`ErrorCode`]: checked values.
//! - [`StatementRequest`]; [`StatementResponse`] with its [`Page`]; [`StatementErrorBody`].
//! - [`StatementReply`]: a [`ReceivedStatement`] or a [`ReceivedError`], whatever the HTTP status; [`Finding`] for what
//!   was survived.
//! - [`Position`]: what a server's cursor stands for. [`PageWalk`], [`PendingPage`], [`Checkpoint`]: paging on the
//!   client's side.
//! - [`EntryIdentity`], [`SeenEntries`], [`find_new`]: de-duplication.
//! - [`EntryChannel`], [`apply_narrative`], [`VirtualAccount`]: what `includeNarrative` shows.
//!
//! # Security notes
//!
//! - Bodies are bounded by their readers (requests) or by the caller (answers); nothing larger than the body is
//!   allocated, and error texts quote at most 40 characters of a member, never the payload.
//! - An answer about another account than the one asked for is an error, not a finding.
//! - A cursor is opaque and not authenticated by this crate: treat it as input.

#![forbid(unsafe_code)]

mod account;
mod cursor;
mod document;
mod error_body;
mod finding;
mod identity;
mod narrative;
mod position;
mod reply;
mod request;
mod response;
mod seen;
mod walk;

pub use account::{AccountId, AccountIdError};
pub use cursor::{Cursor, CursorError};
pub use error_body::{ErrorCode, StatementErrorBody};
pub use finding::Finding;
pub use narrative::{EntryChannel, VirtualAccount, apply_narrative, strip_narrative};
pub use position::Position;
pub use reply::{ReceivedError, ReceivedPage, ReceivedStatement, ReplyError, StatementReply};
pub use request::{Extract, MaxEntries, RequestError, SortOrder, StatementRequest};
pub use response::{Page, StatementResponse};
pub use seen::{EntryIdentity, EntryKey, SeenEntries, SeenEntry, find_new};
pub use walk::{Checkpoint, CheckpointError, PageWalk, PendingPage, Step, WalkError};
