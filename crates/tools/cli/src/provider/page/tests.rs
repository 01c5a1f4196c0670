//! The page as a browser sees it, over a loopback connection.

mod control;
mod crawl;
mod events;
mod guard;
mod views;
pub(super) mod world;
