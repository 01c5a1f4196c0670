//! The text of a customer's record, as a file of a folder and as a row of a store.

mod keys;
mod read;
mod reader;

pub(super) use self::read::Draft;
pub(super) use self::reader::Reader;

use super::check::Checker;
use super::files::Files;
use super::limit::{HOUR_MILLIS, MINUTE_MILLIS, SECOND_MILLIS};
use super::{ApiKeyRecord, CustomerRecord, CustomersError, EndpointRecord, LimitOverride};
use bankrail_http::tls::ClientCertificate;
use bankrail_jose::VerifyingKey;
use bankrail_service::RegisteredAccount;
use bankrail_service::delivery::MissingAcknowledgement;
use bankrail_statement::{AccountId, AccountKind};
use bankrail_values::{SecretString, Timestamp};
use bankrail_webhook::MessageKind;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use toml::Spanned;
use toml::value::Datetime;
use zeroize::Zeroizing;

/// The members of a customer's file; [`CustomerFolder`](super::CustomerFolder) documents them.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CustomerText {
    code: Spanned<String>,
    scopes: Spanned<Vec<Spanned<String>>>,
    keys: Spanned<Vec<Spanned<KeyText>>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    api_keys: Vec<Spanned<ApiKeyText>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    limits: Vec<Spanned<LimitText>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    accounts: Vec<Spanned<AccountText>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    endpoints: Vec<Spanned<EndpointText>>,
}

/// A public key: exactly one of `file`, `pem` and `jwk`.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
struct KeyText {
    kid: Option<Spanned<String>>,
    file: Option<Spanned<String>>,
    pem: Option<Spanned<String>>,
    jwk: Option<Spanned<String>>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
struct ApiKeyText {
    sha256: Option<Spanned<String>>,
    not_before: Option<Spanned<Datetime>>,
    expires: Option<Spanned<Datetime>>,
    /// An API key in clear, which is refused. The member is known, so that the error explains how
    /// to hash the key.
    #[serde(skip_serializing)]
    #[serde(alias = "value", alias = "apikey", alias = "api_key", alias = "secret")]
    key: Option<Spanned<IgnoredAny>>,
}

/// A limit: `unlimited`, or at least one number of calls.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
struct LimitText {
    call_type: Spanned<String>,
    per_hour: Option<Spanned<i64>>,
    per_minute: Option<Spanned<i64>>,
    per_second: Option<Spanned<i64>>,
    #[serde(default, skip_serializing_if = "is_false")]
    unlimited: bool,
    until: Option<Spanned<Datetime>>,
}

/// The members of a file that has only limits.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitsText {
    #[serde(default)]
    limits: Vec<Spanned<LimitText>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
struct AccountText {
    id: Spanned<String>,
    currency: Spanned<String>,
    name: Option<String>,
    #[serde(default, skip_serializing_if = "is_false")]
    virtual_accounts: bool,
    reporting_source: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
struct EndpointText {
    id: Spanned<String>,
    url: Spanned<String>,
    /// Paths by the names of the kinds of message.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    paths: BTreeMap<Spanned<String>, String>,
    api_key: Option<Spanned<EndpointApiKeyText>>,
    client_certificate: Option<Spanned<ClientCertificateText>>,
    requires_acknowledgement: Option<bool>,
    encryption_key: Spanned<KeyText>,
}

/// The API key of an endpoint: exactly one of `value` and `file`.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
struct EndpointApiKeyText {
    header: Option<String>,
    value: Option<Zeroizing<String>>,
    file: Option<Spanned<String>>,
}

/// The client certificate of an endpoint with its key: exactly one of `file` and `pem`.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
struct ClientCertificateText {
    file: Option<Spanned<String>>,
    pem: Option<Zeroizing<String>>,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl From<&CustomerRecord> for CustomerText {
    fn from(record: &CustomerRecord) -> Self {
        let customer = &record.customer;
        let keys = customer.keys.keys();
        let key = |key: &VerifyingKey| unplaced(KeyText::from_pem(key.to_spki_pem(), key.kid()));
        Self {
            code: unplaced_text(&customer.code),
            scopes: unplaced(customer.scopes.iter().map(unplaced_text).collect()),
            keys: unplaced(keys.iter().map(key).collect()),
            api_keys: unplaced_list(&record.api_keys),
            limits: unplaced_list(&record.limits),
            accounts: unplaced_list(&record.accounts),
            endpoints: unplaced_list(&record.endpoints),
        }
    }
}

impl KeyText {
    fn from_pem(pem: String, kid: Option<&str>) -> Self {
        Self {
            kid: kid.map(unplaced_text),
            pem: Some(unplaced(pem)),
            ..Self::default()
        }
    }
}

impl From<&ApiKeyRecord> for ApiKeyText {
    fn from(key: &ApiKeyRecord) -> Self {
        Self {
            sha256: Some(unplaced_text(key.hash)),
            not_before: key.not_before.map(datetime),
            expires: key.expires.map(datetime),
            key: None,
        }
    }
}

impl From<&LimitOverride> for LimitText {
    fn from(limit: &LimitOverride) -> Self {
        let windows = limit.windows();
        let within = |millis| {
            let window = windows.iter().find(|window| window.millis() == millis)?;
            Some(unplaced(window.limit().into()))
        };
        Self {
            call_type: unplaced_text(limit.call_type().as_str()),
            per_hour: within(HOUR_MILLIS),
            per_minute: within(MINUTE_MILLIS),
            per_second: within(SECOND_MILLIS),
            unlimited: windows.is_empty(),
            until: limit.ends().map(datetime),
        }
    }
}

impl From<&(AccountId, RegisteredAccount)> for AccountText {
    fn from((id, account): &(AccountId, RegisteredAccount)) -> Self {
        Self {
            id: unplaced_text(id.as_str()),
            currency: unplaced_text(account.currency.as_str()),
            name: account.name.clone(),
            virtual_accounts: account.kind == AccountKind::WithVirtualAccounts,
            reporting_source: account.reporting_source.clone(),
        }
    }
}

impl From<&EndpointRecord> for EndpointText {
    fn from(endpoint: &EndpointRecord) -> Self {
        let path = |(kind, path): (MessageKind, &str)| (unplaced_text(kind.as_str()), path.into());
        let api_key = |(header, value): (&str, &SecretString)| EndpointApiKeyText {
            header: Some(header.to_owned()),
            value: Some(value.expose_secret().to_owned().into()),
            file: None,
        };
        let certificate = |certificate: &ClientCertificate| ClientCertificateText {
            file: None,
            pem: Some(certificate.expose_pem().to_owned().into()),
        };
        let is_failed = |treatment| treatment == MissingAcknowledgement::Failed;
        let key = endpoint.encryption_key();
        Self {
            id: unplaced_text(endpoint.id().as_str()),
            url: unplaced_text(endpoint.url().as_str()),
            paths: endpoint.paths().map(path).collect(),
            api_key: endpoint.api_key().map(api_key).map(unplaced),
            client_certificate: endpoint.client_certificate().map(certificate).map(unplaced),
            requires_acknowledgement: endpoint.missing_acknowledgement().map(is_failed),
            encryption_key: unplaced(KeyText::from_pem(key.to_spki_pem(), key.kid())),
        }
    }
}

/// Wraps a value that is to be written, and so has no place in a text yet.
fn unplaced<T>(value: T) -> Spanned<T> {
    Spanned::new(0..0, value)
}

fn unplaced_text(value: impl ToString) -> Spanned<String> {
    unplaced(value.to_string())
}

fn unplaced_list<'a, T, U: From<&'a T>>(list: &'a [T]) -> Vec<Spanned<U>> {
    list.iter().map(|value| unplaced(value.into())).collect()
}

fn datetime(instant: Timestamp) -> Spanned<Datetime> {
    let instant = instant.to_string().parse();
    unplaced(instant.expect("a timestamp is spelled as a date and time of TOML is"))
}

impl CustomerRecord {
    /// Reads the text of a customer's file; see [`CustomerFolder`](super::CustomerFolder) for its
    /// members. Key files are relative to the folder of `file`, which is not read itself. This
    /// blocks while it reads key files.
    ///
    /// # Errors
    /// [`CustomersError`] with all errors, each with file, line and column. Of members that are
    /// missing, unknown or of another type, only the first is reported.
    pub fn from_toml(file: impl AsRef<Path>, text: &str) -> Result<Self, CustomersError> {
        let mut files = Files::default();
        let mut reader = Reader::of_file(file.as_ref(), text, &mut files, false);
        let mut draft = Draft::read(&mut reader);
        let mut checker = Checker::default();
        if let Some(draft) = &draft {
            checker.check(draft.parts(), draft);
        }
        let mut errors = reader.errors;
        errors.extend(checker.errors());
        match draft.as_mut().and_then(Draft::take_record) {
            Some(record) if errors.is_empty() => Ok(record),
            _ => Err(CustomersError::of(errors)),
        }
    }

