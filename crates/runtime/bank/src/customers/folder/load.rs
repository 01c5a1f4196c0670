//! Reading the files of a folder.

use super::{CustomerFolder, CustomerFolderOptions};
use crate::customers::check::Checker;
use crate::customers::files::Files;
use crate::customers::text::{Draft, Reader};
use crate::customers::{
    CustomerRecord, CustomerRecordError, CustomerRecordErrorKind, CustomerSet, CustomersError,
    Place,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files as they were last read.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    /// The customers' files, or `None` if the folder could not be read.
    names: Option<Vec<PathBuf>>,
    customers: BTreeMap<PathBuf, Read>,
}

/// The content of one customer's file.
#[derive(Debug)]
struct Read {
    /// The file and those that it names.
    files: Files,
    /// The parts of the record; once the record is made, only their places.
    draft: Option<Draft>,
    record: Option<Arc<CustomerRecord>>,
    errors: Vec<CustomerRecordError>,
}

impl Loaded {
    /// Makes the next reading read all files.
    pub(super) fn distrust(&mut self) {
        self.customers
            .values_mut()
            .for_each(|read| read.files.distrust());
    }

    /// Returns true if a file may have been added, removed or changed since the last reading.
    pub(super) fn may_have_changed(&self, folder: &Path) -> bool {
        list(folder).ok() != self.names
            || self
                .customers
                .values()
                .any(|read| read.files.may_have_changed())
    }

    /// Reads the files that are new or may have changed, and returns the customers if none has an
    /// error.
    pub(super) fn load(
        &mut self,
        folder: &Path,
        options: &CustomerFolderOptions,
    ) -> Result<CustomerSet, CustomersError> {
        let of_folder = |kind| {
            CustomersError::of(vec![CustomerRecordError::new(
                Place::Path {
                    path: folder.to_owned(),
                },
                kind,
            )])
        };
        // If the folder cannot be listed, the next look finds a change in any case.
        self.names = None;
        let names = list(folder).map_err(of_folder)?;
        let none = names.is_empty();
        let names = self.names.insert(names);
        if none {
            let reason =
                "expected at least one file whose name ends in .toml, found none".to_owned();
            return Err(of_folder(CustomerRecordErrorKind::Value { reason }));
        }
        let known = std::mem::take(&mut self.customers).into_iter();
        let (mut old, mut known): (BTreeMap<_, _>, BTreeMap<_, _>) =
            known.partition(|(_, read)| read.files.may_have_changed());
        let mut total = known.values().map(|read| read.files.bytes()).sum();
        for name in names.iter() {
            let read = known.remove(name).unwrap_or_else(|| {
                let mut read = Read::new(name, total, options);
                total += read.files.bytes();
                if let Some(old) = old.remove(name).filter(|old| old.record == read.record) {
                    read.record = old.record;
                }
                read
            });
            self.customers.insert(name.clone(), read);
        }
        let mut errors: Vec<CustomerRecordError> = Vec::new();
        let mut checker = Checker::default();
        for read in self.customers.values() {
            errors.extend_from_slice(&read.errors);
            if let Some(draft) = &read.draft {
                checker.check(
                    read.record
                        .as_deref()
                        .map_or_else(|| draft.parts(), Into::into),
                    draft,
                );
            }
        }
        errors.extend(checker.errors());
        if !errors.is_empty() {
            return Err(CustomersError::of(errors));
        }
        // No record is left out here, because a record that lacks a part has an error.
        Ok(CustomerSet::of_checked(
            self.customers
                .values()
                .filter_map(|read| read.record.clone()),
        ))
    }
}

impl Read {
    /// Reads a file, after other files of `total` bytes.
    fn new(file: &Path, total: u64, options: &CustomerFolderOptions) -> Self {
        let mut files = Files::after(total);
        let text = files.read(file);
        let (mut draft, errors) = match text {
            Ok(text) => {
                let http_on_loopback = options.danger_allow_http_on_loopback;
                let mut reader = Reader::of_file(file, &text, &mut files, http_on_loopback);
                let draft = Draft::read(&mut reader);
                for warning in &reader.warnings {
                    tracing::warn!(error = %warning, "a customer's key is unusable");
                }
                (draft, reader.errors)
            }
            Err(reason) => {
                let place = Place::Path {
                    path: file.to_owned(),
                };
                (
                    None,
                    vec![CustomerRecordError::new(
                        place,
                        CustomerRecordErrorKind::Unreadable { reason },
                    )],
                )
            }
        };
        for file in files.exposed() {
            tracing::warn!(file = %file.display(), "every user of the machine may read the API key of an endpoint");
        }
        let record = draft.as_mut().and_then(Draft::take_record).map(Arc::new);
        Self {
            files,
            draft,
            record,
            errors,
        }
    }
}

/// Returns the customers' files in the order of their names.
fn list(folder: &Path) -> Result<Vec<PathBuf>, CustomerRecordErrorKind> {
    let unreadable = |error: std::io::Error| CustomerRecordErrorKind::Unreadable {
        reason: error.to_string(),
    };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        if is_customer(&file) {
            names.push(file);
        }
        if names.len() > CustomerFolder::MAX_FILES {
            return Err(CustomerRecordErrorKind::TooMany {
                what: "files of customers",
                max: CustomerFolder::MAX_FILES,
            });
        }
    }
    names.sort_unstable();
    Ok(names)
}

fn is_customer(file: &Path) -> bool {
    let hidden = file
        .file_name()
        .is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
    !hidden && file.extension().is_some_and(|ending| ending == "toml")
}
