//! Reads ZIP and gzip archives of documents member by member, within limits.

use flate2::bufread::MultiGzDecoder;
use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use zip::ZipArchive;
use zip::read::{ArchiveOffset, Config};
use zip::result::ZipError;

/// The first bytes of a gzip file.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// The number of bytes of a member that are read when it is opened, to recognise its kind of file.
const HEAD_BYTES: u64 = 4096;

/// The number of decompressed bytes of a member up to which its ratio is not checked.
const BYTES_OF_ANY_RATIO: u64 = 1 << 20;

/// The number of bytes that the directory of a ZIP archive may have for each member that the limits
/// allow.
const DIRECTORY_BYTES: u64 = 1 << 10;

/// The number of bytes at the end of a ZIP archive within which its end record begins, and the
/// locator of a ZIP64 record before it.
const END_BYTES: u64 = (1 << 16) + 42;

bankrail_values::options! {
    /// Limits on the content that is read from an archive.
    ///
    /// ```
    /// use bankrail_camt::ArchiveLimits;
    /// let limits = ArchiveLimits::default().max_members(500).max_all_bytes(1 << 30);
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ArchiveLimits {
        /// Sets the maximum number of members of an archive, including directories. The names and
        /// other properties of all members together may take 1 KiB times this number. Default:
        /// 10,000.
        max_members: u16 = 10_000,
        /// Sets the maximum number of decompressed bytes of one member. Default: 1 GiB.
        max_member_bytes: u64 = 1 << 30,
        /// Sets the maximum number of decompressed bytes of all members together. A gzip file in a
        /// ZIP archive counts with its compressed and its decompressed bytes. Default: 4 GiB.
        max_all_bytes: u64 = 4 << 30,
        /// Sets the maximum ratio of a member's decompressed to its compressed bytes, which applies
        /// beyond the first MiB. Default: 500.
        max_ratio: u64 = 500,
    }
}

/// The reason why an archive, or a member of it, is not read.
///
/// When a limit is reached while a member's content is read, the [`io::Error`] contains an
/// `ArchiveError`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The source failed, or a member is damaged.
    #[error("the archive cannot be read: {0}")]
    Io(#[source] io::Error),
    /// The source is not a readable ZIP archive.
    #[error("expected a readable ZIP archive, found a fault: {detail}")]
    Malformed {
        /// A description of the fault.
        detail: String,
    },
    /// The source is a ZIP64 archive, with more than 4 GiB or 65,534 members.
    #[error("expected a ZIP archive below 4 GiB, found ZIP64; pack it in parts")]
    Zip64,
    /// Two members have one name, so that only one of them could be read.
    #[error("expected members with different names, found two with one name")]
    SameNames,
    /// Members share compressed bytes.
    #[error("expected members with separate bytes, found members that overlap")]
    Overlap,
    /// The member is a directory.
    #[error("expected a file, found a directory")]
    Directory,
    /// The member is encrypted.
    #[error("expected a member that is not encrypted, found an encrypted one; decrypt it first")]
    Encrypted,
    /// The member is neither stored nor deflated.
    #[error("expected a member that is stored or deflated, found the compression method {method}")]
    Method {
        /// The number of the method.
        method: u16,
    },
    /// The archive has more members than [`ArchiveLimits::max_members`].
    #[error("expected at most {limit} members, found more; raise the limit or unpack the archive")]
    Members {
        /// The limit.
        limit: u16,
    },
    /// A member has more bytes than [`ArchiveLimits::max_member_bytes`].
    #[error("expected at most {limit} bytes in a member, found more")]
    MemberBytes {
        /// The limit.
        limit: u64,
    },
    /// All members together have more bytes than [`ArchiveLimits::max_all_bytes`].
    #[error("expected at most {limit} bytes in all members, found more")]
    AllBytes {
        /// The limit.
        limit: u64,
    },
    /// A member is above [`ArchiveLimits::max_ratio`].
    #[error("expected at most {limit} times the compressed bytes in a member, found more")]
    Ratio {
        /// The limit.
        limit: u64,
    },
}

impl From<io::Error> for ArchiveError {
    fn from(error: io::Error) -> Self {
        error.downcast().unwrap_or_else(Self::Io)
    }
}

/// Converts an error of the ZIP reader.
fn from_zip(error: ZipError) -> ArchiveError {
    match error {
        ZipError::Io(error) => error.into(),
        ZipError::CompressionMethodNotSupported(method) => ArchiveError::Method { method },
        other => ArchiveError::Malformed {
            detail: other.to_string(),
        },
    }
}

/// A member of an archive.
#[non_exhaustive]
pub struct Member<'a> {
    /// The name as the archive has it, which may contain any characters and `..`; do not use it as
    /// a path. Empty for the only member of a source that is no ZIP archive.
    pub name: String,
    /// A reader of the decompressed bytes, or the reason why they are not read. A gzip file in a
    /// ZIP archive is decompressed too. Reading fails once a limit is reached.
    pub content: Result<Box<dyn BufRead + 'a>, ArchiveError>,
}

