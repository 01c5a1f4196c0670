//! Whom to judge, and as whom: out of the options and the connection files.

use super::Provider;
use crate::conformance::address;
use crate::connection::{Connection, given_api_key};
use crate::failure::Failure;
use bankrail::client_assertion::token::names;
use bankrail::http::names::{STATEMENT_PATH, TOKEN_PATH};
use reqwest::Url;
use reqwest::header::HeaderName;
use std::path::Path;
use zeroize::Zeroizing;

/// A provider, and a customer of it.
pub(super) struct Target {
    pub(super) base_url: Url,
    pub(super) token_url: Url,
    pub(super) statement_url: Url,
    pub(super) audience: String,
    pub(super) customer: String,
    pub(super) api_key: Zeroizing<String>,
    pub(super) api_key_header: HeaderName,
    pub(super) key: String,
    pub(super) kid: Option<String>,
    pub(super) scopes: Vec<String>,
    pub(super) accounts: Vec<String>,
    /// The file of certificate authorities.
    pub(super) roots: Option<String>,
    /// Somebody else, if there is a second connection.
    pub(super) other: Option<Other>,
}

/// Another customer of the same provider.
pub(super) struct Other {
    pub(super) customer: String,
    pub(super) api_key: Zeroizing<String>,
    /// An account that only the other has.
    pub(super) account: Option<String>,
}

impl Target {
    pub(super) fn read(arguments: &Provider) -> Result<Self, Failure> {
        let connection = arguments.connection.as_deref().map(Connection::read).transpose()?;
        let connection = connection.as_ref();
        let base = arguments.url.clone().or_else(|| connection.map(|connection| connection.base_url.clone()));
        let base_url = address(&needed(base, "an address", "name the provider's address")?)?;
        let below = |path: &str| {
            let mut url = base_url.clone();
            url.set_path(&format!("{}{path}", base_url.path().trim_end_matches('/')));
            url
        };
        // Another address than the connection's has its own token endpoint.
        let elsewhere = arguments.url.is_some();
        let token_url = arguments
            .token_url
            .clone()
            .or_else(|| connection.filter(|_| !elsewhere).and_then(|connection| connection.token_url.clone()));
        let token_url = token_url.map_or_else(|| Ok(below(TOKEN_PATH)), |url| address(&url))?;
        let audience =
            arguments.audience.clone().or_else(|| connection.and_then(|connection| connection.audience.clone()));
        let customer = arguments.customer.clone().or_else(|| connection.map(|connection| connection.customer.clone()));
        let header = arguments.api_key_header.clone();
        let header = header.or_else(|| connection.and_then(|connection| connection.api_key_header.clone()));
        let header = header.unwrap_or_else(|| "apikey".to_owned());
        let key = arguments.key.clone().or_else(|| connection.map(|connection| connection.signing_key.clone()));
        let kid = arguments.kid.clone().or_else(|| connection.and_then(|connection| connection.signing_kid.clone()));
        let or_all = |given: &[String], of: fn(&Connection) -> &Vec<String>| match (given, connection) {
            ([], Some(connection)) => of(connection).clone(),
            (given, _) => given.to_vec(),
        };
        let mut scopes = or_all(&arguments.scope, |connection| &connection.scopes);
        if scopes.is_empty() {
            scopes.push(names::STATEMENT_READ.to_owned());
        }
        let accounts = or_all(&arguments.account, |connection| &connection.accounts);
        if accounts.is_empty() {
            return Err(missing("an account", "--account names one whose statements may be asked for"));
        }
        let roots = arguments.roots.clone().or_else(|| connection.and_then(|connection| connection.roots.clone()));
        let other = arguments.second_connection.as_deref().map(Connection::read).transpose()?;
        let other = other.map(|other| Other::new(other, &accounts));
        Ok(Self {
            statement_url: below(STATEMENT_PATH),
            audience: audience.unwrap_or_else(|| token_url.to_string()),
            token_url,
            base_url,
            customer: needed(customer, "a customer code", "--customer or --connection has it")?,
            api_key: api_key(arguments, connection)?,
            api_key_header: HeaderName::from_bytes(header.as_bytes()).map_err(|_| {
                let found = bankrail::values::excerpt(&header);
                Failure::unable(format_args!("expected the name of a header, found {found}"), "correct it")
            })?,
            key: name(&needed(key, "a private key", "--key or --connection names its file")?),
            kid,
            scopes,
            accounts,
            roots: roots.as_deref().map(name),
            other,
        })
    }
}

impl Other {
    fn new(connection: Connection, accounts: &[String]) -> Self {
        Self {
            customer: connection.customer,
            api_key: Zeroizing::new(connection.api_key),
            // One that both have is nobody else's.
            account: connection.accounts.into_iter().find(|account| !accounts.contains(account)),
        }
    }
}

/// The API key of `--api-key`, of the environment, or of the connection.
fn api_key(arguments: &Provider, connection: Option<&Connection>) -> Result<Zeroizing<String>, Failure> {
    let found = given_api_key(arguments.api_key.as_deref())?;
    let found = found.or_else(|| connection.map(|connection| Zeroizing::new(connection.api_key.clone())));
    let next = "--api-key @FILE, BANKRAIL_API_KEY or --connection has it";
    needed(found, "an API key", next)
}

fn needed<T>(found: Option<T>, what: &str, next: &str) -> Result<T, Failure> {
    found.ok_or_else(|| missing(what, next))
}

fn missing(what: &str, next: &str) -> Failure {
    Failure::unable(format_args!("expected {what}, found none"), next)
}

fn name(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
