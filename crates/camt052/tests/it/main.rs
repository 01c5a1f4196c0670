//! The public interface, as a user of the crate sees it.

mod samples;
mod shared;