impl fmt::Debug for Member<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = out.debug_struct("Member");
        out.field("name", &self.name).finish_non_exhaustive()
    }
}

/// Reads the members of a ZIP archive in order, or the only one of a gzip file or of a plain
/// document; the first bytes determine the kind.
///
/// No member is held in memory as a whole, and nothing is written to disk. The
/// [limits](ArchiveLimits) apply to compressed data; a plain document is not limited.
///
/// ```no_run
/// use bankrail_camt::report::StreamItem;
/// use bankrail_camt::{AnyReader, Archive, ArchiveError, ArchiveLimits, ReadOptions};
/// let file = std::fs::File::open("2021-07-29.zip")?;
/// let mut archive = Archive::new(file, ArchiveLimits::default())?;
/// while let Some(member) = archive.next_member()? {
///     let content = match member.content {
///         Ok(content) => content,
///         Err(ArchiveError::Directory) => continue,
///         Err(error) => {
///             eprintln!("{:?}: {error}", member.name);
///             continue;
///         }
///     };
///     let mut account = String::new();
///     for item in AnyReader::new(content, ReadOptions::default()) {
///         match item {
///             Ok(StreamItem::Start(report)) => {
///                 account = report.account.id.as_str().unwrap_or_default().to_owned();
///             }
///             Ok(StreamItem::Entry(entry)) => println!("{account} {}", entry.amount.value()),
///             Ok(_) => {}
///             // A PDF, a damaged document, an entry that cannot be read: the next member goes on.
///             Err(error) => eprintln!("{:?}: {error}", member.name),
///         }
///     }
/// }
/// # Ok::<(), ArchiveError>(())
/// ```
pub struct Archive<R> {
    container: Container<R>,
    limits: ArchiveLimits,
    /// The length of the source in bytes.
    length: u64,
    /// The number of compressed bytes of the members so far.
    compressed: u64,
    /// The number of decompressed bytes that all further members may have.
    left: Cell<u64>,
}

enum Container<R> {
    /// A ZIP archive, and the index of the next member.
    Zip(Box<ZipArchive<R>>, usize),
    /// Another file; true after it was returned.
    Plain(R, bool),
}

impl<R: Read + Seek> Archive<R> {
    /// Opens an archive.
    ///
    /// # Errors
    /// [`ArchiveError`] if the source fails, and for a ZIP archive that cannot be read or has more
    /// members than the limits allow.
    pub fn new(mut source: R, limits: ArchiveLimits) -> Result<Self, ArchiveError> {
        let length = source.seek(SeekFrom::End(0))?;
        source.rewind()?;
        let head = bytes(&mut source, 4)?;
        source.rewind()?;
        let container = if matches!(&*head, b"PK\x03\x04" | b"PK\x05\x06") {
            Container::Zip(Box::new(open_zip(source, length, limits.max_members)?), 0)
        } else {
            Container::Plain(source, false)
        };
        Ok(Self {
            container,
            limits,
            length,
            compressed: 0,
            left: Cell::new(limits.max_all_bytes),
        })
    }

    /// Returns the next member; `None` after the last one.
    ///
    /// A member need not be read to its end: the next call continues after it.
    ///
    /// # Errors
    /// [`ArchiveError::Overlap`] or [`ArchiveError::AllBytes`], or the error of a faulty directory.
    /// Afterwards the archive is at its end.
    pub fn next_member(&mut self) -> Result<Option<Member<'_>>, ArchiveError> {
        let (limits, left) = (self.limits, &self.left);
        let (name, source, compressed): (_, Box<dyn Read>, _) = match &mut self.container {
            Container::Plain(_, true) => return Ok(None),
            Container::Plain(source, given) => {
                *given = true;
                (String::new(), Box::new(source), self.length)
            }
            Container::Zip(zip, next) => {
                let index = std::mem::replace(next, usize::MAX);
                if index >= zip.len() {
                    return Ok(None);
                }
                if left.get() == 0 {
                    let limit = limits.max_all_bytes;
                    return Err(ArchiveError::AllBytes { limit });
                }
                let entry = zip.by_index_data(index).map_err(from_zip)?;
                let compressed = entry.compressed_size();
                self.compressed = self.compressed.saturating_add(compressed);
                if self.compressed > self.length {
                    return Err(ArchiveError::Overlap);
                }
                *next = index + 1;
                let name = String::from_utf8_lossy(entry.name_raw());
                let name = entry.name().unwrap_or(name).into_owned();
                let file = if entry.is_dir() {
                    Err(ArchiveError::Directory)
                } else if entry.encrypted() {
                    Err(ArchiveError::Encrypted)
                } else {
                    zip.by_index(index).map_err(from_zip)
                };
                match file {
                    Ok(file) => {
                        let file = Bounded::new(file, compressed, limits, left);
                        (name, Box::new(file), compressed)
                    }
                    Err(error) => {
                        let content = Err(error);
                        return Ok(Some(Member { name, content }));
                    }
                }
            }
        };
        let content = open(source, compressed, limits, left).map_err(ArchiveError::from);
        Ok(Some(Member { name, content }))
    }
}

