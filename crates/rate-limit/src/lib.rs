//! Exact fixed-window and sliding-window rate limits, several windows charged as one decision.
//!
//! What it is: a pure function, [`decide`], that judges a request against an hour, a minute and a second at once, in exact
//! integers; the twelve [`CallType`]s of the specification with their [`default_limits`]; a keyed [`Limiter`] in
//! memory; and the seam to engines that several machines share ([`CounterStore`], [`StoreLimiter`]), which give the same
//! answers.
//!
//! What it is not: it knows no HTTP, starts no task, and never reads the time by itself.
//!
//! ```
//! use bankrail_rate_limit::{Algorithm, Counting, Policy, State, Window, decide};
//! use bankrail_values::Timestamp;
//!
//! // The specification's worked case: 80 in the previous hour, 50 % into the new one with 75 requests.
//! let policy = Policy::new(Algorithm::Sliding, Counting::Attempts, &[Window::per_hour(100)?])?;
//! let mut state = State::new();
//! let ten: Timestamp = "2021-07-29T10:00:00.000Z".parse()?;
//! assert!(decide(&mut state, &policy, ten, 80)?.is_allowed());
//! let half_past_eleven: Timestamp = "2021-07-29T11:30:00.000Z".parse()?;
//! let decision = decide(&mut state, &policy, half_past_eleven, 75)?;
//! assert!(!decision.is_allowed(), "75 + 40 is more than 100");
//! assert_eq!(decision.refused_by(), Some(Window::per_hour(100)?));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The nouns: a [`Window`] is a length and a limit; a [`Policy`] is up to three windows, an [`Algorithm`] and a
//! [`Counting`]; a [`State`] is what is remembered of one key; a [`Decision`] says whether, what is left and when to come
//! again; [`Limits`] are the policies of all customers.
//!
//! # What it guarantees
//! - A weighted rate above the limit is never allowed, one at the limit is; nothing is rounded.
//! - The windows are judged as one: no request is charged to the hour and refused by the second under
//!   [`Counting::Admitted`]. Under [`Counting::Attempts`] every request is charged to every window.
//! - [`Decision::retry_at`] is exact, over all windows.
//! - A clock that steps back lets nobody past the limit: each key holds the highest time that it has seen.
//!
//! # What it does not
//! - Neither algorithm bounds a trailing window by the limit L. A sliding counter admits up to 2L − 1 within some
//!   trailing window, a fixed one 2L in an instant around a boundary.
//! - A clock that jumps ahead and then back leaves the keys charged meanwhile ahead: they are judged at the time
//!   of the jump until the clock has caught up.
//! - Counters stop at [`Window::ceiling`].
//!
//! | feature | what it adds |
//! |---|---|
//! | `pacer` | `Pacer`, which waits on tokio's clock instead of being refused |

#![forbid(unsafe_code)]

mod call_type;
mod decision;
mod limiter;
mod limits;
#[cfg(feature = "pacer")]
mod pacer;
mod policy;
mod state;
mod store;
mod store_limiter;
mod sync;
mod window;

pub use call_type::{CallType, CallTypeError, default_limits};
pub use decision::{Decision, WindowStatus, decide};
pub use limiter::{Capacity, CheckError, Limiter, OnFull};
pub use limits::Limits;
#[cfg(feature = "pacer")]
pub use pacer::{PaceError, Pacer, Pacing};
pub use policy::{Algorithm, CostError, Counting, MAX_WINDOWS, Policy, PolicyError};
pub use state::{Counts, State};
pub use store::{Charge, CounterStore};
pub use store_limiter::{Answer, OnStoreError, StoreCheckError, StoreLimiter};
pub use window::{Window, WindowError};
