//! Writes files completely or not at all, several together, and private ones readable only by their
//! owner.

use crate::failure::Failure;
use crate::unfinished::Unfinished;
use bankrail::http::files::is_readable_by_all;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;
use zeroize::Zeroizing;

/// The permitted readers of a file. Only its owner can write to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Secrecy {
    /// Only the owner.
    Private,
    /// Anybody, as far as the umask and the folder allow.
    Public,
}

/// A file to write.
pub(crate) struct NewFile {
    pub(crate) path: PathBuf,
    pub(crate) content: Zeroizing<Vec<u8>>,
    pub(crate) secrecy: Secrecy,
}

impl NewFile {
    pub(crate) fn private(path: impl Into<PathBuf>, content: impl AsRef<[u8]>) -> Self {
        Self {
            path: path.into(),
            content: content.as_ref().to_vec().into(),
            secrecy: Secrecy::Private,
        }
    }

    pub(crate) fn public(path: impl Into<PathBuf>, content: impl AsRef<[u8]>) -> Self {
        Self {
            secrecy: Secrecy::Public,
            ..Self::private(path, content)
        }
    }

    /// Writes the file under a temporary name.
    fn write(&self) -> io::Result<Unfinished> {
        let mode = match self.secrecy {
            Secrecy::Private => 0o600,
            // Others must not write, because they could replace a public key or an authority by
            // their own.
            Secrecy::Public => 0o644,
        };
        let mut file = unnamed(&self.path, mode)?;
        file.write_all(&self.content)?;
        // Syncs before the file gets its name, so that after a crash it is complete or absent.
        file.sync()?;
        Ok(file)
    }
}

/// Writes all files, or none of them if one exists and `force` is false.
///
/// Each file is first written under a temporary name. The rename fails if the name is taken, so
/// that a file of another process is not overwritten either.
pub(crate) fn write(files: &[NewFile], force: bool) -> Result<(), Failure> {
    // Checks the names first for a better error. Below, a name is used only if it is still free.
    if !force
        && let Some(file) = files
            .iter()
            .find(|file| file.path.symlink_metadata().is_ok())
    {
        return Err(exists(&file.path));
    }
    // Even `--force` does not replace a device, a pipe or a folder.
    if let Some(file) = files
        .iter()
        .find(|file| file.path.metadata().is_ok_and(|found| !found.is_file()))
    {
        return Err(Failure::unable(
            format_args!("{}: is no file", file.path.display()),
            "choose another name",
        ));
    }
    let written = files
        .iter()
        .map(|file| file.write().map_err(|error| unwritable(&file.path, &error)));
    // Writes all files before any gets its name, so that a full disk leaves nothing behind.
    let written = written.collect::<Result<Vec<_>, _>>()?;
    let mut named: Vec<&Path> = Vec::new();
    for (partial, NewFile { path, .. }) in written.into_iter().zip(files) {
        let done = if force {
            partial.persist(path)
        } else {
            partial.persist_noclobber(path)
        };
        if let Err(error) = done {
            if !force {
                // These files were made by this call.
                named.iter().for_each(|path| drop(fs::remove_file(path)));
            }
            return Err(match error.kind() {
                io::ErrorKind::AlreadyExists => exists(path),
                _ => unwritable(path, &error),
            });
        }
        named.push(path);
    }
    Ok(())
}

fn exists(path: &Path) -> Failure {
    Failure::unable(
        format_args!("{}: exists, and nothing was written", path.display()),
        "choose another name, or pass --force to overwrite it",
    )
}

/// Opens a file for locking, and makes it accessible only to its owner if it does not exist.
pub(crate) fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // The file is not truncated, because another process may hold its lock.
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Locks a file for this process and returns it; `None` if another process holds the lock at each
/// of `tries` attempts, 50 ms apart.
pub(crate) fn take_lock(path: &Path, tries: u32) -> Result<Option<File>, Failure> {
    let failed = |error: io::Error| {
        Failure::caused(
            &error,
            format_args!("{}: cannot be locked: {error}", path.display()),
            "name a folder on a local disk with --data",
        )
    };
    let file = open_lock(path).map_err(failed)?;
    for _ in 0..tries {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            // Tries again after a pause, because waiting for a file lock has no time-out.
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(50)),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
    Ok(None)
}

/// Returns the path of the lock file of a database, which is beside the database itself, even if
/// `database` is a symbolic link to another folder. A database with several names is refused,
/// because each name would have a separate lock and a separate SQLite journal.
pub(crate) fn lock_of(database: &Path) -> Result<PathBuf, Failure> {
    let failed = |error| unwritable(database, &error);
    let mut place = database.to_owned();
    if database.is_symlink() {
        place = fs::canonicalize(database)
            .or_else(|_| {
                // Makes the file if it does not exist, so that its path can be resolved. An
                // existing file is not opened here, because closing it would release the locks that
                // SQLite holds on it in this process.
                open_lock(database)?;
                fs::canonicalize(database)
            })
            .map_err(failed)?;
    }
    #[cfg(unix)]
    if let Ok(found) = place.metadata()
        && let names = std::os::unix::fs::MetadataExt::nlink(&found)
        && names > 1
    {
        return Err(Failure::unable(
            format_args!(
                "{}: expected a database with one name, found {names} hard links",
                database.display()
            ),
            "remove the other names, which find -samefile lists; a copy needs a folder of its own",
        ));
    }
    Ok(place.with_extension("lock"))
}

/// Warns of a file with a secret that every user of the machine may read.
pub(crate) fn warn_if_exposed(path: &Path) {
    if is_readable_by_all(path) {
        let path = path.display();
        crate::log(format_args!(
            "{path}: every user of the machine may read this secret; take the permission away with chmod o-r"
        ));
    }
}

/// Makes a folder that only its owner can use, and its parent folders.
pub(crate) fn make_folder(path: &Path) -> Result<(), Failure> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(path)
        .map_err(|error| unwritable(path, &error))
}

/// Makes a file with a temporary name in the folder of `path`, with the permissions of `mode` that
/// the umask leaves.
pub(crate) fn unnamed(path: &Path, mode: u32) -> io::Result<Unfinished> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".partial-");
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    let folder = path.parent().unwrap_or(Path::new(""));
    Unfinished::make(folder, &name, |partial| options.open(partial))
}

/// Returns the failure of a file that cannot be written.
pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::caused(
        error,
        format_args!("{}: cannot be written: {error}", path.display()),
        "choose another file, or - for standard output",
    )
}
