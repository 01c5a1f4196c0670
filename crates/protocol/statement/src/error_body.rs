//! The error answer of the statement endpoint (Specification: "Statement error response").

use bankrail_values::HyphenatedUuid;
use bankrail_values::json::JsonObjectWriter;
use std::borrow::Cow;
use std::fmt;

/// An error code: `EC` and digits, or the code of a gateway in front of the service (Default:
/// "Statement exchange").
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ErrorCode(Cow<'static, str>);

impl ErrorCode {
    /// The account does not exist (Specification: "Errors").
    pub const ACCOUNT_NOT_FOUND: Self = Self(Cow::Borrowed("EC20001"));
    /// The statement could not be retrieved (Default: "Statement exchange").
    pub const RETRIEVAL_FAILED: Self = Self(Cow::Borrowed("EC20003"));
    /// An internal error (Default: "Statement exchange").
    pub const INTERNAL: Self = Self(Cow::Borrowed("EC20005"));
    /// The request body is invalid (Default: "Statement exchange").
    pub const VALIDATION: Self = Self(Cow::Borrowed("EC42001"));

    /// Returns the code of a failure for which the specification has none: `EC` and the HTTP
    /// status.
    #[must_use]
    #[doc(hidden)]
    pub fn for_status(status: u16) -> Self {
        Self(Cow::Owned(format!("EC{status}")))
    }

    /// Creates a code that a server may send, `EC` and 1 to 16 digits; `None` for any other text.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let code = Self(Cow::Owned(text.to_owned()));
        code.is_well_formed().then_some(code)
    }

    /// Returns the code.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true for `EC` and 1 to 16 digits.
    #[must_use]
    #[doc(hidden)]
    pub fn is_well_formed(&self) -> bool {
        self.0.strip_prefix("EC").is_some_and(|digits| {
            (1..=16).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit())
        })
    }

    /// Returns true for the codes of a gateway in front of the service, `EC000_001` and so on,
    /// which are read and never sent.
    #[must_use]
    #[doc(hidden)]
    pub fn is_gateway(&self) -> bool {
        self.0.starts_with("EC000_")
    }

    /// Returns the HTTP status that a server sends with this code. The specification names none;
    /// the defaults are:
    ///
    /// - 404 for [`ErrorCode::ACCOUNT_NOT_FOUND`] and 400 for [`ErrorCode::VALIDATION`];
    /// - for a code made by [`ErrorCode::for_status`] from 400 to 599, that status;
    /// - 500 for any other code.
    #[must_use]
    #[doc(hidden)]
    pub fn default_status(&self) -> u16 {
        let of_status = || {
            let digits = self
                .0
                .strip_prefix("EC")
                .filter(|digits| digits.len() == 3)?;
            digits
                .parse()
                .ok()
                .filter(|status| (400..=599).contains(status))
        };
        match self {
            code if *code == Self::ACCOUNT_NOT_FOUND => 404,
            code if *code == Self::VALIDATION => 400,
            _ => of_status().unwrap_or(500),
        }
    }

    /// Returns the HTTP status that a gateway's code stands for (Default: "Statement exchange");
    /// `None` if it is unknown or not a gateway's.
    #[must_use]
    #[doc(hidden)]
    pub fn gateway_status(&self) -> Option<u16> {
        Self::gateway_status_of(&self.0)
    }

    /// Returns the status like [`ErrorCode::gateway_status`], for a code from any place.
    #[must_use]
    #[doc(hidden)]
    pub fn gateway_status_of(code: &str) -> Option<u16> {
        match code.strip_prefix("EC000_")? {
            "001" => Some(500),
            "002" => Some(401),
            "003" | "007" => Some(400),
            "004" => Some(404),
            "005" => Some(405),
            "006" => Some(415),
            _ => None,
        }
    }

    /// Returns a received code, unchecked.
    pub(crate) fn from_wire(text: &str) -> Self {
        Self(Cow::Owned(text.to_owned()))
    }
}

bankrail_values::impl_display!(ErrorCode);

impl fmt::Debug for ErrorCode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, out)
    }
}

/// The JSON body of a failed statement call, as a server sends it.
///
/// ```
/// use bankrail_statement::StatementErrorBody;
/// let key = "0b7c2f6e-8a1d-41eb-8dcd-0242ac130003".parse()?;
/// assert_eq!(
///     StatementErrorBody::account_not_found(key, "000000000000000").to_json(),
///     concat!(
///         r#"{"requestKey":"0b7c2f6e-8a1d-41eb-8dcd-0242ac130003","#,
///         r#""error":{"statusCode":"EC20001","title":"Account Id: '000000000000000' not found"}}"#,
///     ),
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatementErrorBody {
    /// The request key of the failed call.
    pub request_key: HyphenatedUuid,
    /// `error.statusCode`.
    pub code: ErrorCode,
    /// `error.title`.
    pub title: String,
}

impl StatementErrorBody {
    /// Creates a body with this code and title.
    #[must_use]
    pub fn new(request_key: HyphenatedUuid, code: ErrorCode, title: impl Into<String>) -> Self {
        Self {
            request_key,
            code,
            title: title.into(),
        }
    }

    /// Returns the error for an account that does not exist, or whose identifier is malformed.
    #[must_use]
    #[doc(hidden)]
    pub fn account_not_found(request_key: HyphenatedUuid, account_id: &str) -> Self {
        Self::new(
            request_key,
            ErrorCode::ACCOUNT_NOT_FOUND,
            format!("Account Id: '{account_id}' not found"),
        )
    }

    /// Returns the error for a statement that could not be retrieved.
    #[must_use]
    #[doc(hidden)]
    pub fn retrieval_failed(request_key: HyphenatedUuid, account_id: &str) -> Self {
        let title = format!("Error retrieving account statement for account id: '{account_id}'");
        Self::new(request_key, ErrorCode::RETRIEVAL_FAILED, title)
    }

    /// Returns the error for any other failure on the server's side.
    #[must_use]
    #[doc(hidden)]
    pub fn internal(request_key: HyphenatedUuid) -> Self {
        Self::new(
            request_key,
            ErrorCode::INTERNAL,
            format!("Internal error, request key: '{request_key}'"),
        )
    }

    /// Writes the body. A code that is not `EC` and digits, such as a gateway's, is written as
    /// [`ErrorCode::INTERNAL`].
    #[must_use]
    pub fn to_json(&self) -> String {
        let code = if self.code.is_well_formed() {
            &self.code
        } else {
            &ErrorCode::INTERNAL
        };
        let error = JsonObjectWriter::new()
            .string("statusCode", code.as_str())
            .string("title", &self.title)
            .finish();
        JsonObjectWriter::new()
            .string("requestKey", &self.request_key.to_string())
            .raw("error", error)
            .finish()
    }
}
