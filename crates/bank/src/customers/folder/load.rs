//! The files of a folder are read.

use super::{CustomerFolder, CustomerFolderOptions};
use crate::customers::check::Checker;
use crate::customers::files::Files;
use crate::customers::text::{Draft, Reader};
use crate::customers::{CustomerBook, CustomerFault, CustomerProblem, CustomersError, Place};
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// What was read last.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    /// The customers' files, or `None` if the folder could not be read.
    names: Option<Vec<PathBuf>>,
    files: RefCell<Files>,
}

impl Loaded {
    /// Whether a file may have come, gone or changed since the last reading.
    pub(super) fn may_have_changed(&self, folder: &Path) -> bool {
        list(folder).ok() != self.names || self.files.borrow().may_have_changed()
    }

    /// Reads all files, and returns the customers if none has a fault.
    pub(super) fn load(
        &mut self,
        folder: &Path,
        options: &CustomerFolderOptions,
    ) -> Result<CustomerBook, CustomersError> {
        *self = Self::default();
        let of_folder =
            |problem| CustomersError::of(vec![CustomerFault::new(Place::Path { path: folder.to_owned() }, problem)]);
        let names = list(folder).map_err(of_folder)?;
        let none = names.is_empty();
        let names = self.names.insert(names);
        if none {
            let reason = "expected at least one file whose name ends in .toml, found none".to_owned();
            return Err(of_folder(CustomerProblem::Value { reason }));
        }
        let (mut drafts, mut faults) = (Vec::with_capacity(names.len()), Vec::new());
        for file in names.iter() {
            let text = self.files.borrow_mut().read(file);
            match text {
                Ok(text) => {
                    let reader = Reader::new(file, &text, &self.files, options.danger_allow_http_on_loopback);
                    drafts.extend(Draft::read(&reader));
                    let found = reader.finish();
                    faults.extend(found.faults);
                    for warning in found.warnings {
                        tracing::warn!(error = %warning, "a customer's key is unusable");
                    }
                }
                Err(reason) => {
                    let place = Place::Path { path: file.clone() };
                    faults.push(CustomerFault::new(place, CustomerProblem::Unreadable { reason }));
                }
            }
        }
        let mut checker = Checker::default();
        drafts.iter().for_each(|draft| checker.check(draft.parts(), draft));
        faults.extend(checker.faults());
        if !faults.is_empty() {
            return Err(CustomersError::of(faults));
        }
        for file in self.files.borrow().exposed() {
            tracing::warn!(file = %file.display(), "every user of the machine may read the API key of an endpoint");
        }
        // No record is left out here, because a record that lacks a part has a fault.
        Ok(CustomerBook::of_checked(drafts.into_iter().filter_map(Draft::into_record)))
    }
}

/// The customers' files in the order of their names.
fn list(folder: &Path) -> Result<Vec<PathBuf>, CustomerProblem> {
    let unreadable = |error: std::io::Error| CustomerProblem::Unreadable { reason: error.to_string() };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        if is_customer(&file) {
            names.push(file);
        }
        if names.len() > CustomerFolder::MAX_FILES {
            return Err(CustomerProblem::TooMany { what: "files of customers", max: CustomerFolder::MAX_FILES });
        }
    }
    names.sort_unstable();
    Ok(names)
}

fn is_customer(file: &Path) -> bool {
    let hidden = file.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
    !hidden && file.extension().is_some_and(|ending| ending == "toml")
}
