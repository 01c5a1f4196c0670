//! The writer: pushes text in schema order, escaped for XML and, on request, for a JSON string around it.

mod document;
mod output;

pub use document::{WriteError, WriteOptions};
pub(crate) use output::{Output, forbidden, is_xml_char};
