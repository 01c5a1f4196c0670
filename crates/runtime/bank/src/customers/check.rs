//! Rules that all customers obey together.

use super::EndpointRecord;
use super::{
    ApiKeyRecord, CustomerRecord, CustomerRecordError, CustomerRecordErrorKind, LimitOverride,
    Place, RecordPart,
};
use bankrail_client_assertion::CustomerCode;
use bankrail_service::{ApiKeyHash, RegisteredAccount};
use bankrail_statement::AccountId;
use std::collections::HashMap;

/// The places where the parts of a record were read.
pub(super) trait Places {
    fn of(&self, part: RecordPart) -> Place;
}

/// The places of a record that was not read from a file.
impl Places for CustomerRecord {
    fn of(&self, part: RecordPart) -> Place {
        Place::Record {
            customer: self.customer.code.clone(),
            part,
        }
    }
}

/// The parts of a record that are checked. The record may be incomplete, because other parts of it
/// were refused before.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a> {
    pub(super) code: Option<&'a CustomerCode>,
    pub(super) api_keys: &'a [ApiKeyRecord],
    pub(super) limits: &'a [LimitOverride],
    pub(super) accounts: &'a [(AccountId, RegisteredAccount)],
    pub(super) endpoints: &'a [EndpointRecord],
}

impl<'a> From<&'a CustomerRecord> for Parts<'a> {
    fn from(record: &'a CustomerRecord) -> Self {
        Self {
            code: Some(&record.customer.code),
            api_keys: &record.api_keys,
            limits: &record.limits,
            accounts: &record.accounts,
            endpoints: &record.endpoints,
        }
    }
}

/// The places of all values that must differ between customers.
#[derive(Debug, Default)]
pub(super) struct Checker<'a> {
    codes: HashMap<&'a CustomerCode, Place>,
    api_keys: HashMap<ApiKeyHash, Place>,
    accounts: HashMap<&'a AccountId, (&'a RegisteredAccount, Place)>,
    endpoints: HashMap<&'a bankrail_mailbox::EndpointId, Place>,
    errors: Vec<CustomerRecordError>,
}

impl<'a> Checker<'a> {
    /// Checks a record, alone and against all earlier records.
    pub(super) fn check(&mut self, record: Parts<'a>, places: &dyn Places) {
        if let Some(code) = record.code {
            let place = places.of(RecordPart::Code);
            match self.codes.get(code) {
                Some(other) => self.errors.push(taken(place, "a customer code", other)),
                None => drop(self.codes.insert(code, place)),
            }
        }
        self.check_bounds(record, places);
        self.check_api_keys(record, places);
        self.check_limits(record, places);
        self.check_accounts(record, places);
        self.check_endpoints(record, places);
    }

    pub(super) fn errors(self) -> Vec<CustomerRecordError> {
        self.errors
    }

    fn check_bounds(&mut self, record: Parts<'_>, places: &dyn Places) {
        let bounds = [
            (
                "API keys",
                record.api_keys.len(),
                CustomerRecord::MAX_API_KEYS,
            ),
            (
                "accounts",
                record.accounts.len(),
                CustomerRecord::MAX_ACCOUNTS,
            ),
            (
                "endpoints",
                record.endpoints.len(),
                CustomerRecord::MAX_ENDPOINTS,
            ),
        ];
        for (what, found, max) in bounds {
            if found > max {
                self.errors.push(CustomerRecordError::new(
                    places.of(RecordPart::Code),
                    CustomerRecordErrorKind::TooMany { what, max },
                ));
            }
        }
    }

    fn check_api_keys(&mut self, record: Parts<'_>, places: &dyn Places) {
        for (at, key) in record.api_keys.iter().enumerate() {
            let place = places.of(RecordPart::ApiKey(at));
            if key.hash == ApiKeyHash::of(b"") {
                self.errors.push(value(
                    &place,
                    "expected the hash of an API key, found that of an empty text",
                ));
            }
            if let (Some(from), Some(until)) = (key.not_before, key.expires)
                && from >= until
            {
                let reason =
                    format!("expected an API key that expires after {from}, found {until}");
                self.errors.push(value(&place, reason));
            }
            match self.api_keys.get(&key.hash) {
                Some(other) => self.errors.push(taken(place, "an API key", other)),
                None => drop(self.api_keys.insert(key.hash, place)),
            }
        }
    }

