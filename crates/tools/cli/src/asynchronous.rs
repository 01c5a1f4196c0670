//! The runtime of the commands that use the network.

use crate::failure::Failure;
use std::future::Future;

/// Runs a command's future to its end.
pub(crate) fn block_on<T>(future: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| {
            Failure::unable(
                format_args!("the program cannot start its threads: {error}"),
                "end other programs first",
            )
        })?;
    runtime.block_on(future)
}
