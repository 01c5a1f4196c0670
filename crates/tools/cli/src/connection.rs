//! The file `connection.toml` in the program, and other ways to give its members.
//!
//! `bankrail provider` writes the file for each of its demo customers. `token`, `statement fetch`,
//! `biller` and `conformance` read it.

use crate::clock::instant;
use crate::failure::{Failure, causes};
use crate::files::warn_if_exposed;
use crate::input;
use crate::keys::file::{NEXT_KEY, NEXT_ONE, NEXT_PRIVATE};
use crate::logging;
use bankrail::client::{
    CallError, CallErrorKind, ClientCertificate, ClientOptionsError, Connection, ConnectionError,
    HttpClientError, Proxy,
};
use bankrail::http::serve::CertificateFiles;
use bankrail::jose::KeyError;
use clap::Args;
use serde::Serialize;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use toml::Table;
use zeroize::Zeroizing;

/// The environment variable of the API key.
const API_KEY: &str = "BANKRAIL_API_KEY";

/// Reads the file at a path, or `connection.toml` if the path is a folder.
pub(crate) fn open(path: &Path) -> Result<Connection, Failure> {
    logging::alone(|| Connection::open(path)).map_err(failure)
}

/// Describes an error of a connection, and what to do about it.
pub(crate) fn failure(error: ConnectionError) -> Failure {
    let next = match &error {
        ConnectionError::Read { file, source }
            if source.kind() == ErrorKind::NotFound && file.ends_with("connection.toml") =>
        {
            "name the file connection.toml or its folder; bankrail provider prints where it has written one"
        }
        ConnectionError::Read { .. } => "check its name, and who may read it",
        ConnectionError::Toml { .. } => "correct the file",
        ConnectionError::Key {
            source: KeyError::NotPrivate,
            ..
        } => NEXT_PRIVATE,
        ConnectionError::Key { .. } => NEXT_KEY,
        ConnectionError::SeveralKeys { .. } => NEXT_ONE,
        ConnectionError::NotPublicHalf { .. } => "put the public half there, or remove the file",
        ConnectionError::SameKey { .. } => "make another one: bankrail keys generate",
        ConnectionError::ProviderKeys(_) => {
            "put the provider's public keys there, as PEM or JWK set"
        }
        ConnectionError::Certificate { .. } => "name a certificate and its key as PEM",
        ConnectionError::Client { source, .. } => after_options(source),
        ConnectionError::Listen { listen, source, .. } if source.kind() == ErrorKind::AddrInUse => {
            return Failure::unable(
                format_args!("{listen}: the port {} is taken", listen.port()),
                "stop the program that listens there, or pass another address with --listen",
            );
        }
        ConnectionError::Listen { .. } => "pass an address of this machine with --listen",
        _ => "correct the connection",
    };
    Failure::caused(&error, causes(&error), next)
}

fn after_options(error: &ClientOptionsError) -> &'static str {
    match error {
        ClientOptionsError::BaseUrl(_) | ClientOptionsError::AuthUrl(_) => {
            "give the address as the provider does, such as https://bank.example"
        }
        ClientOptionsError::ApiKey => "give the API key without spaces and line ends",
        ClientOptionsError::ApiKeyHeader { .. } => {
            "give the name that the provider uses, such as apikey"
        }
        ClientOptionsError::Http(HttpClientError::Proxy(_)) => {
            "correct the environment variable, or remove it"
        }
        ClientOptionsError::Http(HttpClientError::Tls(_)) => {
            "give the provider's certificate authorities as PEM"
        }
        _ => "correct the connection",
    }
}

/// Returns a secret of the command line: the text itself, or the first line of the file after an
/// `@`.
pub(crate) fn given_secret(given: &str, name: &str) -> Result<Zeroizing<String>, Failure> {
    let Some(file) = given.strip_prefix('@') else {
        return Ok(Zeroizing::new(given.to_owned()));
    };
    warn_if_exposed(Path::new(file));
    let text = input::read_text(file, 4096)?;
    match text
        .lines()
        .next()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        Some(line) => Ok(Zeroizing::new(line.to_owned())),
        None => Err(Failure::unable(
            format_args!("{file}: expected {name}, found nothing"),
            "write it to the file",
        )),
    }
}

