//! Reading a record from the members of a text.

use super::reader::Reader;
use super::{
    AccountText, ApiKeyText, ClientCertificateText, CustomerText, EndpointApiKeyText, EndpointText,
    KeyText, LimitText, LimitsText, keys,
};
use crate::customers::check::{Parts, Places};
use crate::customers::{
    ApiKeyRecord, CustomerRecord, CustomerRecordErrorKind, EndpointRecord, LimitOverride, Place,
    RecordPart,
};
use bankrail_client_assertion::CustomerCode;
use bankrail_client_assertion::token::{Scope, ScopeSet};
use bankrail_http::names::API_KEY;
use bankrail_http::tls::ClientCertificate;
use bankrail_jose::{EncryptionKey, KeySet, VerifyingKey};
use bankrail_mailbox::EndpointId;
use bankrail_rate_limit::{CallType, Window};
use bankrail_service::delivery::{EndpointUrl, MissingAcknowledgement};
use bankrail_service::{ApiKeyHash, Customer, RegisteredAccount};
use bankrail_statement::AccountId;
use bankrail_values::{Currency, SecretString, Timestamp, causes, excerpt};
use bankrail_webhook::MessageKind;
use std::collections::HashMap;
use toml::Spanned;
use toml::value::{Datetime, Offset};
use zeroize::Zeroizing;

/// The parts of a record that could be read, each with its place. Other parts may have errors.
#[derive(Debug)]
pub(in crate::customers) struct Draft {
    file: Place,
    code: Option<(CustomerCode, Place)>,
    scopes: Option<ScopeSet>,
    keys: Option<KeySet<VerifyingKey>>,
    api_keys: List<ApiKeyRecord>,
    limits: List<LimitOverride>,
    accounts: List<(AccountId, RegisteredAccount)>,
    endpoints: List<EndpointRecord>,
}

/// Parts of one kind, and the place of each.
type List<T> = (Vec<T>, Vec<Place>);

impl Draft {
    /// Reads a text and records its errors. Returns `None` if no part could be read.
    pub(in crate::customers) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let text: CustomerText = reader.parse()?;
        let code = reader.parsed(&text.code, CustomerCode::parse);
        Some(Self {
            file: Place::Path {
                path: reader.file.to_owned(),
            },
            code: code.map(|code| (code, reader.place(&text.code))),
            scopes: scopes(reader, &text.scopes),
            keys: verifying_keys(reader, &text.keys),
            api_keys: list(reader, &text.api_keys, api_key),
            limits: list(reader, &text.limits, limit),
            accounts: list(reader, &text.accounts, account),
            endpoints: list(reader, &text.endpoints, endpoint),
        })
    }

    /// Returns the parts that can be checked.
    pub(in crate::customers) fn parts(&self) -> Parts<'_> {
        Parts {
            code: self.code.as_ref().map(|(code, _)| code),
            api_keys: &self.api_keys.0,
            limits: &self.limits.0,
            accounts: &self.accounts.0,
            endpoints: &self.endpoints.0,
        }
    }

    /// Takes the record out, unless it lacks a part that each record has. The places stay.
    pub(in crate::customers) fn take_record(&mut self) -> Option<CustomerRecord> {
        let (code, _) = self.code.clone()?;
        if self.scopes.is_none() || self.keys.is_none() {
            return None;
        }
        Some(CustomerRecord {
            customer: Customer::new(code, self.keys.take()?, self.scopes.take()?),
            api_keys: std::mem::take(&mut self.api_keys.0),
            limits: std::mem::take(&mut self.limits.0),
            accounts: std::mem::take(&mut self.accounts.0),
            endpoints: std::mem::take(&mut self.endpoints.0),
        })
    }
}

impl Places for Draft {
    fn of(&self, part: RecordPart) -> Place {
        let place = match part {
            RecordPart::Code => self.code.as_ref().map(|(_, place)| place),
            RecordPart::ApiKey(at) => self.api_keys.1.get(at),
            RecordPart::Limit(at) => self.limits.1.get(at),
            RecordPart::Account(at) => self.accounts.1.get(at),
            RecordPart::Endpoint(at) => self.endpoints.1.get(at),
        };
        place.unwrap_or(&self.file).clone()
    }
}

/// Reads the limits of a file that has only limits, and records its errors.
pub(super) fn limits(reader: &mut Reader<'_>) -> Vec<LimitOverride> {
    let text: Option<LimitsText> = reader.parse();
    let text = text.map(|text| text.limits).unwrap_or_default();
    list(reader, &text, limit).0
}

