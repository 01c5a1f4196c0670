//! The bank over a provider's folder, put together and not yet served.

use super::super::Folders;
use super::super::control::FolderData;
use super::super::limits::Wanted;
use super::settings::{
    audience, cursor_secret, default_issuer, scopes, transport_options, verifier_options,
};
use super::{Arguments, Bank};
use crate::failure::{Failure, causes};
use bankrail::bank::{CustomerRecord, DirectoryFollower, SqliteLedger};
use bankrail::client_assertion::Verifier;
use bankrail::jose::CurrentKey;
use bankrail::rate_limit::Limiter;
use bankrail::service::ProviderOptions;
use bankrail::service::delivery::{DispatcherOptions, HttpsTransport};
use bankrail_emulator::{BankClock, Control, ControlOptions, Emulator, EmulatorOptions, Engines};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// The pause after which the outbox is asked again for messages that another process stored.
const IDLE: Duration = Duration::from_millis(200);

impl Bank {
    /// Puts a bank together that is never served, for the operations of its control.
    pub(in crate::provider) async fn unserved(
        arguments: &Arguments,
        folders: &Folders,
    ) -> Result<Self, Failure> {
        let mut bank = Self::open(arguments, folders, arguments.listen, ProviderOptions::new())?;
        bank.follow_customers().await;
        Ok(bank)
    }

    /// Puts the bank together that is served at this address. The folder decides all options of
    /// its provider but these.
    pub(super) fn open(
        arguments: &Arguments,
        folders: &Folders,
        address: SocketAddr,
        options: ProviderOptions,
    ) -> Result<Self, Failure> {
        let issuer = arguments
            .issuer
            .clone()
            .unwrap_or_else(|| default_issuer(address));
        let signing = CurrentKey::new(folders.signing_key()?);
        let clock = Arc::new(BankClock::new());
        let directory = Arc::new(folders.customers_by(clock.clone())?);
        let store = folders.store()?;
        let ledger = SqliteLedger::new(store.clone());
        let limits = arguments.limits.limits()?;
        let limiter = Arc::new(Limiter::new(limits.clone(), Arc::new(store.clone())));
        let transport = HttpsTransport::new(transport_options(arguments, folders)?);
        let transport = transport.map_err(|error| {
            Failure::unable(
                format_args!("webhooks: {}", causes(&error)),
                "check --roots, --proxy and --only-public-addresses",
            )
        })?;
        let mut options = options
            .issuer(&issuer)
            .report_time_zone(&arguments.time_zone)
            .limiter(Arc::clone(&limiter))
            .assertion_clock(clock.for_assertions())
            .rate_limit_headers(true)
            .cursor_secret(cursor_secret(folders)?);
        if let Some(scopes) = scopes(&directory.current()) {
            options = options.scopes_supported(scopes);
        }
        let verifier = Verifier::new(audience(&issuer)?, verifier_options(arguments));
        let engines = Engines {
            directory: directory.clone(),
            ledger: Arc::new(ledger.clone()),
            tokens: Arc::new(store.clone()),
            outbox: Arc::new(store.outbox()),
            transport: Arc::new(transport),
        };
        let options = EmulatorOptions::new()
            .clock(clock.clone())
            .journal(arguments.control.is_some())
            .provider(options)
            // `control send` may store messages in another process.
            .dispatcher(
                DispatcherOptions::new()
                    .schedule(arguments.schedule.clone())
                    .longest_idle(IDLE)
                    .unknown_endpoint_pause(Duration::from_secs(5)),
            )
            .faults(arguments.fault.clone())
            .seed(arguments.seed);
        let emulator = Emulator::new(engines, verifier, options).map_err(|error| {
            Failure::unable(
                causes(&error),
                "bankrail provider --help lists what is accepted",
            )
        })?;
        let emulator = Arc::new(emulator);

        let mut follower = DirectoryFollower::new().accounts(Arc::new(ledger.clone()));
        // Limits that are switched off must not come back with a customer's own.
        if arguments.limits != Wanted::Off {
            follower = follower.limiter(Arc::clone(&limiter));
        }
        let (key, sealing, known) = (
            signing.clone(),
            Arc::clone(&emulator),
            Arc::clone(&directory),
        );
        let follower = follower.endpoints(emulator.endpoints().clone(), move |endpoint| {
            let customers = known.current();
            let owns = |record: &&Arc<CustomerRecord>| {
                record.endpoints.iter().any(|own| own.id() == endpoint.id())
            };
            let customer = customers
                .records()
                .find(owns)
                .map(|record| record.customer.code.to_string());
            sealing.sealer(customer, key.clone(), endpoint.encryption_key().clone())
        });
        Ok(Self {
            issuer,
            emulator,
            clock,
            directory,
            follower,
            ledger,
            limiter,
            limits,
            signing,
            store,
        })
    }

    /// Puts accounts, endpoints and limits of the customers in force. Test accounts must have been
    /// opened before: an account that is new here has no opening balance.
    pub(super) async fn follow_customers(&mut self) {
        // Accounts that the ledger refuses are logged with their customer, and all others are
        // served.
        let _ = self.follower.apply(&self.directory.current()).await;
    }

    /// Returns the control of the bank, with the operations on the folder.
    pub(in crate::provider) fn control(&self, folders: &Folders) -> Control {
        let data = FolderData {
            folders: folders.clone(),
            ledger: self.ledger.clone(),
            directory: Arc::clone(&self.directory),
            signing: self.signing.clone(),
            clock: Arc::clone(&self.clock),
            emulator: Arc::clone(&self.emulator),
        };
        Control::new(
            Arc::clone(&self.emulator),
            Arc::clone(&self.clock),
            Arc::clone(&self.limiter),
            ControlOptions::new().data(Arc::new(data)),
        )
    }
}
