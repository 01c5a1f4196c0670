//! The runtime of the commands that use the network.

use crate::failure::Failure;
use std::future::Future;
use std::io;
use tokio::runtime::{Builder, Runtime};

/// The descriptors that a runtime needs, and some to spare.
#[cfg(unix)]
const RUNTIME_FILES: usize = 8;

/// Makes a runtime, if there are the descriptors that it needs: tokio panics without those for
/// signals.
pub(crate) fn runtime(builder: &mut Builder) -> io::Result<Runtime> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd as _;
        let error = io::stderr();
        let spare = (0..RUNTIME_FILES).map(|_| error.as_fd().try_clone_to_owned());
        spare.collect::<io::Result<Vec<_>>>()?;
    }
    builder.enable_all().build()
}

/// Runs a command's future to its end.
pub(crate) fn block_on<T>(future: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = runtime(&mut Builder::new_multi_thread()).map_err(|error| {
        let what = format!("the program cannot start its threads: {error}");
        Failure::caused(&error, what, "end other programs first")
    })?;
    runtime.block_on(future)
}
