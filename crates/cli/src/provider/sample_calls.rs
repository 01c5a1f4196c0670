//! Sample calls of a demo customer: a token and a statement with curl, Python and Node.

use crate::failure::Failure;
use crate::keys::write::{NewFile, write};
use bankrail::client::Connection;
use bankrail::http::names::{STATEMENT_PATH, TOKEN_PATH};
use std::fs;
use std::path::Path;
use zeroize::Zeroizing;

/// A sample: what runs it, its name and text, and what else it needs.
pub(super) struct Sample {
    pub(super) program: &'static str,
    pub(super) name: &'static str,
    text: &'static str,
    pub(super) needs: &'static str,
}

pub(super) const SAMPLES: [Sample; 3] = [
    Sample {
        program: "sh",
        name: "sample.sh",
        text: include_str!("sample_calls/sample.sh"),
        needs: "  (needs curl and openssl)",
    },
    Sample {
        program: "python3",
        name: "sample.py",
        text: include_str!("sample_calls/sample.py"),
        needs: "  (needs openssl)",
    },
    Sample { program: "node", name: "sample.mjs", text: include_str!("sample_calls/sample.mjs"), needs: "" },
];

/// Writes the programs into the customer's folder.
pub(super) fn write_all(home: &Path, connection: &Connection) -> Result<(), Failure> {
    for sample in SAMPLES {
        let text = filled(sample.text, connection);
        let path = home.join(sample.name);
        if fs::read(&path).is_ok_and(|found| found == text.as_bytes()) {
            continue;
        }
        // They hold the API key.
        write(&[NewFile::private(path, text)], true)?;
    }
    Ok(())
}

fn filled(text: &str, connection: &Connection) -> Zeroizing<String> {
    let token_url = format!("{}{TOKEN_PATH}", connection.base_url);
    let token_url = connection.token_url.as_deref().unwrap_or(&token_url);
    let audience = connection.audience.as_deref().unwrap_or(token_url);
    let statement_url = format!("{}{STATEMENT_PATH}", connection.base_url);
    // The statement's scope alone: the first one.
    let scope = connection.scopes.first().map_or("", String::as_str);
    let account = connection.accounts.first().map_or("", |account| account.as_str());
    let text = text
        .replace("@TOKEN_URL@", token_url)
        .replace("@STATEMENT_URL@", &statement_url)
        .replace("@AUDIENCE@", audience)
        .replace("@CUSTOMER@", connection.customer.as_str())
        .replace("@SCOPE@", scope)
        .replace("@ACCOUNT@", account);
    Zeroizing::new(text.replace("@API_KEY@", connection.api_key.expose_secret()))
}
