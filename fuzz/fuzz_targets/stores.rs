//! The common parts of the targets of stores: the same call of several engines, and clocks that
//! step both ways.

use arbitrary::{Arbitrary, Unstructured};
use bankrail_stores::sqlite::SqliteStore;
use bankrail_values::{StoreErrorKind, StoreFuture, Timestamp};
use std::fmt::Debug;
use tokio::runtime::{Builder, Runtime};

thread_local! {
    static RUNTIME: Runtime = Builder::new_current_thread().build().expect("a runtime");
}

/// The maximum number of calls of one input.
pub const MAX_CALLS: usize = 60;

/// Calls until the bytes end: a `Vec` would end before each element at every second input.
#[derive(Debug)]
pub struct Calls<T>(pub Vec<T>);

impl<'a, T: Arbitrary<'a>> Arbitrary<'a> for Calls<T> {
    fn arbitrary(choices: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let mut calls = Vec::new();
        while !choices.is_empty() && calls.len() < MAX_CALLS {
            calls.push(T::arbitrary(choices)?);
        }
        Ok(Self(calls))
    }
}

pub fn sqlite() -> SqliteStore {
    SqliteStore::open_in_memory(Default::default()).expect("a store in memory")
}

pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    RUNTIME.with(|runtime| runtime.block_on(future))
}

/// Asks the model, which comes first, and then each engine, whose answer is the same.
pub fn alike<'s, S: ?Sized, T: Debug + PartialEq>(
    stores: [&'s S; 3],
    what: &dyn Debug,
    call: impl Fn(&'s S) -> StoreFuture<'s, T>,
) -> Result<T, StoreErrorKind> {
    // Of errors the kinds are compared.
    let [model, memory, sqlite] =
        stores.map(|store| block_on(call(store)).map_err(|error| error.kind()));
    assert_eq!(memory, model, "memory: {what:?}");
    assert_eq!(sqlite, model, "sqlite: {what:?}");
    model
}

/// Milliseconds from now; the longest spans lead to the ends of time.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Span(i16);

impl Span {
    pub fn from(self, now: Timestamp) -> Timestamp {
        match self.0 {
            i16::MIN => Timestamp::MIN,
            i16::MAX => Timestamp::MAX,
            millis => Timestamp::saturating_from_unix_millis(now.unix_millis() + i64::from(millis)),
        }
    }
}
