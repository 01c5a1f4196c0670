//! The file of acknowledgements, in their order.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

/// A file of lines. Each is one write, so that a trace of the process shows it between the writes
/// to the files that it is about.
#[derive(Clone, Debug)]
pub(crate) struct Marks(Arc<File>);

impl Marks {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self(Arc::new(file)))
    }

    /// Must be called after the acknowledgement.
    pub(crate) fn put(&self, mark: fmt::Arguments<'_>) {
        (&*self.0)
            .write_all(format!("{mark}\n").as_bytes())
            .expect("the marks are not what loses power");
    }
}
