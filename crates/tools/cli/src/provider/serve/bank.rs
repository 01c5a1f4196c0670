//! The bank over a provider's folder, assembled but not yet served.

use super::super::control::FolderData;
use super::super::{Folders, damaged, read};
use super::settings::{LimitsChoice, MAX_ROOTS_BYTES, default_issuer};
use super::{Arguments, Bank, CERTIFICATE_INTERVAL};
use crate::connection::{given_certificate, given_proxy};
use crate::failure::{Failure, causes};
use crate::files::warn_if_exposed;
use crate::input;
use bankrail::bank::{CustomerRecord, CustomerSet, DirectoryFollower, SqliteLedger};
use bankrail::client_assertion::token::ScopeSet;
use bankrail::client_assertion::{Audience, Verifier, VerifierOptions};
use bankrail::http::files;
use bankrail::http::tls::{TlsError, client_config};
use bankrail::jose::CurrentKey;
use bankrail::rate_limit::Limiter;
use bankrail::service::delivery::{
    DispatcherOptions, HttpsTransport, HttpsTransportOptions, TlsRoots,
};
use bankrail::service::{CursorSecret, ProviderOptions};
use bankrail_emulator::{BankClock, Control, ControlOptions, Emulator, EmulatorOptions, Engines};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// The pause after which the outbox is asked again for messages that another process stored.
const OUTBOX_INTERVAL: Duration = Duration::from_millis(200);

impl Bank {
    /// Assembles a bank that is never served, for the operations of its control.
    pub(in crate::provider) async fn unserved(
        arguments: &Arguments,
        folders: &Folders,
    ) -> Result<Self, Failure> {
        let mut bank = Self::open(arguments, folders, arguments.listen, ProviderOptions::new())?;
        bank.follow_customers().await;
        Ok(bank)
    }

    /// Assembles the bank that is served at this address. The folder determines all options of its
    /// provider except the arguments.
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
                    .longest_idle(OUTBOX_INTERVAL)
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
        if arguments.limits != LimitsChoice::Off {
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
        let data = Arc::new(FolderData {
            folders: folders.clone(),
            ledger,
            directory,
            signing,
            clock,
            emulator,
        });
        Ok(Self {
            issuer,
            data,
            follower,
            limiter,
            limits,
            store,
        })
    }

    /// Puts accounts, endpoints and limits of the customers in force. Test accounts must have been
    /// opened before: an account that is first opened here has no opening balance.
    pub(super) async fn follow_customers(&mut self) {
        // Accounts that the ledger refuses are logged with their customer, and all others are
        // served.
        let _ = self.follower.apply(&self.data.directory.current()).await;
    }

    /// Returns the control of the bank, with the operations on the folder.
    pub(in crate::provider) fn control(&self) -> Control {
        Control::new(
            Arc::clone(&self.data.emulator),
            Arc::clone(&self.data.clock),
            Arc::clone(&self.limiter),
            ControlOptions::new().data(self.data.clone()),
        )
    }
}

fn audience(issuer: &str) -> Result<Audience, Failure> {
    Audience::parse(issuer).map_err(|error| {
        Failure::unable(
            format_args!("--issuer: {}", causes(&error)),
            "pass a URL such as https://bank.example",
        )
    })
}

fn verifier_options(arguments: &Arguments) -> VerifierOptions {
    let options = arguments
        .audience
        .iter()
        .cloned()
        .fold(VerifierOptions::new(), VerifierOptions::also_audience);
    if arguments.strict_clients {
        options
    } else {
        options.lenient_clients()
    }
}

/// Reads the secret that seals cursors. Without the file it is not made anew, because the other
/// machines of a provider have the old one.
fn cursor_secret(folders: &Folders) -> Result<CursorSecret, Failure> {
    let path = folders.config("cursor.key");
    warn_if_exposed(&path);
    let text = files::read_text(&path, 256).map_err(|error| damaged(&path, &error))?;
    CursorSecret::from_base64(&text).map_err(|error| damaged(&path, &error))
}

