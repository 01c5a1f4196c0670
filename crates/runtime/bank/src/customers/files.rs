//! Files that records are read from.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, Metadata};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use zeroize::Zeroizing;

/// The maximum number of bytes of a file.
pub(super) const MAX_FILE_BYTES: u64 = 256 * 1024;

/// The maximum number of bytes of all files together.
pub(super) const MAX_TOTAL_BYTES: u64 = 64 * 1024 * 1024;

/// The age from which on a change of a file is settled. A file that changed more recently before it
/// was read may change again without a new time of modification.
const SETTLES_AFTER: Duration = Duration::from_secs(2);

/// The files that a record was read from, with their state at that time.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// The state of each file when it was read; `None` if it could not be read.
    stamps: BTreeMap<PathBuf, Option<Stamp>>,
    /// The number of bytes of other records' files that were read before.
    before: u64,
    bytes: u64,
    unsettled: bool,
    exposed: BTreeSet<PathBuf>,
}

/// The metadata of a file that a change alters, so that an unchanged file need not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
    /// On Unix the file's number and the time of its last change, which no program sets.
    change: (u64, i64, i64),
}

impl Files {
    /// Makes an empty set of files, after other records' files of this many bytes.
    pub(super) fn after(before: u64) -> Self {
        Self {
            before,
            ..Self::default()
        }
    }

    /// Returns the number of bytes that were read.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the text of a file.
    ///
    /// # Errors
    /// The reason why there is none.
    pub(super) fn read(&mut self, path: &Path) -> Result<Zeroizing<String>, String> {
        // Without a stamp, a file that appears later or becomes readable counts as changed.
        self.stamps.insert(path.to_owned(), None);
        // A pipe without a writer would never open.
        if !std::fs::metadata(path)
            .map_err(|error| error.to_string())?
            .is_file()
        {
            return Err("expected a file".to_owned());
        }
        let file = File::open(path).map_err(|error| error.to_string())?;
        // Of the open file: the path may lead to another one by now.
        let metadata = file.metadata().map_err(|error| error.to_string())?;
        let stamp = Stamp::of(&metadata);
        #[expect(
            clippy::disallowed_methods,
            reason = "compared with the time that the file system wrote"
        )]
        let settled =
            |modified: SystemTime| modified.elapsed().is_ok_and(|age| age >= SETTLES_AFTER);
        self.unsettled |= !stamp.modified.is_some_and(settled);
        self.stamps.insert(path.to_owned(), Some(stamp));
        let mut text = Zeroizing::new(String::new());
        let read = file.take(MAX_FILE_BYTES + 1).read_to_string(&mut text);
        // Neither what the system refuses now nor the size of other files is seen in the file's
        // stamp.
        let read = read
            .inspect_err(|_| self.unsettled = true)
            .map_err(|error| error.to_string())? as u64;
        if read > MAX_FILE_BYTES {
            return Err(format!(
                "expected at most {MAX_FILE_BYTES} bytes, found more"
            ));
        }
        self.bytes = self.bytes.saturating_add(read);
        if self.before.saturating_add(self.bytes) > MAX_TOTAL_BYTES {
            self.unsettled = true;
            return Err(format!(
                "expected at most {MAX_TOTAL_BYTES} bytes in all files, found more"
            ));
        }
        Ok(text)
    }

    /// Records that a file has a secret.
    pub(super) fn note_secret(&mut self, path: &Path) {
        if bankrail_http::files::is_readable_by_all(path) {
            self.exposed.insert(path.to_owned());
        }
    }

    /// Returns the files with secrets that every user of the machine may read.
    pub(super) fn exposed(&self) -> impl Iterator<Item = &PathBuf> {
        self.exposed.iter()
    }

    /// Treats all files as changed.
    pub(super) fn distrust(&mut self) {
        self.unsettled = true;
    }

    /// Returns true if any of the files may have changed since it was read.
    pub(super) fn may_have_changed(&self) -> bool {
        let now = |path: &Path| {
            std::fs::metadata(path)
                .ok()
                .map(|metadata| Stamp::of(&metadata))
        };
        self.unsettled || self.stamps.iter().any(|(path, stamp)| *stamp != now(path))
    }
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let change = {
            use std::os::unix::fs::MetadataExt as _;
            (metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
        };
        #[cfg(not(unix))]
        let change = (0, 0, 0);
        Self {
            modified: metadata.modified().ok(),
            length: metadata.len(),
            change,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_together_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, vec![b'#'; usize::try_from(MAX_FILE_BYTES).unwrap()]).unwrap();
        let long_ago = SystemTime::now() - Duration::from_secs(60);
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
        let mut files = Files::default();
        for _ in 0..MAX_TOTAL_BYTES / MAX_FILE_BYTES {
            assert!(files.read(&path).is_ok());
        }
        let error = files.read(&path).unwrap_err();
        assert_eq!(
            error,
            "expected at most 67108864 bytes in all files, found more"
        );
        assert!(files.may_have_changed(), "whenever the others are smaller");
    }

    /// A file is read again if it was rewritten within the resolution of its time of modification,
    /// with the same length.
    #[test]
    fn a_file_that_has_just_changed_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "1").unwrap();
        let long_ago = SystemTime::now() - Duration::from_secs(60);
        let age = || {
            File::options()
                .write(true)
                .open(&path)
                .unwrap()
                .set_modified(long_ago)
                .unwrap()
        };
        let mut files = Files::default();
        files.read(&path).unwrap();
        assert!(files.may_have_changed());
        age();
        let mut files = Files::default();
        files.read(&path).unwrap();
        assert!(!files.may_have_changed());
        // The file has another length, is another file, or is missing.
        std::fs::write(&path, "22").unwrap();
        age();
        assert!(files.may_have_changed());
        std::fs::remove_file(&path).unwrap();
        assert!(files.may_have_changed());
    }
}
