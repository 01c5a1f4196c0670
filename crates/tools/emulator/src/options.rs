//! Options of a fake bank.

use crate::plan::FaultOrder;
use bankrail_rate_limit::Limits;
use bankrail_service::ProviderOptions;
use bankrail_values::Timestamp;

bankrail_values::options! {
    /// Options of a [`FakeBank`](crate::FakeBank).
    #[derive(Clone, Debug)]
    pub struct FakeBankOptions {
        /// The seed of the identifiers that the bank makes, and of its draws for faults. Default: 1.
        pub(crate) seed: u64 = 1,
        /// The time at which the bank's clock starts. Default: 2026-03-02T00:00:00.000Z, a Monday.
        pub(crate) start: Timestamp = "2026-03-02T00:00:00.000Z".parse().expect("a constant that is a time"),
        /// True to serve plain HTTP instead of TLS, for clients in other languages that cannot
        /// trust a certificate of the test. Default: no.
        pub(crate) plain_http: bool = false,
        /// The rate limits. Default: the specification's table, on the bank's clock.
        pub(crate) limits: Limits = Limits::default(),
        /// Faults that a part of the calls meets, beside those of
        /// [`FakeBank::fail`](crate::FakeBank::fail). Default: none.
        pub(crate) faults: Vec<FaultOrder> = Vec::new(),
        /// The options of the provider inside, except its clock, limiter, cursor secret and paths,
        /// which the bank sets. Default: [`ProviderOptions::default`].
        pub(crate) provider: ProviderOptions = ProviderOptions::default(),
    }
}
