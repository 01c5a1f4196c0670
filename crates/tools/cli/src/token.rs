//! `bankrail token`: gets an access token for calls by hand.

use crate::block_on;
use crate::clock::instant;
use crate::connection::{ConnectionOptions, call_failure, connection, failure};
use crate::failure::Failure;
use crate::output::Output;
use bankrail::client::{ClientOptions, Pacing, Token};
use clap::Args;
use serde::Serialize;

#[derive(Args, Debug)]
#[command(after_help = "\
    An API key is visible to others in the list of processes if it is an argument: pass --api-key @FILE, set \
    BANKRAIL_API_KEY, or use connection.toml.\n\n\
    Exit status: 0 with a token, 1 if the provider refuses, 2 for wrong arguments, unreadable \
    files and a provider that cannot be reached.\n\n\
    Examples:\n  \
    TOKEN=$(bankrail token --connection connection.toml)\n  \
    bankrail token --token-url https://bank.example/v1.0/auth --customer BILLER \\\n    \
    --key signing.pem --api-key @api-key\n  \
    bankrail statement fetch --connection connection.toml \\\n    \
    --token \"$TOKEN\" 012003123456789")]
pub(crate) struct Arguments {
    #[command(flatten)]
    options: ConnectionOptions,
    /// Print the whole answer as JSON
    #[arg(long)]
    json: bool,
}

/// The answer of the token endpoint, under its own names, and further facts about the token.
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
    // Nothing but the token endpoint is called.
    let base_url = arguments.options.token_url();
    let base_url = base_url.map(|url| ("base_url".to_owned(), url.into()));
    let connection = connection(arguments.options.members(base_url.into_iter().collect())?)?;
    let token = block_on(async {
        let client = connection
            .client(ClientOptions::new().pacing(Pacing::Fail))
            .map_err(failure)?;
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
