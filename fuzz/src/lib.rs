//! Shared by fuzz targets.

pub mod messages;
