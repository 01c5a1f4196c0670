//! A bound on the output of an asynchronous function, whose compiler error names the remedy.

/// `Self` is `T`. Beside `Future<Output = T>`, which infers the types of closures, it has the
/// compiler name the remedy.
#[diagnostic::on_unimplemented(
    message = "the handler returns `{Self}`, and `{T}` is expected",
    label = "this handler returns `{Self}`",
    note = "end it with `Ok(())`, or with `Ok(work)` where its effect is part of the store's transaction",
    note = "one that returns work goes to `Poller::transactional`, or to a method of `Handlers` with that word",
    note = "`?` turns any error into the expected one"
)]
pub(crate) trait Returns<T> {}

impl<T> Returns<T> for T {}
