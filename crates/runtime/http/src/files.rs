//! Reading of the files of certificates, keys and secrets, within a bound and again while a program
//! runs.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::time::Duration;
use zeroize::Zeroizing;

/// Reads a file of at most `max_bytes` bytes. No copy of its contents is left in memory.
///
/// # Errors
/// The error of the file system, or [`io::ErrorKind::FileTooLarge`].
pub fn read(path: &Path, max_bytes: usize) -> io::Result<Zeroizing<Vec<u8>>> {
    // A buffer that grows by itself would leave copies behind. Nearly all files are shorter than
    // this.
    let mut bytes = Zeroizing::new(Vec::with_capacity(max_bytes.min(64 << 10)));
    // One byte more than allowed shows a longer file without reading it to its end.
    let limit = u64::try_from(max_bytes)
        .unwrap_or(u64::MAX)
        .saturating_add(1);
    File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    if bytes.len() > max_bytes {
        let reason = format!("expected at most {max_bytes} bytes, found more");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
    }
    Ok(bytes)
}

/// Reads a text as [`read`] does.
///
/// # Errors
/// As [`read`], or [`io::ErrorKind::InvalidData`] if the file is not UTF-8. The error quotes no
/// part of the file.
pub fn read_text(path: &Path, max_bytes: usize) -> io::Result<Zeroizing<String>> {
    let bytes = read(path, max_bytes)?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let reason = format!(
            "expected UTF-8, found another byte after {} bytes",
            error.valid_up_to()
        );
        io::Error::new(io::ErrorKind::InvalidData, reason)
    })?;
    Ok(Zeroizing::new(text.to_owned()))
}

/// Returns true if every user of the machine may read the file: a reason for a warning, if it has a
/// secret. Returns false for a file that is absent, and where files have no mode.
#[must_use]
pub fn is_readable_by_all(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        path.metadata()
            .is_ok_and(|found| found.permissions().mode() & 0o004 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// Waits until the name of a new file is on the disk: syncing the file itself need not do that.
/// Errors are ignored, because not every file system can sync a folder. Does nothing where a folder
/// cannot be opened as a file.
pub fn sync_name(path: &Path) {
    let parent = path.parent().filter(|name| !name.as_os_str().is_empty());
    let folder = File::open(parent.unwrap_or(Path::new(".")));
    let _ = folder.and_then(|folder| folder.sync_all());
}

/// Calls `read`, which may block, after each `interval` on a thread for blocking work, and passes
/// its outcome to `report`. Returns when the runtime shuts down; drop the future to end it before.
///
/// The files are read instead of watched by the operating system, because a mounted secret of a
/// container changes without an event.
pub async fn read_every<T: Send + 'static>(
    interval: Duration,
    read: impl Fn() -> T + Clone + Send + 'static,
    mut report: impl FnMut(T),
) {
    loop {
        // At least a millisecond, because an interval of zero would keep a thread busy.
        tokio::time::sleep(interval.max(Duration::from_millis(1))).await;
        // A file may be on a network, so it is not read on an asynchronous thread.
        match tokio::task::spawn_blocking(read.clone()).await {
            Ok(outcome) => report(outcome),
            Err(_) => return,
        }
    }
}
