//! Tests of the public API: requests in, answers out, engines in memory, a clock that moves when told.

mod delivery;
mod limits;
mod logging;
mod paging;
mod shape;
mod statement;
mod token;
mod world;
