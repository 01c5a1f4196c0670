//! The page as a browser sees it, over a loopback connection.

mod control;
mod crawl;
mod guard;
mod later;
mod views;
pub(super) mod world;