    fn check_limits(&mut self, record: Parts<'_>, places: &dyn Places) {
        for (at, limit) in record.limits.iter().enumerate() {
            let same = |other: &&(usize, &LimitOverride)| {
                other.1.call_type() == limit.call_type()
                    && other.1.ends().is_some() == limit.ends().is_some()
            };
            if let Some((other, _)) = record
                .limits
                .iter()
                .enumerate()
                .take(at)
                .find(|other| same(&other))
            {
                let what = if limit.ends().is_some() {
                    "a call type (temporary)"
                } else {
                    "a call type (without until)"
                };
                let other = places.of(RecordPart::Limit(other));
                self.errors
                    .push(taken(places.of(RecordPart::Limit(at)), what, &other));
            }
        }
    }

    fn check_accounts(&mut self, record: Parts<'a>, places: &dyn Places) {
        let mut own: HashMap<&AccountId, usize> = HashMap::new();
        for (at, (id, account)) in record.accounts.iter().enumerate() {
            let place = places.of(RecordPart::Account(at));
            check_text(
                &mut self.errors,
                &place,
                "a name",
                account.name.as_deref(),
                70,
            );
            check_text(
                &mut self.errors,
                &place,
                "a reporting source",
                account.reporting_source.as_deref(),
                35,
            );
            if !account.currency.is_listed() {
                let reason = format!(
                    "expected a currency that ISO 4217 lists, found {}",
                    account.currency
                );
                self.errors.push(value(&place, reason));
            }
            if let Some(other) = own.insert(id, at) {
                let other = places.of(RecordPart::Account(other));
                self.errors.push(taken(place, "an account", &other));
                continue;
            }
            match self.accounts.get(id) {
                Some((details, other)) if *details != account => {
                    let kind = CustomerRecordErrorKind::OtherDetails {
                        other: other.clone(),
                    };
                    self.errors.push(CustomerRecordError::new(place, kind));
                }
                Some(_) => {}
                None => drop(self.accounts.insert(id, (account, place))),
            }
        }
    }

    fn check_endpoints(&mut self, record: Parts<'a>, places: &dyn Places) {
        for (at, endpoint) in record.endpoints.iter().enumerate() {
            let place = places.of(RecordPart::Endpoint(at));
            if endpoint.paths().any(|(_, path)| !is_path(path)) {
                let reason = format!(
                    "expected paths of 1 to {MAX_PATH} visible ASCII characters that begin with / and have no ? and no \
                     #, found another"
                );
                self.errors.push(value(&place, reason));
            }
            match self.endpoints.get(endpoint.id()) {
                Some(other) => self.errors.push(taken(place, "an endpoint id", other)),
                None => drop(self.endpoints.insert(endpoint.id(), place)),
            }
        }
    }
}

/// The longest path of an endpoint in bytes.
const MAX_PATH: usize = 1024;

fn is_path(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'?' | b'#');
    text.starts_with('/') && text.len() <= MAX_PATH && text.bytes().all(allowed)
}

fn check_text(
    errors: &mut Vec<CustomerRecordError>,
    place: &Place,
    what: &str,
    text: Option<&str>,
    max: usize,
) {
    let Some(text) = text else { return };
    let found = text.chars().count();
    if found == 0 || found > max {
        errors.push(value(
            place,
            format!("expected {what} of 1 to {max} characters, found {found}"),
        ));
    } else if text
        .chars()
        .any(|char| char.is_control() || matches!(char, '\u{fffe}' | '\u{ffff}'))
    {
        errors.push(value(
            place,
            format!("expected {what} without control characters and noncharacters"),
        ));
    }
}

fn value(place: &Place, reason: impl Into<String>) -> CustomerRecordError {
    CustomerRecordError::new(
        place.clone(),
        CustomerRecordErrorKind::Value {
            reason: reason.into(),
        },
    )
}

fn taken(place: Place, what: &'static str, other: &Place) -> CustomerRecordError {
    CustomerRecordError::new(
        place,
        CustomerRecordErrorKind::Taken {
            what,
            other: other.clone(),
        },
    )
}
