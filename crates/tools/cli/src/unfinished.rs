//! Files that are not complete yet, and their removal at Ctrl-C and `SIGTERM`.

use crate::failure::Failure;
use bankrail::http::serve::Shutdown;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::future::Future;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use tempfile::TempPath;

/// A file that has a temporary name until it is complete. It is removed if it is dropped before, or
/// if Ctrl-C or `SIGTERM` ends the program.
#[derive(Debug)]
pub(crate) struct Unfinished {
    file: File,
    path: TempPath,
    // Dropped last, because the file must be listed as long as it has its temporary name.
    listed: Listed,
}

impl Unfinished {
    /// Makes a file in a folder. Its name has six random characters after the prefix.
    pub(crate) fn make(
        folder: &Path,
        prefix: &OsStr,
        open: impl FnMut(&Path) -> io::Result<File>,
    ) -> io::Result<Self> {
        // The lock is released at once, because a signal that arrives now needs it as well.
        let is_left_alone = list().is_left_alone;
        if !is_left_alone {
            remove_when_interrupted();
        }
        let mut list = list();
        // A signal waits for the lock, so that no file exists that is not listed.
        let (file, path) = tempfile::Builder::new()
            .prefix(prefix)
            .make_in(folder, open)?
            .into_parts();
        list.names.push(path.to_path_buf());
        drop(list);
        Ok(Self {
            listed: Listed(path.to_path_buf()),
            file,
            path,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until the content is on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Gives the file its name, and replaces another file of that name.
    pub(crate) fn persist(self, path: &Path) -> io::Result<()> {
        let Self {
            file: _file,
            path: partial,
            listed: _listed,
        } = self;
        partial.persist(path).map_err(|error| error.error)
    }

    /// Gives the file its name, or fails if the name is taken.
    pub(crate) fn persist_noclobber(self, path: &Path) -> io::Result<()> {
        let Self {
            file: _file,
            path: partial,
            listed: _listed,
        } = self;
        partial.persist_noclobber(path).map_err(|error| error.error)
    }
}

/// Errors do not name the file, because nobody knows its temporary name.
impl Write for Unfinished {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A name on the list.
#[derive(Debug)]
struct Listed(PathBuf);

impl Drop for Listed {
    fn drop(&mut self) {
        list().names.retain(|name| *name != self.0);
    }
}

/// The unfinished files.
struct List {
    names: Vec<PathBuf>,
    /// True if the command ends in an orderly way after a signal, which drops the files.
    is_left_alone: bool,
}

static LIST: Mutex<List> = Mutex::new(List {
    names: Vec::new(),
    is_left_alone: false,
});

fn list() -> MutexGuard<'static, List> {
    // Each change is one push or removal, so a panic elsewhere leaves the list whole.
    LIST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the signal of Ctrl-C and `SIGTERM` for a command that ends in an orderly way after them.
pub(crate) fn shutdown() -> Result<Shutdown, Failure> {
    list().is_left_alone = true;
    Shutdown::on_signal().map_err(|error| {
        let what = format!("signals cannot be received: {error}");
        Failure::caused(&error, what, "try again")
    })
}

/// Lets Ctrl-C and `SIGTERM` end the program without an unfinished file. If signals cannot be
/// received, or no thread can wait for them, they end the program in the usual way.
fn remove_when_interrupted() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let (ready, is_ready) = channel();
        let wait = move || {
            let mut builder = tokio::runtime::Builder::new_current_thread();
            if let Ok(runtime) = crate::runtime(&mut builder) {
                let _ = runtime.block_on(end_when_interrupted(ready));
            }
        };
        // A thread that cannot be made or ends early drops the sender, which ends the wait.
        if thread::Builder::new()
            .name("signals".to_owned())
            .spawn(wait)
            .is_ok()
        {
            // Signals are received from here on, so that none leaves a file behind.
            let _ = is_ready.recv();
        }
    });
}

async fn end_when_interrupted(ready: Sender<()>) -> io::Result<()> {
    let signal = signal()?;
    let _ = ready.send(());
    let number = signal.await;
    // The list stays locked until the program has ended, so that no other file is made.
    let list = list();
    if list.is_left_alone {
        return Ok(());
    }
    for name in &list.names {
        // The program ends in any case, so a file that cannot be removed stays.
        let _ = fs::remove_file(name);
    }
    // The exit status that a shell reports for a program that a signal ended.
    std::process::exit(128 + number)
}

/// Returns a future of the number of the first signal.
#[cfg(unix)]
fn signal() -> io::Result<impl Future<Output = i32>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (interrupt, terminate) = (SignalKind::interrupt(), SignalKind::terminate());
    let (mut interrupted, mut terminated) = (signal(interrupt)?, signal(terminate)?);
    Ok(async move {
        tokio::select! {
            _ = interrupted.recv() => interrupt.as_raw_value(),
            _ = terminated.recv() => terminate.as_raw_value(),
        }
    })
}

#[cfg(windows)]
fn signal() -> io::Result<impl Future<Output = i32>> {
    let mut interrupted = tokio::signal::windows::ctrl_c()?;
    Ok(async move {
        let _ = interrupted.recv().await;
        2
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::unnamed;

    #[test]
    fn a_file_is_listed_until_it_has_its_name_or_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("key.pem");
        let is_listed = |name: &Path| list().names.iter().any(|listed| listed == name);
        let make = || {
            let file = unnamed(&own, 0o600).unwrap();
            let name = file.path().to_owned();
            assert!(name.exists() && is_listed(&name));
            (file, name)
        };
        let (file, name) = make();
        file.persist_noclobber(&own).unwrap();
        assert!(own.exists() && !name.exists() && !is_listed(&name));
        let (file, name) = make();
        assert_eq!(
            file.persist_noclobber(&own).unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
        assert!(!name.exists() && !is_listed(&name));
        let (file, name) = make();
        file.persist(&own).unwrap();
        assert!(!name.exists() && !is_listed(&name));
        let (file, name) = make();
        drop(file);
        assert!(!name.exists() && !is_listed(&name));
    }
}
