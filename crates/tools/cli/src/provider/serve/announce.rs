//! The first lines of a provider: everything that a foreign client needs. Secrets are shown only on
//! a terminal. If the output is stored, as in the log of a test, the lines name the files with the
//! secrets.

use super::super::Folders;
use super::super::demo;
use super::super::samples::samples;
use super::Arguments;
use super::settings::base_url;
use crate::failure::Failure;
use crate::output::{Output, Style};
use crate::text::shown;
use bankrail::bank::CustomerSet;
use bankrail::client::Connection;
use bankrail::http::names::{STATEMENT_PATH, TOKEN_PATH};
use bankrail_emulator::TestAccount;
use std::fmt::Display;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Writes the provider's address into the demo customers' files, and prints what the customers
/// need.
pub(super) fn print(
    arguments: &Arguments,
    folders: &Folders,
    issuer: &str,
    address: SocketAddr,
    customers: &CustomerSet,
    output: &mut Output,
) -> Result<(), Failure> {
    let base = base_url(issuer);
    let file = |path: PathBuf| {
        std::path::absolute(&path)
            .unwrap_or(path)
            .display()
            .to_string()
    };
    let demo_customers = if folders.is_demo() {
        demo::tell_address(folders, base)?
    } else {
        Vec::new()
    };
    let mut lines = vec![
        ("data folder", file(folders.root().to_owned())),
        ("issuer", issuer.to_owned()),
        ("audience", format!("{base}/v1.0/auth, or the issuer")),
    ];
    lines.extend(
        arguments
            .audience
            .iter()
            .map(|audience| ("", audience.to_string())),
    );
    let clients = if arguments.strict_clients {
        "as specified: typ jwt, exp a number, aud a text"
    } else {
        "also as client libraries write them; --strict-clients: only as specified"
    };
    lines.extend([
        ("assertions", clients.to_owned()),
        ("token URL", format!("{base}{TOKEN_PATH}")),
        ("statement URL", format!("{base}{STATEMENT_PATH}")),
        ("OpenAPI", format!("{base}/openapi.json")),
    ]);
    if folders.is_demo() {
        lines.push(("webhook keys", file(folders.config("signing.pub.pem"))));
        lines.push(("", file(folders.config("signing.jwks.json"))));
        lines.push(("CA file", file(folders.config("ca.pem"))));
    }
    for (name, value) in lines {
        output.line(format_args!("{name:<14} {value}"))?;
    }
    for (home, connection) in &demo_customers {
        customer(home, connection, customers, &file, output)?;
    }
    output.line(format_args!("\nlistening on {address}; Ctrl-C stops"))?;
    Ok(output.flush()?)
}

fn customer(
    home: &Path,
    connection: &Connection,
    customers: &CustomerSet,
    file: &impl Fn(PathBuf) -> String,
    output: &mut Output,
) -> Result<(), Failure> {
    output.line(format_args!(
        "\ncustomer       {}",
        output.paint(Style::Bold, connection.customer.as_str())
    ))?;
    let header = connection.api_key_header.as_deref().unwrap_or("apikey");
    let key = if output.is_terminal() {
        connection.api_key.expose_secret()
    } else {
        "in connection.toml"
    };
    output.line(format_args!("  API key      {header}: {key}"))?;
    list("scopes", &connection.scopes, output)?;
    let accounts = connection.accounts.iter().map(|account| {
        let known = TestAccount::ALL.iter().find(|known| known.id() == *account);
        let about =
            known.map(|known| format!("  {}, {}", known.opening().currency(), known.shows()));
        format!("{account}{}", about.unwrap_or_default())
    });
    list("accounts", accounts, output)?;
    let known = customers.get(&connection.customer);
    for endpoint in known.into_iter().flat_map(|record| &record.endpoints) {
        let (id, url) = (
            shown(endpoint.id().as_ref()).into_owned(),
            endpoint.url().as_str(),
        );
        output.line(format_args!("  endpoint     {id}, {url}"))?;
        if let Some((header, value)) = endpoint.api_key() {
            let key = if output.is_terminal() {
                value.expose_secret()
            } else {
                "in the customer's file"
            };
            output.line(format_args!("    is sent    {header}: {key}"))?;
        }
    }
    output.line(format_args!(
        "  connection   {}",
        file(home.join("connection.toml"))
    ))?;
    let samples = samples(connection).map(|sample| {
        let path = file(home.join(sample.name));
        format!("{} {path}{}", sample.program, sample.about)
    });
    list("samples", samples, output)
}

/// Prints a line for each item. The first has the title.
fn list(
    title: &str,
    items: impl IntoIterator<Item = impl Display>,
    output: &mut Output,
) -> Result<(), Failure> {
    for (at, item) in items.into_iter().enumerate() {
        let title = if at == 0 { title } else { "" };
        output.line(format_args!("  {title:<12} {item}"))?;
    }
    Ok(())
}