/// Returns the API key of `--api-key`, or that of the environment variable `BANKRAIL_API_KEY`.
pub(crate) fn given_api_key(option: Option<&str>) -> Result<Option<Zeroizing<String>>, Failure> {
    match option {
        Some(given) => given_secret(given, "an API key").map(Some),
        None => Ok(std::env::var(API_KEY)
            .ok()
            .filter(|key| !key.is_empty())
            .map(Zeroizing::new)),
    }
}

/// Returns the proxy of `--proxy`, which may have a password, and the hosts of `--no-proxy`.
pub(crate) fn given_proxy(given: &str, except: Option<&str>) -> Result<Proxy, Failure> {
    let text = given_secret(given, "a proxy")?;
    let proxy = Proxy::parse(&text).and_then(|proxy| proxy.except(except.unwrap_or_default()));
    proxy.map_err(|error| Failure::unable(causes(&error), "correct --proxy or --no-proxy"))
}

/// Returns the certificate of `--client-certificate`, with its private key.
pub(crate) fn given_certificate(path: &str) -> Result<ClientCertificate, Failure> {
    warn_if_exposed(Path::new(path));
    let pem = input::read_text(path, CertificateFiles::MAX_BYTES)?;
    ClientCertificate::from_pem(&pem).map_err(|error| {
        let what = format!("{}: {}", input::name(path), causes(&error));
        Failure::unable(what, "pass both in one file with --client-certificate")
    })
}

/// Options that override members of `connection.toml`, under its names.
#[derive(Args, Debug, Serialize)]
pub(crate) struct ConnectionOptions {
    /// The file connection.toml, or its folder; other options override its members
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    connection: Option<PathBuf>,
    /// The address of the token endpoint; by default the provider's and /v1.0/auth
    #[arg(long, value_name = "URL")]
    token_url: Option<String>,
    /// The claim aud; by default the address of the token endpoint
    #[arg(long, value_name = "TEXT")]
    audience: Option<String>,
    /// The customer code, the claim sub
    #[arg(long, value_name = "CODE")]
    customer: Option<String>,
    /// The customer's private key, which signs assertions: PEM, DER or JWK
    #[arg(long, value_name = "FILE")]
    #[serde(rename = "signing_key")]
    key: Option<PathBuf>,
    /// The name of the key, for the assertion's header; by default that of a JWK
    #[arg(long)]
    #[serde(rename = "signing_kid")]
    kid: Option<String>,
    /// The API key, which others see in the list of processes, or @FILE for the first line of FILE;
    /// by default BANKRAIL_API_KEY, or that of the connection
    #[arg(long, value_name = "KEY")]
    #[serde(skip)]
    api_key: Option<String>,
    /// The header of the API key, by default apikey
    #[arg(long, value_name = "NAME")]
    api_key_header: Option<String>,
    /// The scopes to ask for, separated by spaces or one for each use of the option; by default the
    /// scope of statements
    #[arg(long, value_name = "SCOPES")]
    #[serde(skip)]
    scope: Vec<String>,
    /// The certificate authorities of the provider, as PEM; by default those of the system
    #[arg(long, value_name = "FILE")]
    roots: Option<PathBuf>,
    /// Trust the certificate authorities of the system beside those of --roots
    #[arg(long)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    system_roots: bool,
    /// The certificate for a provider that asks for one, with its private key, as PEM
    #[arg(long, value_name = "FILE")]
    client_certificate: Option<PathBuf>,
    /// The proxy, such as socks5h://proxy.example:1080, or @FILE for the first line of FILE; by
    /// default that of the connection, and for a token that of HTTPS_PROXY or ALL_PROXY
    #[arg(long, value_name = "URL")]
    #[serde(skip)]
    proxy: Option<String>,
    /// The hosts that are called without the proxy, such as .bank.internal
    #[arg(long, value_name = "HOSTS")]
    no_proxy: Option<String>,
}

impl ConnectionOptions {
    /// Returns the address of `--token-url`.
    pub(crate) fn token_url(&self) -> Option<&str> {
        self.token_url.as_deref()
    }

