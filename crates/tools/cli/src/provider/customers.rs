//! Changes of a folder's customers: new customers, new API keys, and endpoints of demo customers.

use super::demo::{api_key_record, connections, new_api_key, set_api_key};
use super::{Folders, damaged, first_errors, read};
use crate::failure::{Failure, causes};
use crate::files::{NewFile, write};
use crate::keys::file;
use bankrail::bank::{CustomerRecord, CustomerSet, CustomersError, EndpointRecord};
use bankrail::client_assertion::CustomerCode;
use bankrail::jose::EncryptionKey;
use bankrail::service::RegisteredAccount;
use bankrail::service::delivery::EndpointUrl;
use bankrail::statement::AccountId;
use bankrail::values::{Currency, SecretString, Timestamp};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use zeroize::Zeroizing;

const HOUR: Duration = Duration::from_secs(3600);

/// Reads `NUMBER:CURRENCY`, with `:virtual` after it for an account that has virtual accounts.
pub(super) fn account(text: &str) -> Result<(AccountId, RegisteredAccount), String> {
    let (text, is_virtual) = match text.strip_suffix(":virtual") {
        Some(text) => (text, true),
        None => (text, false),
    };
    let (id, currency) = text
        .split_once(':')
        .ok_or("expected NUMBER:CURRENCY, such as 999001400300301:AUD")?;
    let id = AccountId::parse(id).map_err(|error| error.to_string())?;
    if id.is_reserved_for_negative_testing() {
        return Err(
            "expected a number that is not reserved for negative testing, found one that is"
                .to_owned(),
        );
    }
    let account =
        RegisteredAccount::new(Currency::parse(currency).map_err(|error| error.to_string())?);
    Ok((
        id,
        if is_virtual {
            account.with_virtual_accounts()
        } else {
            account
        },
    ))
}

/// Adds a customer with a new API key, and an endpoint for its receivers. Returns the keys.
pub(super) fn added(
    mut record: CustomerRecord,
    receivers: Option<(EndpointUrl, EncryptionKey)>,
    folders: &Folders,
) -> Result<Value, Failure> {
    let api_key = new_api_key()?;
    record.api_keys.push(api_key_record(&api_key));
    let mut receiver_key = None;
    if let Some((url, encryption)) = receivers {
        let key = new_api_key()?;
        let id = record.customer.code.as_str().to_ascii_lowercase();
        record
            .endpoints
            .push(endpoint(&id, url, encryption, key.as_str().into())?);
        receiver_key = Some((id, key));
    }
    // Without the lock, two simultaneous commands would not check each other's customers.
    let _alone = folders.lock_changes()?;
    add(folders, &record)?;
    let receiver_key = receiver_key.as_ref();
    Ok(json!({
        "api_key": *api_key,
        "endpoint": receiver_key.map(|(id, _)| id),
        "endpoint_api_key": receiver_key.map(|(_, key)| key.as_str()),
    }))
}

fn endpoint(
    id: &str,
    url: EndpointUrl,
    key: EncryptionKey,
    api_key: SecretString,
) -> Result<EndpointRecord, Failure> {
    let refused = |error: &dyn std::error::Error| {
        Failure::unable(
            format_args!("the endpoint {id}: {}", causes(error)),
            "choose another address",
        )
    };
    let id = id.parse().map_err(|error| refused(&error))?;
    EndpointRecord::new(id, url, key)
        .with_api_key(api_key)
        .map_err(|error| refused(&error))
}

/// Replaces the API key of a customer and returns the new key. The key is also returned if the
/// connection.toml of a demo customer cannot be written, because it is then in force and stored
/// nowhere else.
pub(super) fn rotated(
    code: &CustomerCode,
    overlap: u32,
    now: Timestamp,
    folders: &Folders,
) -> Result<Value, Failure> {
    let end = now.saturating_add(HOUR.saturating_mul(overlap));
    let api_key = new_api_key()?;
    // Without the lock, one of two simultaneous rotations would lose the key of the other.
    let _alone = folders.lock_changes()?;
    change(folders, code, |record| {
        for key in &mut record.api_keys {
            if key.expires.is_none_or(|until| end < until) {
                key.expires = Some(end);
            }
        }
        record
            .api_keys
            .retain(|key| key.expires.is_some_and(|until| now < until));
        record.api_keys.push(api_key_record(&api_key));
    })?;
    // Written after the customer's file, because a connection must not have a key that the provider
    // does not know.
    let (is_in_connection, error) = match set_api_key(folders, code.as_str(), &api_key) {
        Ok(is_in_connection) => (is_in_connection, None),
        Err(failure) => (false, failure.into_parts().0),
    };
    Ok(json!({
        "api_key": *api_key,
        "before_ends": end.to_string(),
        "in_connection_toml": is_in_connection,
        "connection_toml_error": error,
    }))
}

