//! `bankrail token`: an access token for calls by hand.

use crate::asynchronous::block_on;
use crate::clock::instant;
use crate::connection::{API_KEY, call_failure, failure, given_api_key, given_proxy, open};
use crate::failure::Failure;
use crate::files::warn_if_exposed;
use crate::output::Output;
use bankrail::client::{ClientOptions, Connection, Pacing, Token};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use toml::Table;

#[derive(Args, Debug)]
#[command(after_help = "\
    An API key is visible to others in the list of processes if it is an argument: pass --api-key @FILE, set \
    BANKRAIL_API_KEY, or use connection.toml.\n\n\
    Exit status: 0 with a token, 1 if the provider refuses, 2 for wrong arguments, unreadable files and a provider \
    that is not reached.\n\n\
    Examples:\n  \
    TOKEN=$(bankrail token --connection connection.toml)\n  \
    bankrail token --token-url https://bank.example/v1.0/auth --customer BILLER --key signing.pem \
    --api-key @api-key\n  \
    bankrail statement fetch --connection connection.toml --token \"$TOKEN\" 012003123456789")]
pub(crate) struct Arguments {
    /// The file connection.toml, or its folder; other options override its members
    #[arg(long, value_name = "FILE", required_unless_present_all = ["token_url", "customer", "key"])]
    connection: Option<PathBuf>,
    #[command(flatten)]
    over: Over,
    /// Print the whole answer as JSON
    #[arg(long)]
    json: bool,
}

/// Options that override members of the file, under the names of a connection.
#[derive(Args, Debug, Serialize)]
struct Over {
    /// The address of the token endpoint
    #[arg(long, value_name = "URL")]
    token_url: Option<String>,
    /// The claim aud; by default the address of the token endpoint
    #[arg(long, value_name = "TEXT")]
    audience: Option<String>,
    /// The customer code, the claim sub
    #[arg(long, value_name = "CODE")]
    customer: Option<String>,
    /// The customer's private key: PEM, DER or JWK
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
    /// The scopes to ask for, separated by spaces; by default that of statements
    #[arg(long, value_name = "SCOPES")]
    #[serde(skip)]
    scope: Option<String>,
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
    /// default that of HTTPS_PROXY or ALL_PROXY
    #[arg(long, value_name = "URL")]
    #[serde(skip)]
    proxy: Option<String>,
    /// The hosts that are called without the proxy, such as .bank.internal; by default those of
    /// NO_PROXY
    #[arg(long, value_name = "HOSTS")]
    no_proxy: Option<String>,
}

impl Arguments {
    /// Returns the connection of the file, with members that options override.
    fn connection(&self) -> Result<Connection, Failure> {
        let wrong = |error| Failure::unable(error, "name files in UTF-8");
        let mut members = match &self.connection {
            Some(path) => Table::try_from(open(path)?).map_err(wrong)?,
            // Nothing but the token endpoint is called.
            None => self
                .over
                .token_url
                .iter()
                .map(|url| ("base_url".to_owned(), url.as_str().into()))
                .collect(),
        };
        if let Some(key) = &self.over.key {
            warn_if_exposed(key);
            members.remove("signing_kid");
        }
        members.extend(Table::try_from(&self.over).map_err(wrong)?);
        if let Some(key) = given_api_key(self.over.api_key.as_deref())? {
            members.insert("api_key".to_owned(), key.as_str().into());
        }
        if let Some(given) = &self.over.proxy {
            let proxy = given_proxy(given, self.over.no_proxy.as_deref())?;
            members.insert("proxy".to_owned(), proxy.expose_url().as_str().into());
        }
        if let Some(scope) = &self.over.scope {
            members.insert(
                "scopes".to_owned(),
                scope.split_ascii_whitespace().collect::<Vec<_>>().into(),
            );
        }
        if !members.contains_key("api_key") {
            let next = format_args!("pass --api-key @FILE or set {API_KEY}");
            return Err(Failure::unable("expected an API key, found none", next));
        }
        // The arguments have every other member of a connection, and only the customer code can be
        // malformed.
        members.try_into().map_err(|error: toml::de::Error| {
            Failure::unable(
                format_args!("customer code: {}", error.message()),
                "correct it",
            )
        })
    }
}

/// The answer of the token endpoint, under its own names, and what else is known of the token.
#[derive(Serialize)]
struct Answer<'a> {
    access_token: &'a str,
    token_type: &'static str,
    expires_in: u64,
    scope: String,
    expires_at: String,
    request_key: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<(), Failure> {
    let connection = arguments.connection()?;
    let token = block_on(async {
        let client = connection
            .client(ClientOptions::new().pacing(Pacing::Fail))
            .map_err(|error| failure(&error))?;
        client
            .tokens()
            .token()
            .await
            .map_err(|error| call_failure(&error))
    })?;
    print(&token, arguments.json, output)
}

fn print(token: &Token, json: bool, output: &mut Output) -> Result<(), Failure> {
    let access_token = token.access_token.expose_secret();
    if json {
        let answer = Answer {
            access_token,
            token_type: "Bearer",
            expires_in: token.expires_at.saturating_since(token.asked_at).as_secs(),
            scope: token.scopes.to_string(),
            expires_at: token.expires_at.to_string(),
            request_key: token.request_key.map(|key| key.to_string()),
        };
        return output.json(&answer);
    }
    output.line(access_token)?;
    let key = token
        .request_key
        .map_or_else(|| "none".to_owned(), |key| key.to_string());
    let (until, scopes) = (instant(token.expires_at), &token.scopes);
    crate::log(format_args!(
        "the token is valid until {until}; scope {scopes}; request key {key}"
    ));
    Ok(())
}