    /// Returns the members of the file. `own`, and then the options, override them.
    pub(crate) fn members(&self, own: Table) -> Result<Table, Failure> {
        let wrong = |error| Failure::unable(error, "name files in UTF-8");
        let mut members = match &self.connection {
            Some(path) => Table::try_from(open(path)?).map_err(wrong)?,
            None => Table::new(),
        };
        // The name of another key, and the like.
        if let Some(key) = &self.key {
            warn_if_exposed(key);
            members.remove("signing_kid");
        }
        if self.roots.is_some() {
            members.remove("system_roots");
        }
        if own.contains_key("base_url") {
            members.remove("token_url");
        }
        members.extend(own);
        members.extend(Table::try_from(self).map_err(wrong)?);
        if let Some(key) = given_api_key(self.api_key.as_deref())? {
            members.insert("api_key".to_owned(), key.as_str().into());
        }
        if let Some(given) = &self.proxy {
            let proxy = given_proxy(given, self.no_proxy.as_deref())?;
            members.insert("proxy".to_owned(), proxy.expose_url().as_str().into());
        }
        if !self.scope.is_empty() {
            let scopes = self.scope.join(" ");
            let scopes: Vec<_> = scopes.split_ascii_whitespace().collect();
            members.insert("scopes".to_owned(), scopes.into());
        }
        Ok(members)
    }
}

/// Returns the connection with these members, of which those that each has must be there.
pub(crate) fn connection(members: Table) -> Result<Connection, Failure> {
    for (member, what, next) in [
        ("base_url", "an address", "name the provider's address"),
        (
            "customer",
            "a customer code",
            "--customer or --connection has it",
        ),
        (
            "api_key",
            "an API key",
            "pass --api-key @FILE or set BANKRAIL_API_KEY",
        ),
        (
            "signing_key",
            "a private key",
            "--key or --connection names its file",
        ),
    ] {
        if !members.contains_key(member) {
            return Err(Failure::unable(
                format_args!("expected {what}, found none"),
                next,
            ));
        }
    }
    members.try_into().map_err(|error: toml::de::Error| {
        Failure::unable(
            format_args!("an option is refused: {}", error.message()),
            "correct it",
        )
    })
}

/// The failure of a command that got no token or no statement.
pub(crate) fn call_failure(error: &CallError) -> Failure {
    let said = match &error.reason {
        CallErrorKind::Refused { description, .. } => description.as_ref(),
        CallErrorKind::Service { title, .. } => title.as_ref(),
        _ => None,
    };
    let said = said.map_or_else(String::new, |text| format!(": {text}"));
    let key = error.request_key;
    let key = key.map_or_else(String::new, |key| format!(", request key {key}"));
    let what = format!("{}{said}{key}", causes(error));
    let next = match error.retry_at {
        Some(at) => format!("wait until {}", instant(at)).into(),
        None => error.advice(),
    };
    match &error.reason {
        // No call was made, or none was answered.
        CallErrorKind::ReservedAccount { .. }
        | CallErrorKind::Account(_)
        | CallErrorKind::Assertion(_)
        | CallErrorKind::Signer { .. }
        | CallErrorKind::Counters(_)
        | CallErrorKind::Transport(_)
        | CallErrorKind::NotStored { .. }
        | CallErrorKind::Closed
        | CallErrorKind::Abandoned => Failure::unable(what, next),
        CallErrorKind::Refused { .. } if error.status == Some(401) => Failure::refused(
            what,
            format_args!(
                "{next}; bankrail assertion explain judges an assertion as a provider does"
            ),
        ),
        _ => Failure::refused(what, next),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_is_not_there_is_said_with_what_to_do() {
        let Err(failure) = open(Path::new("/nowhere/connection.toml")) else {
            panic!("it is not there")
        };
        let line = failure.into_parts().0.unwrap();
        assert!(
            line.contains("/nowhere/connection.toml: ") && line.contains("bankrail provider"),
            "{line}"
        );
    }

    #[test]
    fn a_secret_may_be_in_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        std::fs::write(&file, "the-secret\r\nmore").unwrap();
        let at = format!("@{}", file.display());
        assert_eq!(
            given_secret(&at, "an API key").unwrap().as_str(),
            "the-secret"
        );
        assert_eq!(
            given_secret("plain", "an API key").unwrap().as_str(),
            "plain"
        );
        std::fs::write(&file, "\n").unwrap();
        assert!(given_secret(&at, "an API key").is_err());
    }
}
