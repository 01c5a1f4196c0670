//! Changes of the customers' files. Each is validated with all others before it is written.

use super::super::{Folders, damaged, first_errors, read};
use crate::failure::Failure;
use crate::files::{NewFile, write};
use bankrail::bank::{CustomerRecord, CustomerSet, CustomersError};
use bankrail::client_assertion::CustomerCode;
use std::fs;
use std::path::PathBuf;
use zeroize::Zeroizing;

/// Writes the file of a new customer.
pub(super) fn add(folders: &Folders, record: &CustomerRecord) -> Result<(), Failure> {
    let code = &record.customer.code;
    let customers = folders.customers()?.current();
    if customers.get(code).is_some() {
        return Err(Failure::refused(
            format_args!("expected a new customer code, found that of a customer: {code}"),
            "choose another code",
        ));
    }
    let all = customers
        .records()
        .map(|known| (**known).clone())
        .chain([record.clone()]);
    // All together, because a provider refuses every change while one file is wrong.
    CustomerSet::new(all).map_err(|error| refused(&error))?;
    let path = folders.config("customers").join(file_name(code)?);
    write(&[NewFile::private(&path, record.to_toml())], false)
}

/// The name of the file of a new customer. A code may have characters that lead out of the folder,
/// or hide the file.
fn file_name(code: &CustomerCode) -> Result<String, Failure> {
    let named = |character: u8| character.is_ascii_alphanumeric() || b"-_.".contains(&character);
    if code.as_str().starts_with('.') || !code.as_str().bytes().all(named) {
        return Err(Failure::refused(
            format_args!(
                "expected a code of letters, digits, -, _ and ., not first, as a file's name, found {code}"
            ),
            "write the customer's file by hand, under another name",
        ));
    }
    Ok(format!("{}.toml", code.as_str().to_ascii_lowercase()))
}

/// Changes a customer's record, and keeps the previous file beside the new one. An unchanged record
/// is not written.
pub(super) fn change(
    folders: &Folders,
    code: &CustomerCode,
    change: impl FnOnce(&mut CustomerRecord) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let customers = folders.customers()?.current();
    let Some(known) = customers.get(code) else {
        let codes: Vec<&str> = customers
            .records()
            .map(|record| record.customer.code.as_str())
            .collect();
        let what = format!("expected one of {}, found {code}", codes.join(", "));
        return Err(Failure::refused(
            what,
            "bankrail provider control customers prints the customers",
        ));
    };
    let mut record = (**known).clone();
    change(&mut record)?;
    let path = file_of(folders, code)?;
    // Nothing to write, so that the copy of the last change stays.
    if record == **known {
        return Ok(());
    }
    let others = customers
        .records()
        .filter(|other| other.customer.code != *code)
        .map(|other| (**other).clone());
    CustomerSet::new(others.chain([record.clone()])).map_err(|error| refused(&error))?;
    let before = Zeroizing::new(read(&path)?);
    let mut name = path.clone().into_os_string();
    name.push(".before");
    // A copy first, because the new text has no comments.
    write(&[NewFile::private(name, before)], true)?;
    write(&[NewFile::private(&path, record.to_toml())], true)
}

/// The file of a customer that is in force.
fn file_of(folders: &Folders, code: &CustomerCode) -> Result<PathBuf, Failure> {
    let folder = folders.config("customers");
    for entry in fs::read_dir(&folder).map_err(|error| damaged(&folder, &error))? {
        let path = entry.map_err(|error| damaged(&folder, &error))?.path();
        let hidden = path
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if hidden || path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let text = Zeroizing::new(String::from_utf8_lossy(&read(&path)?).into_owned());
        if CustomerRecord::from_toml(&path, &text).is_ok_and(|record| record.customer.code == *code)
        {
            return Ok(path);
        }
    }
    Err(Failure::unable(
        format_args!("{}: no file of {code}", folder.display()),
        "try again",
    ))
}

fn refused(error: &CustomersError) -> Failure {
    Failure::refused(first_errors(error), "nothing was changed")
}
