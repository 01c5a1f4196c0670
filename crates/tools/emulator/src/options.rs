//! Options of a fake bank.

use crate::plan::FaultOrder;
use bankrail_rate_limit::Limits;
use bankrail_service::ProviderOptions;
use bankrail_values::Timestamp;

bankrail_values::options! {
    /// Options of a [`FakeBank`](crate::FakeBank).
    #[derive(Clone, Debug)]
    pub struct FakeBankOptions {
        /// Sets the seed of the identifiers that the bank makes, and of its draws for faults.
        /// Default: 1.
        pub(crate) seed: u64 = 1,
        /// Sets the time at which the bank's clock starts. Default: 2026-03-02T00:00:00.000Z, a
        /// Monday.
        pub(crate) start: Timestamp = "2026-03-02T00:00:00.000Z".parse().expect("a constant that is a time"),
        /// Serves plain HTTP instead of TLS if true, for clients in other languages that cannot
        /// trust a test's certificate. Default: false.
        pub(crate) plain_http: bool = false,
        /// Sets the rate limits, which use the bank's clock. Default: the specification's table.
        pub(crate) limits: Limits = Limits::default(),
        /// Sets faults that a part of the calls meets, in addition to those of
        /// [`FakeBank::fail`](crate::FakeBank::fail). Default: none.
        pub(crate) faults: Vec<FaultOrder> = Vec::new(),
        /// Sets the options of the provider inside, except its clock, limiter, cursor secret and
        /// paths, which the bank sets. Default: [`ProviderOptions::default`].
        pub(crate) provider: ProviderOptions = ProviderOptions::default(),
    }
}
