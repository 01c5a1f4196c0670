//! The client, the receivers and their server, made of a connection.

use super::error::unusable;
use super::{Connection, ConnectionError, ReceiverConnection, keys};
use crate::receivers::keys::KeyFolder;
use crate::receivers::{Receivers, ReceiversOptions};
use crate::{Client, ClientCertificate, ClientOptions, Credentials, Proxy, ProxyError, TlsRoots};
use bankrail_client_assertion::token::ScopeSet;
use bankrail_http::serve::{CertificateFiles, ClientAuthorities, Server, ServerOptions};
use bankrail_jose::DecryptionKey;
use bankrail_mailbox::Inbox;
use bankrail_secured_payload::{OpenOptions, Opener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::Handle;

/// The maximum number of bytes of a file of certificate authorities.
const MAX_ROOTS_BYTES: usize = 4 << 20;

/// The time between two readings of the certificate and of the provider's keys.
const RELOAD: Duration = Duration::from_secs(60);

impl Connection {
    /// Makes a client of the provider. The connection's members prevail over `options`. Within a
    /// tokio runtime, the client certificate is read again once a minute, until the runtime ends.
    /// If the new one cannot be used, that is logged and the old one stays.
    ///
    /// # Errors
    /// [`ConnectionError`] if a file cannot be read or a member cannot be used.
    pub fn client(&self, mut options: ClientOptions) -> Result<Client, ConnectionError> {
        let key = keys::signing(&self.signing_key, self.signing_kid.as_deref())?;
        if let Some(url) = &self.token_url {
            options = options.auth_url(url);
        }
        if let Some(audience) = &self.audience {
            options = options.audience(audience);
        }
        if let Some(name) = &self.api_key_header {
            options = options.api_key_header(name);
        }
        if !self.scopes.is_empty() {
            let scopes = ScopeSet::parse(&self.scopes.join(" "));
            options = options.scopes(scopes.map_err(unusable(&self.file))?);
        }
        if let Some(roots) = &self.roots {
            let pem = keys::read(roots, MAX_ROOTS_BYTES)?.to_vec();
            options = options.tls_roots(if self.system_roots {
                TlsRoots::PlatformAndPem(pem)
            } else {
                TlsRoots::OnlyPem(pem)
            });
        }
        if let Some(proxy) = self.proxy().map_err(unusable(&self.file))? {
            options = options.proxy(proxy);
        }
        if let Some(path) = &self.client_certificate {
            let certificate = read_certificate(path)?;
            if let Ok(runtime) = Handle::try_current() {
                runtime.spawn(certificate.clone().watch(path.clone(), RELOAD));
            }
            options = options.client_certificate(certificate);
        }
        if self.limit_per_account {
            options = options.limit_per_account(true);
        }
        let credentials = Credentials::new(self.customer.clone(), key, self.api_key.clone());
        Client::new(credentials, &self.base_url, options).map_err(|source| {
            ConnectionError::Client {
                file: self.file.clone(),
                source,
            }
        })
    }

    fn proxy(&self) -> Result<Option<Proxy>, ProxyError> {
        let hosts = self.no_proxy.as_deref();
        let proxy = match &self.proxy {
            Some(proxy) => Some(Proxy::parse(proxy.expose_secret())?),
            None => hosts.map_or(Ok(None), |_| Proxy::from_environment())?,
        };
        let except = |proxy: Proxy| match hosts {
            Some(hosts) => proxy.except(hosts),
            None => Ok(proxy),
        };
        proxy.map(except).transpose()
    }

    /// Makes the receivers of webhooks, which store messages in this inbox, with further options.
    /// The provider's keys come before [`ReceiversOptions::sender_keys`]; they are read again once
    /// a minute, until the runtime ends, and when no key verifies a message. Unusable keys are
    /// logged.
    ///
    /// # Errors
    /// [`ConnectionError`] if the connection has no receivers, a file cannot be read, or a member
    /// cannot be used.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn receivers<I: Inbox + ?Sized + 'static>(
        &self,
        inbox: Arc<I>,
        options: ReceiversOptions,
    ) -> Result<Receivers<I>, ConnectionError> {
        let own = self.needed_receivers()?;
        let decryption = keys::keys::<DecryptionKey>(&own.decryption_key)?;
        let (sender, left_out) =
            KeyFolder::open(&own.provider_keys).map_err(ConnectionError::ProviderKeys)?;
        for key in left_out {
            tracing::warn!(error = %key, "a verifying key is unusable");
        }
        let opener =
            Opener::new(decryption, sender.keys(), OpenOptions::new()).map_err(|source| {
                ConnectionError::Key {
                    file: own.provider_keys.clone(),
                    source,
                }
            })?;
        let options = options.sender_keys(Arc::new(sender.clone()));
        let receivers = Receivers::new(opener, own.api_key.clone(), inbox, options)
            .map_err(unusable(&self.file))?;
        // Receivers can be cloned and moved freely, so only the end of the runtime ends the
        // reloading.
        tokio::spawn(async move { sender.reload_every(RELOAD, std::future::pending()).await });
        Ok(receivers)
    }

    /// Makes a server that listens at the address of the receivers, with their certificate. The
    /// service is their [router](Receivers::router), or one that contains it. The certificate is
    /// read again once a minute, until the runtime ends. [`ReceiverConnection::trusted_proxies`]
    /// replaces those of the options, if there are any.
    ///
    /// # Errors
    /// [`ConnectionError`] if the connection has no receivers, the certificate cannot be used, or
    /// the address is taken.
    pub async fn server<S>(
        &self,
        service: S,
        mut options: ServerOptions,
    ) -> Result<Server<S>, ConnectionError> {
        let own = self.needed_receivers()?;
        if !own.trusted_proxies.is_empty() {
            options = options.trusted_proxies(&own.trusted_proxies);
        }
        let refused = |source| ConnectionError::Certificate {
            certificate: own.certificate.clone(),
            certificate_key: own.certificate_key.clone(),
            source,
        };
        let certificate =
            CertificateFiles::open(&own.certificate, &own.certificate_key).map_err(refused)?;
        let tls = match &own.client_roots {
            None => certificate.server_config().map_err(refused)?,
            Some(file) => {
                let pem = keys::read(file, MAX_ROOTS_BYTES)?;
                let clients = ClientAuthorities::from_pem(&pem).map_err(unusable(file))?;
                let clients = clients.optional(own.client_certificate_optional);
                certificate.server_config_for(&clients).map_err(refused)?
            }
        };
        let listener =
            TcpListener::bind(own.listen)
                .await
                .map_err(|source| ConnectionError::Listen {
                    file: self.file.clone(),
                    listen: own.listen,
                    source,
                })?;
        // Certificates are renewed by other programs, which need not restart this one.
        tokio::spawn(async move { certificate.watch(RELOAD).await });
        Ok(Server::new(listener, tls, service, options))
    }

    fn needed_receivers(&self) -> Result<&ReceiverConnection, ConnectionError> {
        self.receivers
            .as_ref()
            .ok_or_else(|| ConnectionError::NoReceivers {
                file: self.file.clone(),
            })
    }
}

/// Reads a client certificate from its file.
fn read_certificate(file: &Path) -> Result<ClientCertificate, ConnectionError> {
    let pem = keys::read(file, CertificateFiles::MAX_BYTES)?;
    // Private keys are not copied: a text that is not UTF-8 is no PEM.
    let pem = std::str::from_utf8(&pem).unwrap_or_default();
    ClientCertificate::from_pem(pem).map_err(unusable(file))
}
