//! Records of tokens granted and statements served, for an audit.
//!
//! The specification requires no such records. With
//! [`ProviderOptions::audit`](crate::ProviderOptions::audit) each token and each page of a
//! statement is recorded before its answer is sent:
//!
//! - A record has the time, the request key, the customer and what was given. It has no token, no
//!   assertion, no API key and no content of a statement.
//! - The caller chooses the form in which the account is recorded: [`AuditedAccount`].
//! - The caller chooses what happens if a record cannot be written: [`OnAuditFailure`].
//! - An answer may be lost after its record was written, when the connection breaks. Refused
//!   requests have no record; the log has them.
//!
//! [`AuditFile`] writes JSON lines to a file.

mod file;
mod record;

pub use self::file::{AuditFile, AuditFileError, AuditFileOptions};
pub use self::record::{AuditEvent, AuditRecord};

use bankrail_statement::AccountId;
use bankrail_values::{SecretString, StoreFuture};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt::Debug;

/// A destination for audit records.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not write audit records",
    label = "not an `AuditLog`",
    note = "pass `Arc::new(AuditFile::open(path, AuditFileOptions::new())?)` of `bankrail_service::audit`"
)]
pub trait AuditLog: Debug + Send + Sync {
    /// Writes a record. When the future completes, the record is as durable as the log promises.
    /// The answer waits for the record, so an implementation should have a time-out.
    fn record<'a>(&'a self, record: &'a AuditRecord) -> StoreFuture<'a, ()>;
}

bankrail_values::options! {
    /// Options of the audit. The defaults record no account and refuse requests that cannot be
    /// recorded.
    #[derive(Clone, Debug)]
    pub struct AuditOptions {
        /// The form in which the account of a statement is recorded. Default:
        /// [`AuditedAccount::Omitted`].
        account: AuditedAccount = AuditedAccount::default(),
        /// The treatment of a request that cannot be recorded. Default: [`OnAuditFailure::Refuse`].
        on_failure: OnAuditFailure = OnAuditFailure::default(),
    }
}

impl AuditOptions {
    pub(crate) fn continues_after_failure(&self) -> bool {
        self.on_failure == OnAuditFailure::Continue
    }

    /// Returns the recorded form of the account.
    pub(crate) fn recorded(&self, account: &AccountId) -> Option<String> {
        match &self.account {
            AuditedAccount::Omitted => None,
            AuditedAccount::Identifier => Some(account.as_str().to_owned()),
            AuditedAccount::Digest(key) => {
                let mac = Hmac::<Sha256>::new_from_slice(key.expose_secret().as_bytes());
                let mac = mac
                    .expect("HMAC takes a key of any length")
                    .chain_update(account.as_str());
                Some(
                    mac.finalize()
                        .into_bytes()
                        .iter()
                        .map(|byte| format!("{byte:02x}"))
                        .collect(),
                )
            }
        }
    }
}

/// Forms in which the account of a statement is recorded.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum AuditedAccount {
    /// The account is not recorded. The request key leads to the account if the bank records both
    /// elsewhere.
    #[default]
    Omitted,
    /// The HMAC-SHA256 of its identifier under this key, in 64 hexadecimal digits: with the key,
    /// the records of one account can be found; without it, the account cannot be found by trying
    /// all numbers. The key should have 32 random bytes or more.
    Digest(SecretString),
    /// The account's identifier.
    Identifier,
}

/// Treatments of a request whose record cannot be written. The failure is logged in either case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnAuditFailure {
    /// Answers 503. A token that was issued for the request is never sent.
    #[default]
    Refuse,
    /// Answers as if the record had been written.
    Continue,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_recorded_as_the_caller_chose() {
        let account = AccountId::parse("012003123456789").unwrap();
        let recorded = |account_as| AuditOptions::new().account(account_as).recorded(&account);
        assert_eq!(recorded(AuditedAccount::Omitted), None);
        assert_eq!(
            recorded(AuditedAccount::Identifier).unwrap(),
            "012003123456789"
        );
        // HMAC-SHA256 under the key "key", by OpenSSL.
        assert_eq!(
            recorded(AuditedAccount::Digest("key".into())).unwrap(),
            "dcc61d0a69237ca550f2b648755320909f9709bfbbcf84981a57f406baaa75c3"
        );
        assert!(!format!("{:?}", AuditedAccount::Digest("hunter2".into())).contains("hunter2"));
    }
}
