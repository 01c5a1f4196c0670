//! A customer's webhook endpoints are read.

use super::keys;
use super::members::{Item, Members};
use crate::customers::{CustomerProblem, EndpointRecord, Place};
use bankrail_http::names::API_KEY;
use bankrail_jose::EncryptionKey;
use bankrail_mailbox::EndpointId;
use bankrail_service::delivery::EndpointUrl;
use bankrail_values::{SecretString, excerpt};
use bankrail_webhook::MessageKind;

pub(super) fn read(mut members: Members<'_>) -> Option<(EndpointRecord, Place)> {
    let place = members.at.place();
    let id = members
        .required("id")
        .and_then(|value| value.parsed(str::parse::<EndpointId>));
    let parse = match members.at.reader.http_on_loopback {
        true => EndpointUrl::danger_allow_http_on_loopback,
        false => EndpointUrl::parse,
    };
    let url = members
        .required("url")
        .and_then(|value| value.parsed(parse));
    let key = members.required("encryption_key").and_then(|value| {
        let mut keys: Vec<EncryptionKey> = keys::read(value.table()?);
        if keys.len() > 1 {
            value
                .at
                .expected("expected one key, found several; state the kid of one of them");
            return None;
        }
        keys.pop()
    });
    let mut paths = Vec::new();
    for (name, at, value) in members
        .get("paths")
        .and_then(Item::table)
        .iter()
        .flat_map(Members::all)
    {
        let Some(kind) = MessageKind::from_name(name) else {
            let known = MessageKind::ALL.map(MessageKind::as_str).join(", ");
            at.fault(CustomerProblem::UnknownMember {
                known,
                found: excerpt(name),
            });
            continue;
        };
        paths.extend(value.text().map(|path| (kind, path)));
    }
    let api_key = members
        .get("api_key")
        .and_then(|value| Some((value.at, api_key(value.table()?)?)));
    members.finish();
    let endpoint = EndpointRecord::new(id?, url?, key?);
    let endpoint = paths.into_iter().fold(endpoint, |endpoint, (kind, path)| {
        endpoint.with_path(kind, path)
    });
    let endpoint = match api_key {
        None => endpoint,
        Some((at, (header, value))) => at.checked(endpoint.with_api_key_in(&header, value))?,
    };
    Some((endpoint, place))
}

/// The header and the value of an API key: `value`, or the content of `file` without the line ends
/// after it.
fn api_key(mut members: Members<'_>) -> Option<(String, SecretString)> {
    let at = members.at;
    let header = match members.get("header") {
        Some(value) => value.text().map(str::to_owned),
        None => Some(API_KEY.to_string()),
    };
    let stated = members.one_of(["value", "file"]);
    members.finish();
    let (path, secret) = match stated? {
        ("file", name) => {
            let (path, content) = keys::content(name)?;
            (
                path,
                SecretString::from(content.trim_end_matches(['\r', '\n'])),
            )
        }
        (_, value) => (at.reader.file.to_owned(), SecretString::from(value.text()?)),
    };
    at.reader.files.borrow_mut().note_secret(&path);
    if secret.expose_secret().is_empty() {
        at.expected("expected an API key, found an empty text");
        return None;
    }
    Some((header?, secret))
}