/// The scopes of all customers, for the issuer's metadata.
fn scopes(customers: &CustomerSet) -> Option<ScopeSet> {
    let scopes: BTreeSet<_> = customers
        .records()
        .flat_map(|record| record.customer.scopes.iter().cloned())
        .collect();
    ScopeSet::from_scopes(scopes.into_iter().collect::<Vec<_>>()).ok()
}

/// The way of deliveries.
fn transport_options(
    arguments: &Arguments,
    folders: &Folders,
) -> Result<HttpsTransportOptions, Failure> {
    let mut options = HttpsTransportOptions::new()
        .tls_roots(roots(arguments, folders)?)
        .only_public_addresses(arguments.only_public_addresses);
    if let Some(given) = &arguments.proxy {
        options = options.proxy(given_proxy(given, arguments.no_proxy.as_deref())?);
    }
    if let Some(path) = &arguments.client_certificate {
        let certificate = given_certificate(&path.to_string_lossy())?;
        if path.as_os_str() != input::STANDARD {
            let renewed = certificate.clone();
            tokio::spawn(renewed.watch(path.clone(), CERTIFICATE_INTERVAL));
        }
        options = options.client_certificate(certificate);
    }
    Ok(options)
}

/// The certificate authorities of receivers.
fn roots(arguments: &Arguments, folders: &Folders) -> Result<TlsRoots, Failure> {
    let mut all = Vec::new();
    if folders.is_demo() {
        let path = folders.config("ca.pem");
        add_roots(&read(&path)?, &mut all).map_err(|error| damaged(&path, &error))?;
    }
    if let Some(path) = &arguments.roots {
        let path = path.to_string_lossy();
        add_roots(&input::read(&path, MAX_ROOTS_BYTES)?, &mut all).map_err(|error| {
            let what = format!("{}: {}", input::name(&path), causes(&error));
            Failure::unable(what, "pass certificates as PEM with --roots")
        })?;
    }
    Ok(if all.is_empty() {
        TlsRoots::Platform
    } else if arguments.system_roots {
        TlsRoots::PlatformAndPem(all)
    } else {
        TlsRoots::OnlyPem(all)
    })
}

/// Adds authorities to all, if they are usable.
fn add_roots(pem: &[u8], all: &mut Vec<u8>) -> Result<(), TlsError> {
    // Each file is tried alone, so that an error names it.
    client_config(Some(&TlsRoots::OnlyPem(pem.to_vec())), None)?;
    all.extend_from_slice(pem);
    // A file may end without a line break.
    all.push(b'\n');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Provider;
    use clap::{Args as _, Command, FromArgMatches as _};

    #[tokio::test(start_paused = true)]
    async fn a_renewed_client_certificate_is_shown_to_receivers_without_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("own.pem");
        let made = rcgen::generate_simple_self_signed(["client".to_owned()]).unwrap();
        let (chain, key) = (made.cert.pem(), made.signing_key.serialize_pem());
        std::fs::write(&own, chain.clone() + &key).unwrap();
        let words = ["provider", "--client-certificate", own.to_str().unwrap()];
        let matches = Provider::augment_args(Command::new("bankrail")).get_matches_from(words);
        let arguments = Provider::from_arg_matches(&matches)
            .unwrap()
            .serve
            .arguments;
        let folders = Folders::of(Some(folder.path()), Some(folder.path()));
        let options = transport_options(&arguments, &folders).unwrap();
        let shown = || format!("{options:?}");
        assert!(
            shown().contains("ClientCertificate(1 certificates)"),
            "{}",
            shown()
        );
        // A file that is half written leaves the one before.
        for (content, certificates) in [(chain.clone(), 1), (chain.repeat(2) + &key, 2)] {
            std::fs::write(&own, content).unwrap();
            tokio::time::sleep(CERTIFICATE_INTERVAL + Duration::from_secs(1)).await;
            let expected = format!("ClientCertificate({certificates} certificates)");
            assert!(shown().contains(&expected), "{}", shown());
        }
    }
}
