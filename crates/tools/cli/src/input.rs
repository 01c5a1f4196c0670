//! Files and standard input.

use crate::failure::{Failure, causes};
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use zeroize::Zeroizing;

/// The name that stands for standard input.
pub(crate) const STANDARD: &str = "-";

/// Opens a file, or standard input for `-`.
pub(crate) fn open(path: &str) -> Result<BufReader<Box<dyn Read>>, Failure> {
    let source: Box<dyn Read> = match path {
        STANDARD => Box::new(io::stdin()),
        path => {
            let file = File::open(path).map_err(|error| unreadable(path, &error))?;
            let metadata = file.metadata().map_err(|error| unreadable(path, &error))?;
            if metadata.is_dir() {
                return Err(Failure::unable(
                    format_args!("{path}: expected a file, found a folder"),
                    "name a file in it",
                ));
            }
            Box::new(file)
        }
    };
    Ok(BufReader::with_capacity(1 << 16, source))
}

/// Reads a whole file of at most this many bytes. The bytes may be a secret, and are overwritten
/// when dropped.
pub(crate) fn read(path: &str, most: usize) -> Result<Zeroizing<Vec<u8>>, Failure> {
    read_rest(path, open(path)?, most)
}

/// Reads the rest of a source.
pub(crate) fn read_rest(
    path: &str,
    source: impl Read,
    most: usize,
) -> Result<Zeroizing<Vec<u8>>, Failure> {
    // Reserves the buffer at once, because growth would leave copies behind. Nearly all inputs are
    // shorter.
    let mut bytes = Zeroizing::new(Vec::with_capacity(most.min(1 << 16)));
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    source
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(path, &error))?;
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
            format_args!(
                "{}: expected UTF-8, found another byte after {} bytes",
                name(path),
                error.valid_up_to()
            ),
            "check that it is the file you mean",
        )),
    }
}

/// Parses the TOML text of a file; `next` is the advice in an error. An error names the line but
/// not its text, which may be a secret. Serde quotes a value of the wrong type, so secret members
/// are read separately.
pub(crate) fn parse_toml<T: DeserializeOwned>(
    path: &Path,
    text: &str,
    next: &'static str,
) -> Result<T, Failure> {
    toml::from_str(text).map_err(|error| {
        let before = error
            .span()
            .and_then(|span| text.get(..span.start))
            .unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let path = path.to_string_lossy();
        Failure::unable(
            format_args!("{}: line {line}: {}", name(&path), error.message()),
            next,
        )
    })
}

/// Returns the name of an input for people.
pub(crate) fn name(path: &str) -> &str {
    if path == STANDARD {
        "standard input"
    } else {
        path
    }
}

/// Returns the failure of a file whose content is refused, with advice.
pub(crate) fn refused(path: &str, error: &dyn std::error::Error, next: &str) -> Failure {
    Failure::refused(format_args!("{}: {}", name(path), causes(error)), next)
}

/// Returns the failure of a file that cannot be read.
pub(crate) fn unreadable(path: &str, error: &io::Error) -> Failure {
    let next = match error.kind() {
        io::ErrorKind::NotFound => "check the name, or pass - for standard input",
        io::ErrorKind::PermissionDenied => "check who may read it",
        _ => "check the file",
    };
    Failure::caused(
        error,
        format_args!("{}: cannot be read: {error}", name(path)),
        next,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_toml_names_the_line_and_quotes_nothing() {
        for (text, line) in [
            ("a = 1\n\nsecret = hidden\n", 3),
            ("secret = \"hidden", 1),
            ("a = 1\na = \"hidden\"\n", 2),
        ] {
            let error = parse_toml::<toml::Table>(Path::new("a/file.toml"), text, "correct it")
                .unwrap_err();
            let error = error.into_parts().0.unwrap();
            assert!(
                error.starts_with(&format!("a/file.toml: line {line}: ")),
                "{error}"
            );
            assert!(
                error.ends_with("; correct it") && error.lines().count() == 1,
                "{error}"
            );
            assert!(!error.contains("hidden"), "{error}");
        }
        let error = parse_toml::<toml::Table>(Path::new(STANDARD), "a", "correct it").unwrap_err();
        assert!(
            error
                .into_parts()
                .0
                .unwrap()
                .starts_with("standard input: line 1: ")
        );
    }
}
