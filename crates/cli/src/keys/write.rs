//! Files that are written whole and together, private ones readable by their owner alone.

use crate::failure::Failure;
use crate::output::unwritable;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Who may read a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Secrecy {
    /// The owner alone.
    Private,
    /// Whoever the system lets.
    Public,
}

/// Writes all files or, unless `force` lets it overwrite, none.
///
/// Each file is first written under another name. Giving it its own name fails if something has that name, so no other
/// process can be overwritten either.
pub(crate) fn write(files: &[(&Path, &[u8], Secrecy)], force: bool) -> Result<(), Failure> {
    if !force && let Some((path, ..)) = files.iter().find(|(path, ..)| path.symlink_metadata().is_ok()) {
        return Err(exists(path));
    }
    // A device, a pipe or a folder is not replaced, whatever is forced.
    if let Some((path, ..)) = files.iter().find(|(path, ..)| path.metadata().is_ok_and(|found| !found.is_file())) {
        return Err(Failure::unable(format_args!("{}: is no file", path.display()), "choose another name"));
    }
    let mut partial: Vec<Partial> = Vec::new();
    for (path, bytes, secrecy) in files {
        partial.push(Partial::write(path, bytes, *secrecy).map_err(|error| unwritable(path, &error))?);
    }
    let mut named: Vec<&Path> = Vec::new();
    for (file, (path, ..)) in partial.iter().zip(files) {
        let done = if force { fs::rename(&file.0, path) } else { fs::hard_link(&file.0, path) };
        if let Err(error) = done {
            if !force {
                // Made a moment ago, by us.
                named.iter().for_each(|path| drop(fs::remove_file(path)));
            }
            return Err(if error.kind() == io::ErrorKind::AlreadyExists {
                exists(path)
            } else {
                unwritable(path, &error)
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

/// Opens a file to lock, and makes it for its owner alone if it does not exist.
pub(crate) fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Makes a folder that its owner alone can use, with those it lies in.
pub(crate) fn make_folder(path: &Path) -> Result<(), Failure> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|error| unwritable(path, &error))
}

/// A file under the name that it has until it is whole.
struct Partial(PathBuf);

impl Partial {
    fn write(path: &Path, bytes: &[u8], secrecy: Secrecy) -> io::Result<Self> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".partial-{}", std::process::id()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if secrecy == Secrecy::Private {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        let mut file = options.open(path.with_file_name(&name))?;
        let partial = Self(path.with_file_name(name));
        file.write_all(bytes)?;
        file.sync_all()?;
        Ok(partial)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // After a rename no file has this name, which is not a failure.
        let _ = fs::remove_file(&self.0);
    }
}
