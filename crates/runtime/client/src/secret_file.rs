//! Files that hold secrets.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use zeroize::Zeroizing;

/// Reads a file of at most this many bytes.
pub(crate) fn read(path: &Path, most: usize) -> io::Result<Zeroizing<Vec<u8>>> {
    // A buffer that grows by itself would leave copies behind. Nearly all files are shorter than
    // this.
    let mut bytes = Zeroizing::new(Vec::with_capacity(most.min(64 << 10)));
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    if bytes.len() > most {
        let reason = format!("expected at most {most} bytes, found more");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
    }
    Ok(bytes)
}

/// Reads a text of at most this many bytes.
pub(crate) fn read_text(path: &Path, most: usize) -> io::Result<Zeroizing<String>> {
    let bytes = read(path, most)?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let reason = format!(
            "expected UTF-8, found another byte after {} bytes",
            error.valid_up_to()
        );
        io::Error::new(io::ErrorKind::InvalidData, reason)
    })?;
    Ok(Zeroizing::new(text.to_owned()))
}
