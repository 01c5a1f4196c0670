//! A customer's file is read.

use super::draft::Draft;
use super::endpoints;
use super::keys;
use super::members::{Item, Members, Reader};
use crate::customers::limit::WINDOWS;
use crate::customers::{ApiKeyRecord, CustomerProblem, LimitOverride, Place};
use bankrail_client_assertion::CustomerCode;
use bankrail_client_assertion::token::{Scope, ScopeSet};
use bankrail_jose::{KeySet, VerifyingKey};
use bankrail_rate_limit::CallType;
use bankrail_service::{ApiKeyHash, RegisteredAccount};
use bankrail_statement::AccountId;
use bankrail_values::Currency;
use std::collections::HashMap;

impl Draft {
    /// Reads a file. The faults are the reader's. `None` if the file is not TOML.
    pub(in crate::customers) fn read(reader: &Reader<'_>) -> Option<Self> {
        let table = reader.parse()?;
        let mut members = Members::of_file(reader, table.get_ref());
        let draft = Self {
            file: Place::Path {
                path: reader.file.to_owned(),
            },
            code: members
                .required("code")
                .and_then(|code| Some((code.parsed(CustomerCode::parse)?, code.at.place()))),
            scopes: members.required("scopes").and_then(scopes),
            keys: members.required("keys").and_then(verifying_keys),
            api_keys: members.list("api_keys", api_key),
            limits: members.list("limits", limit),
            accounts: members.list("accounts", account),
            endpoints: members.list("endpoints", endpoints::read),
        };
        members.finish();
        Some(draft)
    }
}

impl LimitOverride {
    /// Reads the limits of a file. The faults are the reader's.
    pub(super) fn read_all(reader: &Reader<'_>) -> Vec<Self> {
        let Some(table) = reader.parse() else {
            return Vec::new();
        };
        let mut members = Members::of_file(reader, table.get_ref());
        let (limits, _) = members.list("limits", limit);
        members.finish();
        limits
    }
}

fn scopes(value: Item<'_>) -> Option<ScopeSet> {
    let list = value.array()?;
    let scopes: Vec<Scope> = list
        .iter()
        .filter_map(|scope| scope.parsed(Scope::parse))
        .collect();
    if scopes.len() < list.len() {
        return None;
    }
    value.at.checked(ScopeSet::from_scopes(scopes))
}

fn verifying_keys(value: Item<'_>) -> Option<KeySet<VerifyingKey>> {
    let reader = value.at.reader;
    let (before, mut keys) = (reader.faults(), Vec::new());
    let mut taken: HashMap<String, Place> = HashMap::new();
    for members in value.array()?.into_iter().filter_map(Item::table) {
        let at = members.at;
        for key in keys::read::<VerifyingKey>(members) {
            if let Some(kid) = key.kid() {
                let first = taken.entry(kid.to_owned()).or_insert_with(|| at.place());
                if *first != at.place() {
                    at.fault(CustomerProblem::Taken {
                        what: "a kid",
                        other: first.clone(),
                    });
                }
            }
            keys.push(key);
        }
    }
    if reader.faults() > before {
        return None;
    }
    value.at.checked(KeySet::new(keys))
}

fn api_key(mut members: Members<'_>) -> Option<(ApiKeyRecord, Place)> {
    // A file with the key itself gets a fault that says how to hash it, not only that the member is
    // unknown.
    let clear = ["key", "value", "apikey", "api_key", "secret"]
        .into_iter()
        .find_map(|name| members.unasked(name));
    if let Some(value) = clear {
        value.at.fault(CustomerProblem::ClearApiKey);
        return None;
    }
    let hash = members.required("sha256").and_then(|value| {
        let hash = value.text()?.parse::<ApiKeyHash>();
        if hash.is_err() {
            value.at.fault(CustomerProblem::ClearApiKey);
        }
        Some((hash.ok()?, value.at.place()))
    });
    let not_before = members.get("not_before").and_then(Item::instant);
    let expires = members.get("expires").and_then(Item::instant);
    members.finish();
    let (hash, place) = hash?;
    Some((
        ApiKeyRecord {
            hash,
            not_before,
            expires,
        },
        place,
    ))
}

/// Reads a limit, of a customer or of everybody.
fn limit(mut members: Members<'_>) -> Option<(LimitOverride, Place)> {
    let (at, before) = (members.at, members.at.reader.faults());
    let call_type = members
        .required("call_type")
        .and_then(|value| value.parsed(str::parse::<CallType>));
    let mut windows = Vec::new();
    for (name, window) in WINDOWS {
        let Some(value) = members.get(name) else {
            continue;
        };
        windows.extend(
            value
                .number()
                .and_then(|number| value.at.checked(window(number))),
        );
    }
    let unlimited = members
        .get("unlimited")
        .and_then(Item::boolean)
        .unwrap_or(false);
    let until = members.get("until").and_then(Item::instant);
    let faultless = at.reader.faults() == before;
    members.finish();
    let call_type = call_type.filter(|_| faultless)?;
    let mut limit = match (unlimited, windows.is_empty()) {
        (true, false) => {
            at.expected("expected unlimited alone, found a limit too");
            return None;
        }
        (true, true) => LimitOverride::unlimited(call_type),
        (false, _) => at.checked(LimitOverride::new(call_type, &windows))?,
    };
    limit.until = until;
    Some((limit, at.place()))
}

fn account(mut members: Members<'_>) -> Option<((AccountId, RegisteredAccount), Place)> {
    let at = members.at;
    // Not the error's text: it shows the number.
    let id = |text: &str| {
        AccountId::parse(text)
            .map_err(|_| "expected an account identifier of 1 to 34 letters, digits and points")
    };
    let id = members.required("id").and_then(|value| value.parsed(id));
    let currency = members
        .required("currency")
        .and_then(|value| value.parsed(Currency::parse));
    let name = members.get("name").and_then(Item::text);
    let virtual_accounts = members.get("virtual_accounts").and_then(Item::boolean);
    let reporting_source = members.get("reporting_source").and_then(Item::text);
    members.finish();
    let mut account = RegisteredAccount::new(currency?);
    account.name = name.map(str::to_owned);
    account.reporting_source = reporting_source.map(str::to_owned);
    if virtual_accounts.unwrap_or(false) {
        account = account.with_virtual_accounts();
    }
    Some(((id?, account), at.place()))
}
