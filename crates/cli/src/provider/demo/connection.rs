//! The files `connection.toml` and the sample calls of the demo customers.

use super::super::folder::{Folders, damaged, read};
use super::super::sample_calls;
use crate::connection::Connection;
use crate::failure::Failure;
use crate::input;
use crate::keys::write::{Secrecy, write};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// The folder of each demo customer with what its `connection.toml` says, by name. Files in it are as they are written.
pub(crate) fn connections(folders: &Folders) -> Result<Vec<(PathBuf, Connection)>, Failure> {
    let demo = folders.data("demo");
    let mut homes = Vec::new();
    for entry in fs::read_dir(&demo).map_err(|error| damaged(&demo, &error))? {
        let home = entry.map_err(|error| damaged(&demo, &error))?.path();
        if home.is_dir() {
            homes.push(home);
        }
    }
    homes.sort();
    let connection = |home: PathBuf| parse(&home.join("connection.toml")).map(|connection| (home, connection));
    homes.into_iter().map(connection).collect()
}

fn parse(path: &Path) -> Result<Connection, Failure> {
    let bytes = Zeroizing::new(read(path)?);
    let text = std::str::from_utf8(&bytes).map_err(|error| damaged(path, &error))?;
    input::parse_toml(path, text, "correct the file, or restore it")
}

/// Writes the address of the provider into the demo customers' files, and their sample calls.
pub(crate) fn tell_address(folders: &Folders, base_url: &str) -> Result<Vec<(PathBuf, Connection)>, Failure> {
    let mut all = connections(folders)?;
    for (home, connection) in &mut all {
        let token_url = format!("{base_url}/v1.0/auth");
        connection.base_url = base_url.to_owned();
        connection.audience = Some(token_url.clone());
        connection.token_url = Some(token_url);
        write_connection(home, connection)?;
        sample_calls::write_all(home, connection)?;
    }
    Ok(all)
}

/// Puts a new API key into the file of the demo customer with this code. False if there is none.
pub(crate) fn set_api_key(folders: &Folders, code: &str, api_key: &str) -> Result<bool, Failure> {
    if !folders.is_demo() {
        return Ok(false);
    }
    for (home, mut connection) in connections(folders)? {
        if connection.customer == code {
            connection.api_key = api_key.to_owned();
            write_connection(&home, &connection)?;
            sample_calls::write_all(&home, &connection)?;
            return Ok(true);
        }
    }
    Ok(false)
}

fn write_connection(home: &Path, connection: &Connection) -> Result<(), Failure> {
    let path = home.join("connection.toml");
    let text = to_toml(connection);
    if fs::read(&path).is_ok_and(|found| found == text.as_bytes()) {
        return Ok(());
    }
    write(&[(&path, text.as_bytes(), Secrecy::Private)], true)
}

/// The text of a `connection.toml`.
pub(super) fn to_toml(connection: &Connection) -> Zeroizing<String> {
    let mut out = Text(Zeroizing::new(String::with_capacity(2048)));
    out.0.push_str("# What this customer and its provider have arranged. It holds secrets.\n");
    out.text("base_url", &connection.base_url);
    out.optional("token_url", connection.token_url.as_deref());
    out.optional("audience", connection.audience.as_deref());
    out.text("customer", &connection.customer);
    out.text("api_key", &connection.api_key);
    out.optional("api_key_header", connection.api_key_header.as_deref());
    out.list("scopes", &connection.scopes);
    out.path("signing_key", &connection.signing_key);
    out.optional("signing_kid", connection.signing_kid.as_deref());
    if let Some(roots) = &connection.roots {
        out.path("roots", roots);
    }
    out.list("accounts", &connection.accounts);
    if let Some(receivers) = &connection.receivers {
        out.0.push_str("\n[receivers]\n");
        out.text("listen", &receivers.listen.to_string());
        out.path("certificate", &receivers.certificate);
        out.path("certificate_key", &receivers.certificate_key);
        out.text("api_key", &receivers.api_key);
        out.path("decryption_key", &receivers.decryption_key);
        out.path("provider_keys", &receivers.provider_keys);
    }
    out.0
}

struct Text(Zeroizing<String>);

impl Text {
    fn text(&mut self, name: &str, value: &str) {
        self.0.push_str(name);
        self.0.push_str(" = ");
        self.quoted(value);
        self.0.push('\n');
    }

    fn optional(&mut self, name: &str, value: Option<&str>) {
        value.into_iter().for_each(|value| self.text(name, value));
    }

    fn path(&mut self, name: &str, path: &Path) {
        self.text(name, &path.to_string_lossy());
    }

    fn list(&mut self, name: &str, values: &[String]) {
        self.0.push_str(name);
        self.0.push_str(" = [");
        for (at, value) in values.iter().enumerate() {
            self.0.push_str(if at == 0 { "" } else { ", " });
            self.quoted(value);
        }
        self.0.push_str("]\n");
    }

    /// A basic string of TOML.
    fn quoted(&mut self, text: &str) {
        self.0.push('"');
        for char in text.chars() {
            match char {
                '"' | '\\' => self.0.extend(['\\', char]),
                // Writing into a string cannot fail.
                char if char.is_control() => drop(write!(self.0, "\\u{:04X}", u32::from(char))),
                char => self.0.push(char),
            }
        }
        self.0.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_says_all_that_was_read() {
        let text = r#"
base_url = "https://bank.example"
token_url = "https://bank.example/token"
audience = "the audience"
customer = "BILLER"
api_key = "q\"\\\u0001ü"
api_key_header = "x-key"
scopes = ["ONE", "TWO"]
signing_key = "signing.pem"
signing_kid = "2026"
roots = "ca.pem"
accounts = ["1", "2"]

[receivers]
listen = "127.0.0.1:1"
certificate = "receiver.pem"
certificate_key = "receiver-key.pem"
api_key = "r"
decryption_key = "decryption.pem"
provider_keys = "bank.jwks.json"
"#;
        let connection: Connection = toml::from_str(text).unwrap();
        assert_eq!(connection.api_key, "q\"\\\u{1}ü");
        let written: toml::Table = toml::from_str(&to_toml(&connection)).unwrap();
        assert_eq!(written, toml::from_str::<toml::Table>(text).unwrap());
    }
}