impl<R> fmt::Debug for Archive<R> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = out.debug_struct("Archive");
        out.field("length", &self.length).finish_non_exhaustive()
    }
}

/// Opens a ZIP archive of at most this many members.
fn open_zip<R: Read + Seek>(
    mut source: R,
    length: u64,
    members: u16,
) -> Result<ZipArchive<R>, ArchiveError> {
    source.seek(SeekFrom::Start(length.saturating_sub(END_BYTES)))?;
    let end = bytes(&mut source, END_BYTES)?;
    // A ZIP64 record is refused here, because the library would reserve memory for as many members
    // as the record states.
    let is_zip64 =
        |bytes: &[u8]| bytes.starts_with(b"PK\x06\x07") && bytes.ends_with(b"PK\x05\x06");
    if end.windows(24).any(is_zip64) {
        return Err(ArchiveError::Zip64);
    }
    let config = Config {
        archive_offset: ArchiveOffset::Known(0),
    };
    // Opens the archive once through a meter, which fails if the directory is larger than the limit
    // allows.
    let first = Metered {
        source: &mut source,
        left: END_BYTES + DIRECTORY_BYTES * (u64::from(members) + 1),
        members,
    };
    let first = ZipArchive::with_config(config, first).map_err(from_zip)?;
    if first.has_duplicate_names() {
        return Err(ArchiveError::SameNames);
    }
    if first.len() > usize::from(members) {
        return Err(ArchiveError::Members { limit: members });
    }
    ZipArchive::with_config(config, source).map_err(from_zip)
}

/// Opens a member by its first bytes.
fn open<'a>(
    mut source: Box<dyn Read + 'a>,
    compressed: u64,
    limits: ArchiveLimits,
    left: &'a Cell<u64>,
) -> io::Result<Box<dyn BufRead + 'a>> {
    let head = bytes(&mut source, HEAD_BYTES)?;
    let is_gzip = head.starts_with(GZIP);
    let content = Cursor::new(head).chain(BufReader::new(source));
    if !is_gzip {
        return Ok(Box::new(content));
    }
    let unpacked = MultiGzDecoder::new(content);
    let unpacked = Bounded::new(unpacked, compressed, limits, left);
    Ok(Box::new(BufReader::new(unpacked)))
}

/// Reads at most this many bytes.
fn bytes(source: &mut impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A source from which at most `left` bytes are read while an archive of at most `members` members
/// is opened.
struct Metered<R> {
    source: R,
    left: u64,
    members: u16,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        let left = self.left.checked_sub(count(read));
        let limit = self.members;
        self.left = left.ok_or_else(|| io::Error::other(ArchiveError::Members { limit }))?;
        Ok(read)
    }
}

impl<R: Seek> Seek for Metered<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.source.seek(to)
    }
}

/// A reader of decompressed bytes up to the limits.
struct Bounded<'a, R> {
    source: R,
    /// The number of bytes that may still be read from this source.
    own: u64,
    by_ratio: bool,
    limits: ArchiveLimits,
    all: &'a Cell<u64>,
}

impl<'a, R> Bounded<'a, R> {
    fn new(source: R, compressed: u64, limits: ArchiveLimits, all: &'a Cell<u64>) -> Self {
        let by_ratio = compressed
            .saturating_mul(limits.max_ratio)
            .max(BYTES_OF_ANY_RATIO);
        Self {
            source,
            own: by_ratio.min(limits.max_member_bytes),
            by_ratio: by_ratio < limits.max_member_bytes,
            limits,
            all,
        }
    }
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let all = self.all.get();
        let left = self.own.min(all);
        // Reads one byte more than is allowed, which shows an excess.
        let most = usize::try_from(left.saturating_add(1)).unwrap_or(usize::MAX);
        let most = most.min(buffer.len());
        let read = self
            .source
            .read(buffer.get_mut(..most).unwrap_or_default())?;
        if count(read) <= left {
            self.own -= count(read);
            self.all.set(all - count(read));
            return Ok(read);
        }
        self.all.set(all - left);
        Err(io::Error::other(if left == all {
            let limit = self.limits.max_all_bytes;
            ArchiveError::AllBytes { limit }
        } else if self.by_ratio {
            let limit = self.limits.max_ratio;
            ArchiveError::Ratio { limit }
        } else {
            let limit = self.limits.max_member_bytes;
            ArchiveError::MemberBytes { limit }
        }))
    }
}

fn count(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
