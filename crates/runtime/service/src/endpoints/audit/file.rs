//! Audit records as lines of JSON in a file.

use super::{AuditLog, AuditRecord};
use bankrail_values::{StoreError, StoreErrorKind, StoreFuture};
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::timeout;

/// The maximum number of records that one write takes.
const MAX_BATCH_RECORDS: usize = 256;

/// Audit records as lines of JSON ([`AuditRecord::to_json`]), appended to a file. Cheap to clone;
/// clones share the file.
///
/// - One thread writes all waiting records at once, and answers each caller when its record has
///   reached the disk.
/// - The number of waiting records is bounded. Further callers wait for room. After
///   [`AuditFileOptions::timeout`] a caller gets an error of the kind [`StoreErrorKind::Timeout`]:
///   the record may still be written.
/// - A line that was written in part, for lack of space or power, is ended before the next one.
/// - On Unix a new file is readable and writable for its owner only.
/// - A tool that rotates logs renames the file and then has the program call [`AuditFile::reopen`].
#[derive(Clone, Debug)]
pub struct AuditFile {
    jobs: mpsc::Sender<Job>,
    timeout: Duration,
}

bankrail_values::options! {
    /// Options of an [`AuditFile`].
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct AuditFileOptions {
        /// The time-out of writing a record. Default: 5 s.
        timeout: Duration = Duration::from_secs(5),
        /// The maximum number of records that wait, at least one and at most
        /// [`Semaphore::MAX_PERMITS`]. Default: 1024.
        queue(usize => |records| records.clamp(1, Semaphore::MAX_PERMITS)): usize = 1024,
        /// If true, a record has reached the disk before its answer is sent, and survives a loss of
        /// power. If false, the record survives the end of the process only. Default: true.
        sync: bool = true,
    }
}

enum Job {
    Line(String, oneshot::Sender<Result<(), io::ErrorKind>>),
    Reopen(oneshot::Sender<Result<(), io::ErrorKind>>),
}

impl AuditFile {
    /// Opens or creates the file, and starts the thread that writes to it. The thread ends with the
    /// last clone.
    ///
    /// # Errors
    /// [`AuditFileError`] if the file cannot be opened or the thread cannot be started.
    pub fn open(
        path: impl Into<PathBuf>,
        options: AuditFileOptions,
    ) -> Result<Self, AuditFileError> {
        let path = path.into();
        let failed = |source| AuditFileError {
            path: path.clone(),
            source,
        };
        let (file, line_is_open) = append_to(&path).map_err(failed)?;
        let (jobs, waiting) = mpsc::channel(options.queue);
        let writer = Writer {
            path: path.clone(),
            file,
            sync: options.sync,
            line_is_open,
        };
        let thread = std::thread::Builder::new().name("bankrail-audit".to_owned());
        thread.spawn(move || writer.run(waiting)).map_err(failed)?;
        Ok(Self {
            jobs,
            timeout: options.timeout,
        })
    }

    /// Opens the file again under its name, and creates it if it does not exist. Records go to the
    /// new file from then on.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be opened. Records still go to the old file.
    pub async fn reopen(&self) -> Result<(), StoreError> {
        self.ask(Job::Reopen).await
    }

    async fn ask(
        &self,
        job: impl FnOnce(oneshot::Sender<Result<(), io::ErrorKind>>) -> Job,
    ) -> Result<(), StoreError> {
        let (answer, answered) = oneshot::channel();
        let asked = async {
            let gone = || {
                StoreError::new(
                    StoreErrorKind::Unavailable,
                    "the thread that writes has ended",
                )
            };
            self.jobs.send(job(answer)).await.map_err(|_| gone())?;
            answered.await.map_err(|_| gone())?.map_err(|kind| {
                let full = matches!(
                    kind,
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
                );
                let store = if full {
                    StoreErrorKind::Full
                } else {
                    StoreErrorKind::Unavailable
                };
                StoreError::new(store, io::Error::from(kind))
            })
        };
        // The time covers the place in the queue too: an answer must not wait for a disk that
        // hangs.
        timeout(self.timeout, asked)
            .await
            .unwrap_or_else(|late| Err(StoreError::new(StoreErrorKind::Timeout, late)))
    }
}

impl AuditLog for AuditFile {
    fn record<'a>(&'a self, record: &'a AuditRecord) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let mut line = record.to_json();
            line.push('\n');
            self.ask(|answer| Job::Line(line, answer)).await
        })
    }
}

struct Writer {
    path: PathBuf,
    file: File,
    sync: bool,
    /// The file may end in the middle of a line.
    line_is_open: bool,
}

impl Writer {
    fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        let mut batch = Vec::new();
        while jobs.blocking_recv_many(&mut batch, MAX_BATCH_RECORDS) > 0 {
            let (mut text, mut callers) = (String::new(), Vec::new());
            for job in batch.drain(..) {
                match job {
                    // Also if its caller no longer waits: with `OnAuditFailure::Continue` the
                    // request was answered.
                    Job::Line(line, caller) => {
                        text.push_str(&line);
                        callers.push(caller);
                    }
                    Job::Reopen(caller) => {
                        self.write(&mut text, &mut callers);
                        let opened = append_to(&self.path).map(|(file, line_is_open)| {
                            self.file = file;
                            self.line_is_open = line_is_open;
                        });
                        let _ = caller.send(opened.map_err(|error| error.kind()));
                    }
                }
            }
            self.write(&mut text, &mut callers);
        }
    }

    /// Writes the lines and answers their callers, some of whom may be gone.
    fn write(
        &mut self,
        text: &mut String,
        callers: &mut Vec<oneshot::Sender<Result<(), io::ErrorKind>>>,
    ) {
        if callers.is_empty() {
            return;
        }
        if self.line_is_open {
            text.insert(0, '\n');
        }
        let written = self.file.write_all(text.as_bytes());
        let written = written.and_then(|()| {
            if self.sync {
                // Once for the batch: the sync costs more than all of its writes.
                self.file.sync_data()
            } else {
                Ok(())
            }
        });
        // A failed write may have left a part of a line.
        self.line_is_open = written.is_err();
        let written = written.map_err(|error| error.kind());
        for caller in callers.drain(..) {
            let _ = caller.send(written);
        }
        text.clear();
    }
}

/// Opens the file. The flag is true if the file ends in the middle of a line, as after a loss of
/// power.
fn append_to(path: &Path) -> io::Result<(File, bool)> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    let found = file.metadata()?;
    if !found.is_file() || found.len() == 0 {
        // A record is on the disk only if the file's name is.
        bankrail_http::files::sync_name(path);
        return Ok((file, false));
    }
    let (mut written, mut last) = (File::open(path)?, [0]);
    written.seek(SeekFrom::End(-1))?;
    written.read_exact(&mut last)?;
    Ok((file, last != *b"\n"))
}

/// The file of audit records could not be opened.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot be opened for audit records", .path.display())]
#[non_exhaustive]
pub struct AuditFileError {
    /// The file.
    pub path: PathBuf,
    source: io::Error,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_whose_caller_gave_up_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let (jobs, waiting) = mpsc::channel(1);
        assert!(
            jobs.try_send(Job::Line("{}\n".to_owned(), oneshot::channel().0))
                .is_ok()
        );
        drop(jobs);
        let (file, line_is_open) = append_to(&path).unwrap();
        Writer {
            path: path.clone(),
            file,
            sync: false,
            line_is_open,
        }
        .run(waiting);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}\n");
    }
}
