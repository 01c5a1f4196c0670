//! A customer's webhook endpoints are read.

use super::keys;
use super::members::{Members, Reader};
use crate::customers::{CustomerProblem, EndpointRecord};
use bankrail_http::names::API_KEY;
use bankrail_jose::EncryptionKey;
use bankrail_mailbox::EndpointId;
use bankrail_service::delivery::EndpointUrl;
use bankrail_values::SecretString;
use bankrail_webhook::MessageKind;

pub(super) fn read(reader: &mut Reader<'_>, mut members: Members<'_, '_>) -> Option<EndpointRecord> {
    let id = members.required(reader, "id").and_then(|value| reader.parsed(value, str::parse::<EndpointId>));
    let loopback = reader.http_on_loopback;
    let parse = |text: &str| match loopback {
        true => EndpointUrl::danger_allow_http_on_loopback(text),
        false => EndpointUrl::parse(text),
    };
    let url = members.required(reader, "url").and_then(|value| reader.parsed(value, parse));
    let key = members.required(reader, "encryption_key").and_then(|value| {
        let members = reader.table(value)?;
        let mut keys: Vec<EncryptionKey> = keys::read(reader, members);
        if keys.len() > 1 {
            reader.expected(value.span().start, "expected one key, found several; state the kid of one of them");
            return None;
        }
        keys.pop()
    });
    let mut paths = Vec::new();
    if let Some(members) = members.get("paths").and_then(|value| reader.table(value)) {
        for (name, at, value) in members.all() {
            let Some(kind) = MessageKind::from_name(name) else {
                let known = MessageKind::ALL.map(MessageKind::as_str).join(", ");
                let found = bankrail_values::excerpt(name);
                reader.fault(at, CustomerProblem::UnknownMember { known, found });
                continue;
            };
            paths.extend(reader.text(value).map(|path| (kind, path)));
        }
    }
    let api_key = members.get("api_key").and_then(|value| {
        let members = reader.table(value)?;
        api_key(reader, members)
    });
    members.finish(reader);
    let mut endpoint = EndpointRecord::new(id?, url?, key?);
    for (kind, path) in paths {
        endpoint = endpoint.with_path(kind, path);
    }
    match api_key {
        None => Some(endpoint),
        Some((header, value, at)) => {
            let endpoint = endpoint.with_api_key_in(&header, value);
            endpoint.map_err(|error| reader.expected(at, error.to_string())).ok()
        }
    }
}

/// The header, the value, and the place of an API key: `value`, or the content of `file` without the line ends after
/// it.
fn api_key(reader: &mut Reader<'_>, mut members: Members<'_, '_>) -> Option<(String, SecretString, usize)> {
    let at = members.at;
    let header = match members.get("header") {
        Some(value) => reader.text(value).map(str::to_owned),
        None => Some(API_KEY.to_string()),
    };
    let (value, file) = (members.get("value"), members.get("file"));
    members.finish(reader);
    let secret = match (value, file) {
        (Some(value), None) => {
            let own = reader.file;
            reader.files.note_secret(own);
            SecretString::from(reader.text(value)?)
        }
        (None, Some(value)) => {
            let name = reader.text(value)?;
            match keys::content(reader, name) {
                Ok((path, content)) => {
                    reader.files.note_secret(&path);
                    SecretString::from(content.trim_end_matches(['\r', '\n']))
                }
                Err((path, reason)) => {
                    reader.fault(value.span().start, CustomerProblem::Key { file: Some(path), reason });
                    return None;
                }
            }
        }
        (None, None) => {
            reader.expected(at, "expected one of value, file, found none");
            return None;
        }
        (Some(_), Some(_)) => {
            reader.expected(at, "expected one of value, file, found several");
            return None;
        }
    };
    if secret.expose_secret().is_empty() {
        reader.expected(at, "expected an API key, found an empty text");
        return None;
    }
    Some((header?, secret, at))
}
