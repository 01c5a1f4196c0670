//! The sample programs for a demo customer: a token and a statement with curl, Python and Node, and
//! receivers in Python and Node.

use crate::failure::Failure;
use crate::files::{NewFile, write};
use bankrail::client::Connection;
use bankrail::http::names::{STATEMENT_PATH, TOKEN_PATH};
use std::fs;
use std::path::Path;
use zeroize::Zeroizing;

/// A sample program: its interpreter, its name and text, a remark, and true if it receives
/// webhooks.
pub(super) struct Sample {
    pub(super) program: &'static str,
    pub(super) name: &'static str,
    text: &'static str,
    pub(super) about: &'static str,
    receives: bool,
}

const SAMPLES: [Sample; 5] = [
    Sample {
        program: "sh",
        name: "sample.sh",
        text: include_str!("samples/sample.sh"),
        about: "  (needs curl and openssl)",
        receives: false,
    },
    Sample {
        program: "python3",
        name: "sample.py",
        text: include_str!("samples/sample.py"),
        about: "  (needs openssl)",
        receives: false,
    },
    Sample {
        program: "node",
        name: "sample.mjs",
        text: include_str!("samples/sample.mjs"),
        about: "",
        receives: false,
    },
    Sample {
        program: "python3",
        name: "receiver.py",
        text: include_str!("samples/receiver.py"),
        about: "  (receives webhooks; pip install jwcrypto)",
        receives: true,
    },
    Sample {
        program: "node",
        name: "receiver.mjs",
        text: include_str!("samples/receiver.mjs"),
        about: "  (receives webhooks; npm install jose)",
        receives: true,
    },
];

/// Returns the samples that the connection is sufficient for.
pub(super) fn samples(connection: &Connection) -> impl Iterator<Item = &'static Sample> {
    SAMPLES
        .iter()
        .filter(|sample| !sample.receives || connection.receivers.is_some())
}

/// Writes the programs into the customer's folder.
pub(super) fn write_all(home: &Path, connection: &Connection) -> Result<(), Failure> {
    for sample in samples(connection) {
        let text = filled(sample.text, connection);
        let path = home.join(sample.name);
        if fs::read(&path).is_ok_and(|found| found == text.as_bytes()) {
            continue;
        }
        // Samples contain the API key.
        write(&[NewFile::private(path, text)], true)?;
    }
    Ok(())
}

fn filled(text: &str, connection: &Connection) -> Zeroizing<String> {
    let token_url = format!("{}{TOKEN_PATH}", connection.base_url);
    let token_url = connection.token_url.as_deref().unwrap_or(&token_url);
    let audience = connection.audience.as_deref().unwrap_or(token_url);
    let statement_url = format!("{}{STATEMENT_PATH}", connection.base_url);
    // Uses only the first scope, which is that of statements.
    let scope = connection.scopes.first().map_or("", String::as_str);
    let account = connection
        .accounts
        .first()
        .map_or("", |account| account.as_str());
    let mut values = vec![
        ("@TOKEN_URL@", token_url.to_owned()),
        ("@STATEMENT_URL@", statement_url),
        ("@AUDIENCE@", audience.to_owned()),
        ("@CUSTOMER@", connection.customer.to_string()),
        ("@SCOPE@", scope.to_owned()),
        ("@ACCOUNT@", account.to_owned()),
    ];
    let mut secrets = vec![("@API_KEY@", &connection.api_key)];
    if let Some(receivers) = &connection.receivers {
        values.push(("@RECEIVER_HOST@", receivers.listen.ip().to_string()));
        values.push(("@RECEIVER_PORT@", receivers.listen.port().to_string()));
        secrets.push(("@RECEIVER_API_KEY@", &receivers.api_key));
    }
    let values = values.iter().map(|(name, value)| (*name, value.as_str()));
    let secrets = secrets
        .iter()
        .map(|(name, secret)| (*name, secret.expose_secret()));
    let filled = Zeroizing::new(text.to_owned());
    values.chain(secrets).fold(filled, |text, (name, value)| {
        Zeroizing::new(text.replace(name, value))
    })
}
