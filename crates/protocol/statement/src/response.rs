//! The successful answer that a server sends (Specification: "Statement response").

use crate::{AccountId, Cursor, SortOrder};
use bankrail_camt052::{Document, WriteError};
use bankrail_values::HyphenatedUuid;
use bankrail_values::json;

/// The indication of a next page: one of both combinations of `moreTransactionsAvailable` and
/// `cursor` that the specification allows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the specification has exactly these two"
)]
pub enum NextPage {
    /// There is no next page: `moreTransactionsAvailable` is false and there is no `cursor`.
    None,
    /// There is a next page: `moreTransactionsAvailable` is true and `cursor` names it.
    At {
        /// The cursor of the next page.
        cursor: Cursor,
    },
}

/// The members of a successful answer except the payload, which [`StatementResponse::write_json`]
/// writes directly into the JSON text.
///
/// ```
/// use bankrail_statement::{AccountId, NextPage, StatementResponse};
/// let account = AccountId::parse("012003123456789")?;
/// let key = "0b7c2f6e-8a1d-41eb-8dcd-0242ac130003".parse()?;
/// assert_eq!(
///     StatementResponse::new(&account, key, NextPage::None).to_json("<Document/>"),
///     concat!(
///         r#"{"accountId":"012003123456789","extract":"intraday","payload":"<Document/>","#,
///         r#""requestKey":"0b7c2f6e-8a1d-41eb-8dcd-0242ac130003","moreTransactionsAvailable":false}"#,
///     ),
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatementResponse {
    /// The requested account.
    pub account: AccountId,
    /// `sortOrder`. The specification shows it for accounts with virtual-account details only. All
    /// pages of a statement should have it, or none (Default).
    pub sort_order: Option<SortOrder>,
    /// The request key of this call.
    pub request_key: HyphenatedUuid,
    /// The indication of a next page.
    pub next_page: NextPage,
}

impl StatementResponse {
    /// Creates an answer without `sortOrder`.
    #[must_use]
    pub fn new(account: &AccountId, request_key: HyphenatedUuid, next_page: NextPage) -> Self {
        Self {
            account: account.clone(),
            sort_order: None,
            request_key,
            next_page,
        }
    }

    /// Writes the answer with a document's XML text as its payload.
    #[must_use]
    pub fn to_json(&self, payload: &str) -> String {
        // The capacity has room for the escapes of quotation marks and line ends.
        let mut out = String::with_capacity(payload.len() + payload.len() / 8 + 256);
        self.write_json_of([payload], &mut out);
        out
    }

    /// Appends the answer to `out`, with a document's XML text in parts as its payload.
    pub fn write_json_of<'a>(&self, payload: impl IntoIterator<Item = &'a str>, out: &mut String) {
        self.write_head(out);
        out.push('"');
        payload
            .into_iter()
            .for_each(|part| json::write_content(part, out));
        out.push('"');
        self.write_tail(out);
    }

    /// Appends the answer with a document as its payload to `out`. The XML is written directly into
    /// the JSON text, without a copy.
    ///
    /// # Errors
    /// [`WriteError`] if the document lacks a mandatory element or has a text that XML cannot
    /// carry. `out` is then unchanged.
    pub fn write_json(&self, document: &Document, out: &mut String) -> Result<(), WriteError> {
        let length = out.len();
        self.write_head(out);
        if let Err(error) = document.write_json_string(out) {
            out.truncate(length);
            return Err(error);
        }
        self.write_tail(out);
        Ok(())
    }

    /// Writes everything before the payload's opening quotation mark.
    fn write_head(&self, out: &mut String) {
        out.push_str(r#"{"accountId":"#);
        json::write_string(self.account.as_str(), out);
        out.push_str(r#","extract":"intraday""#);
        if let Some(order) = self.sort_order {
            out.push_str(&format!(r#","sortOrder":"{}""#, order.as_str()));
        }
        out.push_str(r#","payload":"#);
    }

    /// Writes everything after the payload's closing quotation mark.
    fn write_tail(&self, out: &mut String) {
        out.push_str(&format!(r#","requestKey":"{}""#, self.request_key));
        match &self.next_page {
            NextPage::None => out.push_str(r#","moreTransactionsAvailable":false}"#),
            NextPage::At { cursor } => {
                out.push_str(r#","cursor":"#);
                json::write_string(cursor.as_str(), out);
                out.push_str(r#","moreTransactionsAvailable":true}"#);
            }
        }
    }
}
