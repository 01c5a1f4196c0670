//! A customer's file is read.

use super::draft::Draft;
use super::endpoints;
use super::keys;
use super::members::{Members, Reader, Value};
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
use toml::de::DeTable;

impl Draft {
    /// Reads a file. The faults are the reader's.
    pub(in crate::customers) fn read(reader: &mut Reader<'_>) -> Self {
        let mut draft = Self::new(Place::Path { path: reader.file.to_owned() });
        let (table, errors) = DeTable::parse_recoverable(reader.text);
        if !errors.is_empty() {
            for error in errors {
                let at = error.span().map_or(0, |span| span.start);
                // The message alone: the error's `Display` shows the line.
                reader.fault(at, CustomerProblem::Syntax { reason: error.message().to_owned() });
            }
            return draft;
        }
        let mut members = Members::new(table.get_ref(), 0);
        if let Some(value) = members.required(reader, "code") {
            let code = reader.parsed(value, CustomerCode::parse);
            draft.code = code.map(|code| (code, reader.place(value.span().start)));
        }
        draft.scopes = members.required(reader, "scopes").and_then(|value| scopes(reader, value));
        draft.keys = members.required(reader, "keys").and_then(|value| verifying_keys(reader, value));
        for api_key in reader.tables(members.get("api_keys")) {
            read_api_key(reader, &mut draft, api_key);
        }
        for limit in reader.tables(members.get("limits")) {
            let place = reader.place(limit.at);
            if let Some(limit) = read_limit(reader, limit) {
                draft.limits.push(limit, place);
            }
        }
        for account in reader.tables(members.get("accounts")) {
            let place = reader.place(account.at);
            if let Some(account) = read_account(reader, account) {
                draft.accounts.push(account, place);
            }
        }
        for endpoint in reader.tables(members.get("endpoints")) {
            let place = reader.place(endpoint.at);
            if let Some(endpoint) = endpoints::read(reader, endpoint) {
                draft.endpoints.push(endpoint, place);
            }
        }
        members.finish(reader);
        draft
    }
}

fn scopes(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<ScopeSet> {
    let list = reader.array(value)?;
    let scopes: Vec<Scope> = list.iter().filter_map(|scope| reader.parsed(scope, Scope::parse)).collect();
    if scopes.len() < list.len() {
        return None;
    }
    ScopeSet::from_scopes(scopes).map_err(|error| reader.expected(value.span().start, error.to_string())).ok()
}

fn verifying_keys(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<KeySet<VerifyingKey>> {
    let list = reader.array(value)?;
    let (mut keys, mut faultless) = (Vec::new(), true);
    let mut taken: HashMap<String, Place> = HashMap::new();
    for value in list {
        let Some(members) = reader.table(value) else {
            faultless = false;
            continue;
        };
        let place = reader.place(members.at);
        let at = members.at;
        let read: Vec<VerifyingKey> = keys::read(reader, members);
        faultless &= !read.is_empty();
        for key in read {
            let kid = key.kid().map(str::to_owned);
            match kid.as_ref().and_then(|kid| taken.get(kid)).cloned() {
                Some(other) => {
                    faultless = false;
                    reader.fault(at, CustomerProblem::Taken { what: "a kid", other });
                }
                None => {
                    kid.into_iter().for_each(|kid| drop(taken.insert(kid, place.clone())));
                    keys.push(key);
                }
            }
        }
    }
    if !faultless {
        return None;
    }
    KeySet::new(keys).map_err(|error| reader.expected(value.span().start, error.to_string())).ok()
}

fn read_api_key(reader: &mut Reader<'_>, draft: &mut Draft, mut members: Members<'_, '_>) {
    // A file with the key itself gets a fault that says how to hash it, not only that the member is unknown.
    for name in ["key", "value", "apikey", "api_key", "secret"] {
        if let Some(value) = members.clear(name) {
            reader.fault(value.span().start, CustomerProblem::ClearApiKey);
            return;
        }
    }
    let value = members.required(reader, "sha256");
    let hash = value.and_then(|value| {
        let hash = ApiKeyHash::from_hex(reader.text(value)?);
        if hash.is_none() {
            reader.fault(value.span().start, CustomerProblem::ClearApiKey);
        }
        Some((hash?, reader.place(value.span().start)))
    });
    let not_before = members.get("not_before").map(|value| reader.instant(value));
    let expires = members.get("expires").map(|value| reader.instant(value));
    members.finish(reader);
    let Some((hash, place)) = hash else { return };
    let mut key = ApiKeyRecord::new(hash);
    if let Some(instant) = not_before.flatten() {
        key = key.not_before(instant);
    }
    if let Some(instant) = expires.flatten() {
        key = key.expires(instant);
    }
    draft.api_keys.push(key, place);
}

fn read_limit(reader: &mut Reader<'_>, mut members: Members<'_, '_>) -> Option<LimitOverride> {
    let at = members.at;
    let call_type = members.required(reader, "call_type").and_then(|value| reader.parsed(value, str::parse));
    let call_type: Option<CallType> = call_type;
    let (mut windows, mut faultless) = (Vec::new(), true);
    for (name, window) in WINDOWS {
        let Some(value) = members.get(name) else { continue };
        let window = reader.number(value).map(window);
        match window {
            Some(Ok(window)) => windows.push(window),
            Some(Err(error)) => {
                faultless = false;
                reader.expected(value.span().start, error.to_string());
            }
            None => faultless = false,
        }
    }
    let unlimited = members.get("unlimited").and_then(|value| reader.boolean(value)).unwrap_or(false);
    let until = members.get("until").map(|value| reader.instant(value));
    members.finish(reader);
    if !faultless || until.is_some_and(|until| until.is_none()) {
        return None;
    }
    if unlimited && !windows.is_empty() {
        reader.expected(at, "expected unlimited alone, found a limit too");
        return None;
    }
    let limit = match unlimited {
        true => LimitOverride::unlimited(call_type?),
        false => match LimitOverride::new(call_type?, &windows) {
            Ok(limit) => limit,
            Err(error) => {
                reader.expected(at, error.to_string());
                return None;
            }
        },
    };
    Some(match until.flatten() {
        Some(until) => limit.until(until),
        None => limit,
    })
}

fn read_account(reader: &mut Reader<'_>, mut members: Members<'_, '_>) -> Option<(AccountId, RegisteredAccount)> {
    // Not the error's text: it shows the number.
    let id = |text: &str| {
        AccountId::parse(text).map_err(|_| "expected an account identifier of 1 to 34 letters, digits and points")
    };
    let id = members.required(reader, "id").and_then(|value| reader.parsed(value, id));
    let currency = members.required(reader, "currency").and_then(|value| reader.parsed(value, Currency::parse));
    let name = members.get("name").and_then(|value| reader.text(value));
    let virtual_accounts = members.get("virtual_accounts").and_then(|value| reader.boolean(value));
    let reporting_source = members.get("reporting_source").and_then(|value| reader.text(value));
    members.finish(reader);
    let mut account = RegisteredAccount::new(currency?);
    account.name = name.map(str::to_owned);
    account.reporting_source = reporting_source.map(str::to_owned);
    if virtual_accounts.unwrap_or(false) {
        account = account.with_virtual_accounts();
    }
    Some((id?, account))
}
