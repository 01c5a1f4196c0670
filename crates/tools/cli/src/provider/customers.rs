//! `bankrail provider customers`.

mod files;

use super::demo::{connections, new_api_key, set_api_key};
use super::folder::Folders;
use crate::failure::{Failure, Outcome, causes};
use crate::keys::file;
use crate::output::{Output, Style};
use crate::text::{counted, shown};
use bankrail::bank::{ApiKeyRecord, CustomerRecord, EndpointRecord};
use bankrail::client_assertion::CustomerCode;
use bankrail::client_assertion::token::{ScopeSet, names};
use bankrail::jose::EncryptionKey;
use bankrail::service::delivery::EndpointUrl;
use bankrail::service::{ApiKeyHash, Customer, RegisteredAccount};
use bankrail::statement::{AccountId, AccountKind};
use bankrail::values::{Clock as _, Currency, SecretString, SystemClock, Timestamp};
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::time::Duration;
use zeroize::Zeroizing;

const HOUR: Duration = Duration::from_secs(3600);

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the customers with their accounts, API keys and endpoints
    #[command(after_help = "Example:\n  bankrail provider customers list")]
    List,
    /// Add a customer, and print its API key, which is not stored
    ///
    /// A running provider knows the customer within a second.
    #[command(after_help = "Examples:\n  \
        bankrail provider customers add ACME --key acme.pub.pem --account 999001400300301:AUD\n  \
        bankrail provider customers add ACME --key acme.pub.pem --endpoint https://biller.example/hooks \
        --encrypt-to acme-encryption.pub.pem")]
    Add(Add),
    /// Give a customer a new API key, and print it; the one before ends later
    ///
    /// A demo customer's connection.toml gets the new key. Comments in the customer's file are
    /// lost; the file as it was stays beside it, under a name that ends in .before.
    #[command(
        after_help = "Example:\n  bankrail provider customers rotate DEMOCUSTOMER --overlap 0"
    )]
    Rotate(Rotate),
}

#[derive(Args, Debug)]
pub(super) struct Add {
    /// The customer code, in upper case
    code: CustomerCode,
    /// The customer's public key for assertions
    #[arg(long, value_name = "PUB")]
    key: String,
    /// A scope; that of statements without one
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,
    /// An account as NUMBER:CURRENCY, with :virtual after it for one that has virtual accounts
    #[arg(long, value_name = "ACCOUNT", value_parser = account)]
    account: Vec<(AccountId, RegisteredAccount)>,
    /// The base address of the customer's webhook receivers
    #[arg(long, value_name = "URL", requires = "encrypt_to", value_parser = |text: &str| EndpointUrl::parse(text))]
    endpoint: Option<EndpointUrl>,
    /// The customer's public key that messages are encrypted for
    #[arg(long, value_name = "PUB", requires = "endpoint")]
    encrypt_to: Option<String>,
}

#[derive(Args, Debug)]
pub(super) struct Rotate {
    /// The customer code
    code: CustomerCode,
    /// For how many hours the keys before stay valid
    #[arg(long, value_name = "HOURS", default_value_t = 24)]
    overlap: u32,
}

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

pub(super) fn run(
    command: &Command,
    folders: &Folders,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    match command {
        Command::List => list(folders, output),
        Command::Add(add) => self::add(add, folders, output),
        Command::Rotate(rotate) => self::rotate(rotate, folders, output),
    }
}

fn list(folders: &Folders, output: &mut Output) -> Result<Outcome, Failure> {
    let now = SystemClock.now();
    for record in folders.customers()?.book().records() {
        output.line(output.paint(Style::Bold, record.customer.code.as_str()))?;
        let valid = record
            .api_keys
            .iter()
            .filter(|key| key.is_valid_at(now))
            .count();
        let keys = counted(valid, "valid API key", "valid API keys");
        let ends: Vec<String> = record
            .api_keys
            .iter()
            .filter_map(|key| ends(key, now))
            .collect();
        output.line(format_args!("  {keys}{}", ends.concat()))?;
        output.line(format_args!("  scopes     {}", record.customer.scopes))?;
        for (id, account) in &record.accounts {
            let kind = if account.kind == AccountKind::WithVirtualAccounts {
                ", virtual accounts"
            } else {
                ""
            };
            output.line(format_args!(
                "  account    {}, {}{kind}",
                shown(id.as_str()),
                account.currency
            ))?;
        }
        for endpoint in &record.endpoints {
            let id = shown(endpoint.id().as_ref()).into_owned();
            output.line(format_args!(
                "  endpoint   {id}, {}",
                endpoint.url().as_str()
            ))?;
        }
    }
    Ok(Outcome::Fine)
}

fn ends(key: &ApiKeyRecord, now: Timestamp) -> Option<String> {
    let until = key.valid_until().filter(|until| now < *until)?;
    Some(format!(", one until {}", crate::clock::instant(until)))
}

