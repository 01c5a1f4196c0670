//! Records as TOML.

mod draft;
mod endpoints;
mod keys;
mod members;
mod read;
mod write;

pub(super) use self::draft::Draft;
pub(super) use self::members::Reader;

use super::check::Checker;
use super::{CustomerRecord, CustomersError, LimitOverride};
use std::cell::RefCell;
use std::path::Path;
use zeroize::Zeroizing;

impl CustomerRecord {
    /// Reads the text of a customer's file; see [`CustomerFolder`](super::CustomerFolder) for its
    /// members. Key files are relative to the folder of `file`, which is not read itself. Blocks
    /// while it reads key files.
    ///
    /// # Errors
    /// [`CustomersError`] with all faults, each with file, line and column.
    pub fn from_toml(file: impl AsRef<Path>, text: &str) -> Result<Self, CustomersError> {
        let files = RefCell::default();
        let reader = Reader::new(file.as_ref(), text, &files, false);
        let mut draft = Draft::read(&reader);
        let mut checker = Checker::default();
        draft
            .iter()
            .for_each(|draft| checker.check(draft.parts(), draft));
        let mut faults = reader.finish().faults;
        faults.extend(checker.faults());
        match draft.as_mut().and_then(Draft::take_record) {
            Some(record) if faults.is_empty() => Ok(record),
            _ => Err(CustomersError::of(faults)),
        }
    }

    /// The record as the text of a customer's file, with its public keys in it.
    /// [`CustomerRecord::from_toml`] makes an equal record of it, but refuses an endpoint whose
    /// address is `http`.
    ///
    /// It holds the API keys of webhook endpoints in clear: keep the file like a secret.
    #[must_use]
    pub fn to_toml(&self) -> Zeroizing<String> {
        write::write(self)
    }
}

impl LimitOverride {
    /// Reads the text of a file whose only member is `limits`, as in a customer's file; see
    /// [`CustomerFolder`](super::CustomerFolder). `file` is named in faults and is not read itself.
    ///
    /// # Errors
    /// [`CustomersError`] with all faults, each with file, line and column.
    pub fn list_from_toml(file: impl AsRef<Path>, text: &str) -> Result<Vec<Self>, CustomersError> {
        let files = RefCell::default();
        let reader = Reader::new(file.as_ref(), text, &files, false);
        let limits = Self::read_all(&reader);
        let faults = reader.finish().faults;
        if faults.is_empty() {
            Ok(limits)
        } else {
            Err(CustomersError::of(faults))
        }
    }
}