fn list<T, V>(
    reader: &mut Reader<'_>,
    texts: &[Spanned<T>],
    read: impl Fn(&mut Reader<'_>, &Spanned<T>) -> Option<(V, Place)>,
) -> List<V> {
    texts.iter().filter_map(|text| read(reader, text)).unzip()
}

fn scopes(reader: &mut Reader<'_>, texts: &Spanned<Vec<Spanned<String>>>) -> Option<ScopeSet> {
    let texts_of = texts.get_ref();
    let scopes: Vec<Scope> = texts_of
        .iter()
        .filter_map(|scope| reader.parsed(scope, Scope::parse))
        .collect();
    if scopes.len() < texts_of.len() {
        return None;
    }
    reader.checked(texts, ScopeSet::from_scopes(scopes))
}

fn verifying_keys(
    reader: &mut Reader<'_>,
    texts: &Spanned<Vec<Spanned<KeyText>>>,
) -> Option<KeySet<VerifyingKey>> {
    let (before, mut keys) = (reader.errors.len(), Vec::new());
    let mut taken: HashMap<String, Place> = HashMap::new();
    for text in texts.get_ref() {
        let place = reader.place(text);
        for key in keys::read::<VerifyingKey>(reader, text) {
            if let Some(kid) = key.kid() {
                let first = taken.entry(kid.to_owned()).or_insert_with(|| place.clone());
                if *first != place {
                    let (what, other) = ("a kid", first.clone());
                    reader.error(text, CustomerRecordErrorKind::Taken { what, other });
                }
            }
            keys.push(key);
        }
    }
    if reader.errors.len() > before {
        return None;
    }
    reader.checked(texts, KeySet::new(keys))
}

fn api_key(reader: &mut Reader<'_>, text: &Spanned<ApiKeyText>) -> Option<(ApiKeyRecord, Place)> {
    let key = text.get_ref();
    if let Some(clear) = &key.key {
        reader.error(clear, CustomerRecordErrorKind::ClearApiKey);
        return None;
    }
    let Some(sha256) = &key.sha256 else {
        let name = "sha256".to_owned();
        reader.error(text, CustomerRecordErrorKind::Missing { name });
        return None;
    };
    let hash = sha256.get_ref().parse::<ApiKeyHash>();
    if hash.is_err() {
        reader.error(sha256, CustomerRecordErrorKind::ClearApiKey);
    }
    let record = ApiKeyRecord {
        not_before: instant(reader, key.not_before.as_ref()),
        expires: instant(reader, key.expires.as_ref()),
        hash: hash.ok()?,
    };
    Some((record, reader.place(sha256)))
}

type MakeWindow = fn(u32) -> Result<Window, bankrail_rate_limit::WindowError>;

fn limit(reader: &mut Reader<'_>, text: &Spanned<LimitText>) -> Option<(LimitOverride, Place)> {
    let (limit, before) = (text.get_ref(), reader.errors.len());
    let call_type = reader.parsed(&limit.call_type, str::parse::<CallType>);
    let windows: [(_, MakeWindow); 3] = [
        (&limit.per_hour, Window::per_hour),
        (&limit.per_minute, Window::per_minute),
        (&limit.per_second, Window::per_second),
    ];
    let mut stated = Vec::new();
    for (number, window) in windows {
        let Some(number) = number else { continue };
        let calls = u32::try_from(*number.get_ref())
            .map_err(|_| "expected a whole number from 0 to 4294967295, found another");
        if let Some(calls) = reader.checked(number, calls) {
            stated.extend(reader.checked(number, window(calls)));
        }
    }
    let until = instant(reader, limit.until.as_ref());
    if reader.errors.len() > before {
        return None;
    }
    let call_type = call_type?;
    let mut record = match (limit.unlimited, stated.as_slice()) {
        (true, []) => LimitOverride::unlimited(call_type),
        (true, _) => {
            reader.expected(text, "expected unlimited alone, found a limit too");
            return None;
        }
        (false, stated) => reader.checked(text, LimitOverride::new(call_type, stated))?,
    };
    record.until = until;
    Some((record, reader.place(text)))
}

fn account(
    reader: &mut Reader<'_>,
    text: &Spanned<AccountText>,
) -> Option<((AccountId, RegisteredAccount), Place)> {
    let account = text.get_ref();
    // The error's own text shows the account number.
    let parse_id = |text: &str| {
        AccountId::parse(text)
            .map_err(|_| "expected an account identifier of 1 to 34 letters, digits and points")
    };
    let id = reader.parsed(&account.id, parse_id);
    let currency = reader.parsed(&account.currency, Currency::parse);
    let mut registered = RegisteredAccount::new(currency?);
    registered.name = account.name.clone();
    registered.reporting_source = account.reporting_source.clone();
    if account.virtual_accounts {
        registered = registered.with_virtual_accounts();
    }
    Some(((id?, registered), reader.place(text)))
}

fn endpoint(
    reader: &mut Reader<'_>,
    text: &Spanned<EndpointText>,
) -> Option<(EndpointRecord, Place)> {
    let endpoint = text.get_ref();
    let id = reader.parsed(&endpoint.id, str::parse::<EndpointId>);
    let parse_url = match reader.http_on_loopback {
        true => EndpointUrl::danger_allow_http_on_loopback,
        false => EndpointUrl::parse,
    };
    let url = reader.parsed(&endpoint.url, parse_url);
    let mut keys: Vec<EncryptionKey> = keys::read(reader, &endpoint.encryption_key);
    if keys.len() > 1 {
        let reason = "expected one key, found several; state the kid of one of them";
        reader.expected(&endpoint.encryption_key, reason);
        keys.clear();
    }
    let mut paths = Vec::new();
    for (name, path) in &endpoint.paths {
        match name.get_ref().parse::<MessageKind>() {
            Ok(kind) => paths.push((kind, path)),
            Err(_) => {
                let known = MessageKind::ALL.map(MessageKind::as_str).join(", ");
                let found = excerpt(name.get_ref());
                reader.error(
                    name,
                    CustomerRecordErrorKind::UnknownMember { known, found },
                );
            }
        }
    }
    let api_key = match &endpoint.api_key {
        None => None,
        Some(text) => Some((text, endpoint_api_key(reader, text)?)),
    };
    let certificate = match &endpoint.client_certificate {
        None => None,
        Some(text) => Some(client_certificate(reader, text)?),
    };
    let mut record = EndpointRecord::new(id?, url?, keys.pop()?);
    if let Some(certificate) = certificate {
        record = record.with_client_certificate(certificate);
    }
    if let Some(required) = endpoint.requires_acknowledgement {
        record = record.with_missing_acknowledgement(if required {
            MissingAcknowledgement::Failed
        } else {
            MissingAcknowledgement::Delivered
        });
    }
    for (kind, path) in paths {
        record = record.with_path(kind, path);
    }
    if let Some((text, (header, value))) = api_key {
        record = reader.checked(text, record.with_api_key_in(&header, value))?;
    }
    Some((record, reader.place(text)))
}

/// Returns the header and the value of an API key: `value`, or the content of `file` without the
/// line ends after it.
fn endpoint_api_key(
    reader: &mut Reader<'_>,
    text: &Spanned<EndpointApiKeyText>,
) -> Option<(String, SecretString)> {
    let key = text.get_ref();
    let secret = secret(reader, text, ("value", &key.value), &key.file)?;
    let secret = match key.file {
        Some(_) => secret.trim_end_matches(['\r', '\n']),
        None => &secret,
    };
    if secret.is_empty() {
        reader.expected(text, "expected an API key, found an empty text");
        return None;
    }
    let header = key.header.clone().unwrap_or_else(|| API_KEY.to_string());
    Some((header, SecretString::from(secret)))
}

/// Returns the certificate of `pem` or of the content of `file`.
fn client_certificate(
    reader: &mut Reader<'_>,
    text: &Spanned<ClientCertificateText>,
) -> Option<ClientCertificate> {
    let certificate = text.get_ref();
    let pem = secret(reader, text, ("pem", &certificate.pem), &certificate.file)?;
    let read = ClientCertificate::from_pem(&pem);
    reader.checked(text, read.map_err(|error| causes(&error)))
}

/// Returns the secret of a table with exactly one of a member of this name and `file`.
fn secret<T>(
    reader: &mut Reader<'_>,
    text: &Spanned<T>,
    (name, value): (&str, &Option<Zeroizing<String>>),
    file: &Option<Spanned<String>>,
) -> Option<Zeroizing<String>> {
    let (path, secret) = match (value, file) {
        (Some(value), None) => (reader.file.to_owned(), value.clone()),
        (None, Some(file)) => keys::content(reader, file)?,
        (value, _) => {
            let found = if value.is_some() { "several" } else { "none" };
            let reason = format!("expected one of {name}, file, found {found}");
            reader.expected(text, reason);
            return None;
        }
    };
    if let Some(files) = &mut reader.files {
        files.note_secret(&path);
    }
    Some(secret)
}

/// Returns an instant that is stated as a date and time with an offset, such as
/// `2026-11-22T00:00:00Z`.
fn instant(reader: &mut Reader<'_>, text: Option<&Spanned<Datetime>>) -> Option<Timestamp> {
    let text = text?;
    let expected =
        "expected a date and time with an offset, such as 2026-11-22T00:00:00Z, found another";
    reader.checked(text, timestamp(text.get_ref()).ok_or(expected))
}

fn timestamp(found: &Datetime) -> Option<Timestamp> {
    let (date, clock) = (found.date?, found.time?);
    let minutes = match found.offset? {
        Offset::Z => 0,
        Offset::Custom { minutes } => minutes,
    };
    let month = time::Month::try_from(date.month).ok()?;
    let date = time::Date::from_calendar_date(i32::from(date.year), month, date.day).ok()?;
    let (second, nanosecond) = (clock.second.unwrap_or(0), clock.nanosecond.unwrap_or(0));
    let clock = time::Time::from_hms_nano(clock.hour, clock.minute, second, nanosecond).ok()?;
    let offset = time::UtcOffset::from_whole_seconds(i32::from(minutes).checked_mul(60)?).ok()?;
    Timestamp::from_time(time::PrimitiveDateTime::new(date, clock).assume_offset(offset))
}
