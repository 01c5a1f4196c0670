//! Files and standard input.

use crate::failure::Failure;
use crate::progress::Progress;
use std::fs::File;
use std::io::{self, BufReader, Read};
use zeroize::Zeroizing;

/// The name that stands for standard input.
pub(crate) const STANDARD: &str = "-";

/// What is read from.
pub(crate) type Reader = BufReader<Progress<Box<dyn Read>>>;

/// Opens a file, or standard input for `-`.
pub(crate) fn open(path: &str) -> Result<Reader, Failure> {
    let (source, total): (Box<dyn Read>, _) = match path {
        STANDARD => (Box::new(io::stdin()), None),
        path => {
            let file = File::open(path).map_err(|error| unreadable(path, &error))?;
            let metadata = file.metadata().map_err(|error| unreadable(path, &error))?;
            if metadata.is_dir() {
                return Err(Failure::unable(
                    format_args!("{path}: expected a file, found a folder"),
                    "name a file in it",
                ));
            }
            (Box::new(file), metadata.is_file().then_some(metadata.len()))
        }
    };
    Ok(BufReader::with_capacity(1 << 16, Progress::new(source, total)))
}

/// Reads a whole file of at most this many bytes. It may be a secret, and is overwritten when it is dropped.
pub(crate) fn read(path: &str, most: usize) -> Result<Zeroizing<Vec<u8>>, Failure> {
    read_rest(path, open(path)?, most)
}

/// Reads what is left of a source.
pub(crate) fn read_rest(path: &str, source: impl Read, most: usize) -> Result<Zeroizing<Vec<u8>>, Failure> {
    // A buffer that grows by itself would leave copies behind. Nearly all inputs are shorter than this.
    let mut bytes = Zeroizing::new(Vec::with_capacity(most.min(1 << 16)));
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    source.take(limit).read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    if bytes.len() > most {
        let what = format!("{}: expected at most {most} bytes, found more", name(path));
        return Err(Failure::unable(what, "check that it is the file you mean"));
    }
    Ok(bytes)
}

/// Reads a whole text of at most this many bytes.
pub(crate) fn read_text(path: &str, most: usize) -> Result<Zeroizing<String>, Failure> {
    let bytes = read(path, most)?;
    match std::str::from_utf8(&bytes) {
        Ok(text) => Ok(Zeroizing::new(text.to_owned())),
        Err(error) => Err(Failure::refused(
            format_args!("{}: expected UTF-8, found another byte after {} bytes", name(path), error.valid_up_to()),
            "check that it is the file you mean",
        )),
    }
}

/// The name of an input for people.
pub(crate) fn name(path: &str) -> &str {
    if path == STANDARD { "standard input" } else { path }
}

/// A file that cannot be read.
pub(crate) fn unreadable(path: &str, error: &io::Error) -> Failure {
    let next = match error.kind() {
        io::ErrorKind::NotFound => "check the name, or pass - for standard input",
        io::ErrorKind::PermissionDenied => "check who may read it",
        _ => "check the file",
    };
    Failure::unable(format_args!("{}: cannot be read: {error}", name(path)), next)
}
