//! A connection whose members options override.

use super::{given_api_key, given_proxy, open};
use crate::failure::Failure;
use crate::files::warn_if_exposed;
use bankrail::client::Connection;
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use toml::Table;

/// Options that override members of `connection.toml`, under its names.
#[derive(Args, Debug, Serialize)]
pub(crate) struct Over {
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

impl Over {
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
