//! A record is written as TOML.

use crate::customers::CustomerRecord;
use bankrail_statement::AccountKind;
use std::fmt::Write as _;
use zeroize::Zeroizing;

pub(super) fn write(record: &CustomerRecord) -> Zeroizing<String> {
    let mut out = Text(Zeroizing::new(String::with_capacity(4096)));
    out.text("code", record.customer.code.as_str());
    let scopes: Vec<String> = record
        .customer
        .scopes
        .iter()
        .map(|scope| quoted(scope.as_str()))
        .collect();
    out.line(&format!("scopes = [{}]", scopes.join(", ")));
    for key in record.customer.keys.keys().iter() {
        out.line("\n[[keys]]");
        out.optional("kid", key.kid());
        out.pem(&key.to_spki_pem());
    }
    for key in &record.api_keys {
        out.line("\n[[api_keys]]");
        out.text("sha256", &key.hash().to_string());
        out.bare("not_before", key.valid_from());
        out.bare("expires", key.valid_until());
    }
    for limit in &record.limits {
        out.line("\n[[limits]]");
        out.text("call_type", limit.call_type().as_str());
        for (unit, most) in limit.units() {
            out.bare(unit, Some(most));
        }
        if limit.windows().is_empty() {
            out.bare("unlimited", Some(true));
        }
        out.bare("until", limit.ends());
    }
    for (id, account) in &record.accounts {
        out.line("\n[[accounts]]");
        out.text("id", id.as_str());
        out.text("currency", account.currency.as_str());
        out.optional("name", account.name.as_deref());
        if account.kind == AccountKind::WithVirtualAccounts {
            out.bare("virtual_accounts", Some(true));
        }
        out.optional("reporting_source", account.reporting_source.as_deref());
    }
    for endpoint in &record.endpoints {
        out.endpoint(endpoint);
    }
    out.0
}

/// The text so far.
struct Text(Zeroizing<String>);

impl Text {
    fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    fn text(&mut self, name: &str, value: &str) {
        self.line(&Zeroizing::new(format!("{name} = {}", quoted(value))));
    }

    fn optional(&mut self, name: &str, value: Option<&str>) {
        value.into_iter().for_each(|value| self.text(name, value));
    }

    /// A value that is written without quotes: a number, `true`, an instant.
    fn bare(&mut self, name: &str, value: Option<impl std::fmt::Display>) {
        value
            .into_iter()
            .for_each(|value| self.line(&format!("{name} = {value}")));
    }

    fn pem(&mut self, pem: &str) {
        self.line(&format!("pem = \"\"\"\n{}\n\"\"\"", pem.trim_end()));
    }

    fn endpoint(&mut self, endpoint: &crate::customers::EndpointRecord) {
        self.line("\n[[endpoints]]");
        self.text("id", endpoint.id().as_ref());
        self.text("url", endpoint.url().as_str());
        if endpoint.paths().next().is_some() {
            self.line("[endpoints.paths]");
            endpoint
                .paths()
                .for_each(|(kind, path)| self.text(kind.as_str(), path));
        }
        if let Some((header, value)) = endpoint.api_key() {
            self.line("[endpoints.api_key]");
            self.text("header", header);
            self.text("value", value.expose_secret());
        }
        self.line("[endpoints.encryption_key]");
        self.optional("kid", endpoint.encryption_key().kid());
        self.pem(&endpoint.encryption_key().to_spki_pem());
    }
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => out.extend(['\\', char]),
            char if char.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(char));
            }
            char => out.push(char),
        }
    }
    out.push('"');
    out
}
