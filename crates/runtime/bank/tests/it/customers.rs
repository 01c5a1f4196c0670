//! The bank's directories: records, the TOML folder, the SQL engines, and their followers.

pub(crate) mod fixture;
mod folder;
mod follower;
mod limits;
mod provider;
mod refused;
mod round_trip;
mod stored;
mod together;
