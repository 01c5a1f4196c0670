//! What the handlers of both sides share: new entries of statements, and messages.

/// The pauses in seconds of a default schedule of retries: doubled each time, up to 15 min.
pub(crate) const RETRY_SECONDS: [u64; 12] = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900];

/// A bound that `Self` is `T`. In addition to `Future<Output = T>`, which infers the types of
/// closures, this bound makes the compiler name the remedy.
#[diagnostic::on_unimplemented(
    message = "the handler returns `{Self}`, and `{T}` is expected",
    label = "this handler returns `{Self}`",
    note = "end it with `Ok(())`, or with `Ok(work)` where its effect is part of the store's transaction",
    note = "one that returns work goes to `Poller::transactional`, or to a method of `Handlers` with that word",
    note = "`?` turns any error into the expected one"
)]
pub(crate) trait Returns<T> {}

impl<T> Returns<T> for T {}
