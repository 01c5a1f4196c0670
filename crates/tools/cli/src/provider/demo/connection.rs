//! The files `connection.toml` and the sample calls of the demo customers.

use super::super::samples;
use super::super::{Folders, damaged, read};
use crate::connection::failure;
use crate::failure::Failure;
use crate::files::{NewFile, write};
use bankrail::client::Connection;
use std::fs;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Returns the folder and the connection of each demo customer, by name. Files are named as in
/// `connection.toml`.
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
    let connection =
        |home: PathBuf| parse(&home.join("connection.toml")).map(|connection| (home, connection));
    homes.into_iter().map(connection).collect()
}

fn parse(path: &Path) -> Result<Connection, Failure> {
    let bytes = Zeroizing::new(read(path)?);
    let text = std::str::from_utf8(&bytes).map_err(|error| damaged(path, &error))?;
    Connection::from_toml(text, path).map_err(|error| failure(&error))
}

/// Writes the address of the provider into the demo customers' files, and their sample calls.
pub(crate) fn tell_address(
    folders: &Folders,
    base_url: &str,
) -> Result<Vec<(PathBuf, Connection)>, Failure> {
    let mut all = connections(folders)?;
    for (home, connection) in &mut all {
        let token_url = format!("{base_url}/v1.0/auth");
        connection.base_url = base_url.to_owned();
        connection.audience = Some(token_url.clone());
        connection.token_url = Some(token_url);
        write_connection(home, connection)?;
        samples::write_all(home, connection)?;
    }
    Ok(all)
}

/// Puts a new API key into the file of the demo customer with this code. False if there is none.
pub(crate) fn set_api_key(folders: &Folders, code: &str, api_key: &str) -> Result<bool, Failure> {
    if !folders.is_demo() {
        return Ok(false);
    }
    for (home, mut connection) in connections(folders)? {
        if connection.customer.as_str() == code {
            connection.api_key = api_key.into();
            write_connection(&home, &connection)?;
            samples::write_all(&home, &connection)?;
            return Ok(true);
        }
    }
    Ok(false)
}

fn write_connection(home: &Path, connection: &Connection) -> Result<(), Failure> {
    let path = home.join("connection.toml");
    let text = to_toml(connection)?;
    if fs::read(&path).is_ok_and(|found| found == text.as_bytes()) {
        return Ok(());
    }
    write(&[NewFile::private(path, text)], true)
}

/// The text of a `connection.toml`.
pub(super) fn to_toml(connection: &Connection) -> Result<Zeroizing<String>, Failure> {
    let text = toml::to_string(connection).map(Zeroizing::new);
    let text = text
        .map_err(|error| Failure::unable(format_args!("connection.toml: {error}"), "report it"))?;
    let comment = "# What this customer and its provider have arranged. It holds secrets.\n";
    Ok(Zeroizing::new([comment, &text].concat()))
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
        let connection = Connection::from_toml(text, "connection.toml").unwrap();
        assert_eq!(connection.api_key.expose_secret(), "q\"\\\u{1}ü");
        let written: toml::Table = toml::from_str(&to_toml(&connection).unwrap()).unwrap();
        assert_eq!(written, toml::from_str::<toml::Table>(text).unwrap());
    }
}
