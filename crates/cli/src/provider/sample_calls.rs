//! Samples for a demo customer: a token and a statement with curl, Python and Node, receivers in Python and Node.

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

const CALLS: [Sample; 3] = [
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

const RECEIVERS: [Sample; 2] = [
    Sample {
        program: "python3",
        name: "receiver.py",
        text: include_str!("sample_calls/receiver.py"),
        needs: "  (receives webhooks; pip install jwcrypto)",
    },
    Sample {
        program: "node",
        name: "receiver.mjs",
        text: include_str!("sample_calls/receiver.mjs"),
        needs: "  (receives webhooks; npm install jose)",
    },
];

/// The samples that can work with what the connection says.
pub(super) fn samples(connection: &Connection) -> impl Iterator<Item = &'static Sample> {
    let receivers = connection.receivers.as_ref().map(|_| &RECEIVERS);
    CALLS.iter().chain(receivers.into_iter().flatten())
}

/// Writes the programs into the customer's folder.
pub(super) fn write_all(home: &Path, connection: &Connection) -> Result<(), Failure> {
    for sample in samples(connection) {
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
    let mut text = Zeroizing::new(text.replace("@API_KEY@", connection.api_key.expose_secret()));
    if let Some(receivers) = &connection.receivers {
        let address = receivers.listen;
        let filled = text.replace("@RECEIVER_HOST@", &address.ip().to_string());
        let filled = Zeroizing::new(filled.replace("@RECEIVER_PORT@", &address.port().to_string()));
        text = Zeroizing::new(filled.replace("@RECEIVER_API_KEY@", receivers.api_key.expose_secret()));
    }
    text
}
