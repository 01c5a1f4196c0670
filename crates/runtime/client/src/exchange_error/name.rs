//! Resolving names, with an error of its own kind.

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::io;

/// Asks the operating system.
pub(crate) struct Names;

/// A name that the operating system does not resolve.
#[derive(Debug, thiserror::Error)]
#[error("the name was not resolved")]
pub(super) struct NotResolved(#[source] io::Error);

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0))
                .await
                .map_err(NotResolved)?;
            Ok(Box::new(found.collect::<Vec<_>>().into_iter()) as Addrs)
        })
    }
}
