//! Options of a fake bank.

use bankrail_rate_limit::Limits;
use bankrail_service::ProviderOptions;
use bankrail_values::Timestamp;

/// Options of a [`FakeBank`](crate::FakeBank).
#[derive(Clone, Debug)]
pub struct FakeBankOptions {
    pub(crate) seed: u64,
    pub(crate) start: Timestamp,
    pub(crate) plain_http: bool,
    pub(crate) limits: Limits,
    pub(crate) provider: ProviderOptions,
}

impl Default for FakeBankOptions {
    fn default() -> Self {
        Self {
            seed: 1,
            start: "2026-03-02T00:00:00.000Z".parse().expect("a constant that is a time"),
            plain_http: false,
            limits: Limits::default(),
            provider: ProviderOptions::default(),
        }
    }
}

impl FakeBankOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The seed of the identifiers that the bank makes. Default: 1.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The time at which the bank's clock starts. Default: 2026-03-02T00:00:00.000Z, a Monday.
    #[must_use]
    pub fn start(mut self, start: Timestamp) -> Self {
        self.start = start;
        self
    }

    /// Plain HTTP in place of TLS, for clients in other languages that cannot be told to trust a certificate. Default:
    /// TLS.
    #[must_use]
    pub fn plain_http(mut self) -> Self {
        self.plain_http = true;
        self
    }

    /// The rate limits. Default: the specification's table, on the bank's clock.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The options of the provider inside, but for its clock, limiter, cursor secret and paths, which the bank sets.
    /// Default: [`ProviderOptions::default`].
    #[must_use]
    pub fn provider(mut self, options: ProviderOptions) -> Self {
        self.provider = options;
        self
    }
}
