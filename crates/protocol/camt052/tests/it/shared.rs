//! Data that is not part of the project.

use std::path::PathBuf;

/// Returns a folder of the shared data; `None` when `BANKRAIL_SHARED` does not say where it is.
pub(crate) fn shared(folder: &str) -> Option<PathBuf> {
    let Some(root) = std::env::var_os("BANKRAIL_SHARED") else {
        println!("BANKRAIL_SHARED not set: skipped");
        return None;
    };
    let path = PathBuf::from(root).join(folder);
    assert!(path.exists(), "{} is missing", path.display());
    Some(path)
}