fn add(add: &Add, folders: &Folders, output: &mut Output) -> Result<Outcome, Failure> {
    let scopes = if add.scope.is_empty() {
        names::STATEMENT_READ.to_owned()
    } else {
        add.scope.join(" ")
    };
    let scopes: ScopeSet = scopes.parse().map_err(|error| {
        Failure::unable(
            format_args!("--scope: {}", causes(&error)),
            "pass each scope with an option of its own",
        )
    })?;
    let mut record = CustomerRecord::new(Customer::new(
        add.code.clone(),
        file::verifying(&add.key)?,
        scopes,
    ));
    record.accounts.clone_from(&add.account);
    let receivers = match (&add.endpoint, &add.encrypt_to) {
        (Some(url), Some(encrypt_to)) => Some((url.clone(), file::encryption(encrypt_to, None)?)),
        _ => None,
    };
    let Added {
        api_key,
        receiver_key,
        path,
    } = added(record, receivers, folders)?;
    output.line(format_args!("customer  {}", add.code))?;
    output.line(format_args!(
        "API key   apikey: {}  (printed only now)",
        *api_key
    ))?;
    if let Some((id, key)) = &receiver_key {
        output.line(format_args!(
            "endpoint  {id}, which is sent apikey: {}",
            **key
        ))?;
    }
    output.line(format_args!("file      {}", path.display()))?;
    Ok(Outcome::Fine)
}

/// What a new customer gets.
pub(super) struct Added {
    pub(super) api_key: Zeroizing<String>,
    /// The name of its endpoint, and the API key that its receivers are sent.
    pub(super) receiver_key: Option<(String, Zeroizing<String>)>,
    path: PathBuf,
}

/// Adds a customer with a new API key, and with an endpoint for its receivers.
pub(super) fn added(
    mut record: CustomerRecord,
    receivers: Option<(EndpointUrl, EncryptionKey)>,
    folders: &Folders,
) -> Result<Added, Failure> {
    let api_key = new_api_key()?;
    record
        .api_keys
        .push(ApiKeyRecord::new(ApiKeyHash::of(api_key.as_bytes())));
    let mut receiver_key = None;
    if let Some((url, encryption)) = receivers {
        let key = new_api_key()?;
        let id = record.customer.code.as_str().to_ascii_lowercase();
        record
            .endpoints
            .push(endpoint(&id, url, encryption, key.as_str().into())?);
        receiver_key = Some((id, key));
    }
    let _alone = folders.lock_changes()?;
    let path = files::add(folders, &record)?;
    Ok(Added {
        api_key,
        receiver_key,
        path,
    })
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

fn rotate(rotate: &Rotate, folders: &Folders, output: &mut Output) -> Result<Outcome, Failure> {
    let Rotated {
        api_key,
        end,
        path,
        told,
    } = rotated(&rotate.code, rotate.overlap, SystemClock.now(), folders)?;
    let printed = if matches!(told, Ok(true)) {
        "also in connection.toml"
    } else {
        "printed only now"
    };
    output.line(format_args!("customer  {}", rotate.code))?;
    output.line(format_args!("API key   apikey: {}  ({printed})", *api_key))?;
    let before = if rotate.overlap == 0 {
        "ended".to_owned()
    } else {
        crate::clock::instant(end)
    };
    output.line(format_args!("before    {before}"))?;
    output.line(format_args!("file      {}", path.display()))?;
    // The key is in force and stored nowhere: it is printed whatever became of connection.toml.
    told.map(|_| Outcome::Fine)
}

/// What came of a new API key.
pub(super) struct Rotated {
    pub(super) api_key: Zeroizing<String>,
    /// When the keys before end.
    pub(super) end: Timestamp,
    path: PathBuf,
    /// Whether a demo customer's connection.toml has it now.
    told: Result<bool, Failure>,
}

/// Gives a customer a new API key.
pub(super) fn rotated(
    code: &CustomerCode,
    overlap: u32,
    now: Timestamp,
    folders: &Folders,
) -> Result<Rotated, Failure> {
    let end = now.saturating_add(HOUR.saturating_mul(overlap));
    let api_key = new_api_key()?;
    let _alone = folders.lock_changes()?;
    let path = files::change(folders, code, |record| {
        for key in &mut record.api_keys {
            if key.valid_until().is_none_or(|until| end < until) {
                *key = key.clone().expires(end);
            }
        }
        record
            .api_keys
            .retain(|key| key.valid_until().is_some_and(|until| now < until));
        record
            .api_keys
            .push(ApiKeyRecord::new(ApiKeyHash::of(api_key.as_bytes())));
        Ok(())
    })?;
    let told = set_api_key(folders, code.as_str(), &api_key);
    Ok(Rotated {
        api_key,
        end,
        path,
        told,
    })
}

/// Registers an endpoint of the first demo customer at this address. One that is there already gets
/// these keys. Each address is an endpoint of its own, so that no message for one is ever delivered
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
    files::change(folders, &connection.customer, |record| {
        match record
            .endpoints
            .iter_mut()
            .find(|endpoint| endpoint.id() == wanted.id())
        {
            Some(known) => *known = wanted,
            None => record.endpoints.push(wanted),
        }
        Ok(())
    })?;
    Ok(())
}