    /// Reads a text that [`CustomerRecord::to_toml`] has written to a store. Such a text names no
    /// files, and an endpoint may have an `http` address, because that was decided when the record
    /// was made. Returns `None` for any other text.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(super) fn from_stored(text: &str) -> Option<Self> {
        let mut reader = Reader::of_stored(text);
        let record = Draft::read(&mut reader)?.take_record()?;
        reader.errors.is_empty().then_some(record)
    }

    /// Returns the record as the text of a customer's file, with its public keys in it.
    /// [`CustomerRecord::from_toml`] reads an equal record from it, but refuses an endpoint whose
    /// address is `http`.
    ///
    /// The text has API keys and client certificates' keys of webhook endpoints in clear: keep the
    /// file like a secret.
    #[must_use]
    pub fn to_toml(&self) -> Zeroizing<String> {
        let text = toml::to_string_pretty(&CustomerText::from(self));
        Zeroizing::new(text.expect("texts, numbers, instants and tables of them are TOML"))
    }
}

impl LimitOverride {
    /// Reads the text of a file whose only member is `limits`, as in a customer's file
    /// ([`CustomerFolder`](super::CustomerFolder)). `file` is named in errors and is not read
    /// itself.
    ///
    /// # Errors
    /// [`CustomersError`] with all errors, each with file, line and column. Of members that are
    /// missing, unknown or of another type, only the first is reported.
    pub fn list_from_toml(file: impl AsRef<Path>, text: &str) -> Result<Vec<Self>, CustomersError> {
        let mut files = Files::default();
        let mut reader = Reader::of_file(file.as_ref(), text, &mut files, false);
        let limits = read::limits(&mut reader);
        if reader.errors.is_empty() {
            Ok(limits)
        } else {
            Err(CustomersError::of(reader.errors))
        }
    }
}