/// Registers an endpoint of the first demo customer at this address, or replaces the keys of an
/// existing one. Each address is a separate endpoint, so that no message for one is ever delivered
/// to another.
pub(super) fn deliver_to(
    folders: &Folders,
    url: &EndpointUrl,
    encrypt_to: Option<&str>,
) -> Result<(), Failure> {
    let connections = if folders.is_demo() {
        connections(folders)?
    } else {
        Vec::new()
    };
    let Some((home, connection, receivers)) = connections
        .iter()
        .find_map(|(home, connection)| Some((home, connection, connection.receivers.as_ref()?)))
    else {
        return Err(Failure::unable(
            "--deliver-to: expected a demo customer, found none",
            "choose another folder",
        ));
    };
    let key = match encrypt_to {
        Some(path) => file::encryption(path, None)?,
        None => file::encryption(&home.join("encryption.pub.pem").to_string_lossy(), None)?,
    };
    let place = url
        .as_str()
        .trim_start_matches("https://")
        .trim_end_matches('/');
    let code = connection.customer.as_str().to_ascii_lowercase();
    let wanted = endpoint(
        &format!("{code}@{place}"),
        url.clone(),
        key,
        receivers.api_key.clone(),
    )?;
    let _alone = folders.lock_changes()?;
    change(folders, &connection.customer, |record| {
        match record
            .endpoints
            .iter_mut()
            .find(|endpoint| endpoint.id() == wanted.id())
        {
            Some(known) => *known = wanted,
            None => record.endpoints.push(wanted),
        }
    })
}

/// Writes the file of a new customer.
fn add(folders: &Folders, record: &CustomerRecord) -> Result<(), Failure> {
    let code = &record.customer.code;
    let customers = folders.customers()?.current();
    if customers.get(code).is_some() {
        return Err(Failure::refused(
            format_args!("expected a new customer code, found that of a customer: {code}"),
            "choose another code",
        ));
    }
    let all = customers
        .records()
        .map(|known| (**known).clone())
        .chain([record.clone()]);
    // All together, because a provider refuses every change while one file is wrong.
    CustomerSet::new(all).map_err(refused)?;
    let path = folders.config("customers").join(file_name(code)?);
    write(&[NewFile::private(&path, record.to_toml())], false)
}

/// The name of the file of a new customer. A code may have characters that lead out of the folder,
/// or hide the file.
fn file_name(code: &CustomerCode) -> Result<String, Failure> {
    let named = |character: u8| character.is_ascii_alphanumeric() || b"-_.".contains(&character);
    if code.as_str().starts_with('.') || !code.as_str().bytes().all(named) {
        return Err(Failure::refused(
            format_args!(
                "expected a code of letters, digits, -, _ and ., not first, as a file's name, found {code}"
            ),
            "write the customer's file by hand, under another name",
        ));
    }
    Ok(format!("{}.toml", code.as_str().to_ascii_lowercase()))
}

/// Changes a customer's record, and keeps the previous file beside the new one. An unchanged record
/// is not written.
fn change(
    folders: &Folders,
    code: &CustomerCode,
    change: impl FnOnce(&mut CustomerRecord),
) -> Result<(), Failure> {
    let customers = folders.customers()?.current();
    let Some(known) = customers.get(code) else {
        let codes: Vec<&str> = customers
            .records()
            .map(|record| record.customer.code.as_str())
            .collect();
        let what = format!("expected one of {}, found {code}", codes.join(", "));
        return Err(Failure::refused(
            what,
            "bankrail provider control customers prints the customers",
        ));
    };
    let mut record = (**known).clone();
    change(&mut record);
    let path = file_of(folders, code)?;
    // Nothing to write, so that the copy of the last change stays.
    if record == **known {
        return Ok(());
    }
    let others = customers
        .records()
        .filter(|other| other.customer.code != *code)
        .map(|other| (**other).clone());
    CustomerSet::new(others.chain([record.clone()])).map_err(refused)?;
    let before = Zeroizing::new(read(&path)?);
    let mut name = path.clone().into_os_string();
    name.push(".before");
    // A copy first, because the new text has no comments.
    write(&[NewFile::private(name, before)], true)?;
    write(&[NewFile::private(&path, record.to_toml())], true)
}

/// The file of a customer that is in force.
fn file_of(folders: &Folders, code: &CustomerCode) -> Result<PathBuf, Failure> {
    let folder = folders.config("customers");
    for entry in fs::read_dir(&folder).map_err(|error| damaged(&folder, &error))? {
        let path = entry.map_err(|error| damaged(&folder, &error))?.path();
        let hidden = path
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if hidden || path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let text = Zeroizing::new(String::from_utf8_lossy(&read(&path)?).into_owned());
        if CustomerRecord::from_toml(&path, &text).is_ok_and(|record| record.customer.code == *code)
        {
            return Ok(path);
        }
    }
    Err(Failure::unable(
        format_args!("{}: no file of {code}", folder.display()),
        "try again",
    ))
}

fn refused(error: CustomersError) -> Failure {
    Failure::refused(first_errors(&error), "nothing was changed")
}
