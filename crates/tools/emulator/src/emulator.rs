//! A bank in a box, assembled from engines.

use crate::calls::Calls;
use crate::front::{Front, KeptParts};
use crate::ids::Ids;
use crate::narrative::{FaultyClock, FaultyLedger};
use crate::plan::{FaultOrder, Plan};
use crate::webhook_faults::{FaultySealer, FaultyTransport, WebhookFaults};
use axum::Router;
use bankrail_client_assertion::Verifier;
use bankrail_client_assertion::token::TokenStore;
use bankrail_jose::{CurrentKey, EncryptionKey, SigningKey};
use bankrail_mailbox::OutboxStore;
use bankrail_service::delivery::{
    Dispatcher, DispatcherOptions, Endpoints, SealPayload, Transport,
};
use bankrail_service::{
    Directory, Ledger, Provider, ProviderOptions, ProviderOptionsError, ReportDay,
};
use bankrail_values::{Clock, Date, RandomnessError, SystemClock};
use std::sync::Arc;

/// The stores of a bank in a box.
#[allow(
    clippy::exhaustive_structs,
    reason = "those who put a bank together name each engine"
)]
#[derive(Clone, Debug)]
pub struct Engines {
    /// The customers.
    pub directory: Arc<dyn Directory>,
    /// The accounts.
    pub ledger: Arc<dyn Ledger>,
    /// The access tokens and the used assertions.
    pub tokens: Arc<dyn TokenStore>,
    /// The messages to deliver.
    pub outbox: Arc<dyn OutboxStore>,
    /// The transport that delivers the messages.
    pub transport: Arc<dyn Transport>,
}

bankrail_values::options! {
    /// Options of an [`Emulator`].
    #[derive(Clone, Debug)]
    pub struct EmulatorOptions {
        /// Sets the clock of calls and of deliveries. Default: the operating system's.
        clock: Arc<dyn Clock> = Arc::new(SystemClock),
        /// Sets the options of the provider inside, except its clock. Default:
        /// [`ProviderOptions::default`].
        provider: ProviderOptions = ProviderOptions::new(),
        /// Sets the options of the dispatcher inside. Default: [`DispatcherOptions::default`].
        dispatcher: DispatcherOptions = DispatcherOptions::new(),
        /// Sets the faults that a part of the calls meets. A call that is drawn for several faults
        /// meets the first of them. Default: none.
        faults: Vec<FaultOrder> = Vec::new(),
        /// Sets the seed that decides which calls meet these faults; equal seeds choose the same
        /// calls. Default: 0.
        seed: u64 = 0,
        /// Sets the number of calls that are kept. Default: 500.
        calls: usize = 500,
        /// Keeps headers and bodies of requests and answers, with secrets masked, and also keeps
        /// deliveries, if true. Default: false.
        pub(crate) journal(bool => |kept| if kept { KeptParts::Masked } else { KeptParts::Nothing }): KeptParts = KeptParts::Nothing,
        ;
        pub(crate) ids: Option<Arc<Ids>> = None,
    }
}

/// The reason why an [`Emulator`] cannot be assembled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmulatorError {
    /// The options of the provider are unusable.
    #[error("the options of the provider are unusable")]
    Provider(#[from] ProviderOptionsError),
    /// The operating system gave no random bytes.
    #[error("the dispatcher has no name")]
    Randomness(#[from] RandomnessError),
}

/// A bank in a box: the provider and the dispatcher of `bankrail-service` over any engines, with
/// faults that can be ordered, and a record of calls. [`FakeBank`](crate::FakeBank) is an emulator
/// over engines in memory, and the program `bankrail provider` one over files.
#[derive(Debug)]
pub struct Emulator {
    pub(crate) front: Arc<Front>,
    router: Router,
    report_day: ReportDay,
    dispatcher: Dispatcher,
    endpoints: Endpoints,
    pub(crate) outbox: Arc<dyn OutboxStore>,
    pub(crate) transport: Arc<FaultyTransport>,
    pub(crate) faults: Arc<WebhookFaults>,
}

impl Emulator {
    /// Assembles a bank. `verifier` has the audience that assertions must name.
    ///
    /// # Errors
    /// [`EmulatorError`] if the options of the provider are unusable, or the operating system gives
    /// no random bytes.
    pub fn new(
        engines: Engines,
        verifier: Verifier,
        options: EmulatorOptions,
    ) -> Result<Self, EmulatorError> {
        let EmulatorOptions {
            clock,
            provider,
            dispatcher,
            faults,
            seed,
            calls,
            journal,
            ids,
        } = options;
        let Engines {
            directory,
            ledger,
            tokens,
            outbox,
            transport,
        } = engines;
        let front = Arc::new(Front {
            plan: Plan::new(faults, seed),
            calls: Calls::new(calls),
            keeps: journal,
            directory: Arc::clone(&directory),
            clock: Arc::clone(&clock),
            tokens: Arc::clone(&tokens),
            ids,
            repeating: Default::default(),
        });
        let ledger = Arc::new(FaultyLedger(ledger));
        let provider = provider.clock(Arc::new(FaultyClock(Arc::clone(&clock))));
        let faults = Arc::new(WebhookFaults::new(Arc::clone(&front)));
        let transport = Arc::new(FaultyTransport {
            inner: transport,
            faults: Arc::clone(&faults),
        });
        let provider = Provider::new(directory, ledger, tokens, verifier, provider)?;
        let endpoints = Endpoints::new();
        let kept = Arc::clone(&outbox);
        let dispatcher = Dispatcher::new(
            kept,
            endpoints.clone(),
            transport.clone(),
            dispatcher.clock(clock),
        )?;
        let (router, report_day) = (
            front.around(provider.router()),
            provider.report_day().clone(),
        );
        Ok(Self {
            front,
            router,
            report_day,
            dispatcher,
            endpoints,
            outbox,
            transport,
            faults,
        })
    }

    /// Returns the router of both endpoints and of the documents about them, for a server.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// Returns a sealer of messages for the receivers of a customer, which signs with the current
    /// signing key and applies the faults ordered for deliveries.
    #[must_use]
    pub fn sealer(
        &self,
        customer: Option<String>,
        signing: CurrentKey<SigningKey>,
        encryption: EncryptionKey,
    ) -> Arc<dyn SealPayload> {
        Arc::new(FaultySealer {
            signing,
            encryption: CurrentKey::new(encryption),
            customer,
            faults: Arc::clone(&self.faults),
        })
    }

    /// Returns the day of a report made now, which is also the default booking day.
    #[must_use]
    pub fn today(&self) -> Date {
        self.report_day.today()
    }

    /// Returns the dispatcher of the bank's messages.
    #[must_use]
    pub fn dispatcher(&self) -> &Dispatcher {
        &self.dispatcher
    }

    /// Returns the receivers that messages are delivered to. They may change at any time.
    #[must_use]
    pub fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }

    /// Returns the calls that were answered, and those that delivered messages.
    #[must_use]
    pub fn calls(&self) -> &Calls {
        &self.front.calls
    }
}
