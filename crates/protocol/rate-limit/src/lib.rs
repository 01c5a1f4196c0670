#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    warn(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        clippy::iter_over_hash_type
    )
)]

mod call_type;
mod decision;
#[cfg(feature = "tower")]
pub mod layer;
mod limiter;
mod limits;
mod memory;
mod policy;
mod state;
mod store;
mod sync;
mod window;

pub use call_type::{CallType, default_limits};
pub use decision::{Decision, WindowStatus, decide};
pub use limiter::{CheckError, CheckOutcome, Limiter};
pub use limits::{Limits, OnStoreFailure};
pub use memory::{Capacity, FullError, MemoryCounters, OnFull};
pub use policy::{Algorithm, CostError, Counting, MAX_WINDOWS, Policy, PolicyError};
pub use state::{Counts, State};
pub use store::{Charge, CounterStore};
pub use window::{Window, WindowError};
