//! The metrics of this crate, through the `metrics` facade. `docs/metrics.md` lists the names and
//! labels, which are stable. A label has one of a fixed set of values: no text of a customer's, and
//! no name of one.
//!
//! Without the feature `metrics`, each function is empty.

#[cfg(feature = "delivery")]
pub(crate) mod delivery;
#[cfg(feature = "endpoints")]
pub(crate) mod endpoints;
