//! The signal to stop a program.

use std::io;
use tokio::sync::watch;

/// A signal that a program should stop. Cheap to clone; each part of a program waits on a clone.
///
/// ```no_run
/// # async fn example() -> std::io::Result<()> {
/// let shutdown = bankrail_http::serve::Shutdown::on_signal()?;
/// let (server, worker) = (shutdown.clone(), shutdown);
/// tokio::join!(server.wanted(), worker.wanted());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Shutdown(watch::Receiver<bool>);

impl Shutdown {
    /// Returns a shutdown that begins at Ctrl-C, and on Unix also at the signal `SIGTERM`, with
    /// which a supervisor ends a service. A second signal does not end the process: work in
    /// progress has its own bounds.
    ///
    /// On Unix the signal `SIGXFSZ` no longer ends the process after this call: a write beyond the
    /// limit of a file's size (`ulimit -f`) fails, as one to a full disk does.
    ///
    /// # Errors
    /// The operating system's error if signals cannot be received.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn on_signal() -> io::Result<Self> {
        #[cfg(unix)]
        {
            use rustix::process::Signal;
            use tokio::signal::unix::{SignalKind, signal};
            // The handler stays installed when its stream is dropped.
            drop(signal(SignalKind::from_raw(Signal::XFSZ.as_raw()))?);
            let (mut interrupt, mut terminate) = (
                signal(SignalKind::interrupt())?,
                signal(SignalKind::terminate())?,
            );
            Ok(Self::when(async move {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
            }))
        }
        #[cfg(windows)]
        {
            let mut interrupt = tokio::signal::windows::ctrl_c()?;
            Ok(Self::when(async move {
                let _ = interrupt.recv().await;
            }))
        }
    }

    /// Returns a shutdown that begins once `wish` is ready: for a test, or a supervisor that does
    /// not use signals.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// use bankrail_http::serve::Shutdown;
    ///
    /// let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    /// let shutdown = Shutdown::when(async { drop(stopped.await) });
    /// let part = tokio::spawn(shutdown.wanted());
    /// drop(stop); // or `stop.send(())`
    /// part.await.unwrap();
    /// # }
    /// ```
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn when(wish: impl Future<Output = ()> + Send + 'static) -> Self {
        let (want, wanted) = watch::channel(false);
        tokio::spawn(async move {
            wish.await;
            want.send_replace(true);
        });
        Self(wanted)
    }

    /// Completes once the program should stop.
    pub async fn wanted(mut self) {
        // An error means that the runtime ends, which stops the program too.
        let _ = self.0.wait_for(|wanted| *wanted).await;
    }
}
