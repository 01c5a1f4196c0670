//! A client of the provider of a connection.

use super::Connection;
use crate::failure::{Failure, causes};
use crate::input;
use crate::keys::file;
use bankrail::client::{Client, ClientOptions, ClientOptionsError, Credentials, TlsRoots};
use bankrail::client_assertion::CustomerCode;
use bankrail::client_assertion::token::ScopeSet;

/// The bytes of a file of certificate authorities that are read.
const MOST_ROOTS: usize = 4 << 20;

impl Connection {
    /// A client of the provider, with further options.
    pub(crate) fn client(&self, mut options: ClientOptions) -> Result<Client, Failure> {
        let wrong = |name: &str, error: &dyn std::error::Error| {
            Failure::unable(format_args!("{name}: {}", causes(error)), "correct it")
        };
        let customer = CustomerCode::parse(&self.customer).map_err(|error| wrong("customer code", &error))?;
        let key = file::signing(&self.signing_key.to_string_lossy(), self.signing_kid.as_deref());
        let key = key.map_err(Failure::into_unable)?;
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
            let scopes = ScopeSet::parse(&self.scopes.join(" ")).map_err(|error| wrong("scopes", &error))?;
            options = options.scopes(scopes);
        }
        if let Some(roots) = &self.roots {
            options = options.tls_roots(TlsRoots::OnlyPem(input::read(&roots.to_string_lossy(), MOST_ROOTS)?.to_vec()));
        }
        let credentials = Credentials::new(customer, key, self.api_key.clone());
        Client::new(credentials, &self.base_url, options).map_err(|error| unusable(&error))
    }
}

fn unusable(error: &ClientOptionsError) -> Failure {
    let next = match error {
        ClientOptionsError::BaseUrl(_) | ClientOptionsError::AuthUrl(_) => {
            "give the address as the provider does, such as https://bank.example"
        }
        ClientOptionsError::ApiKey => "give the API key without spaces and line ends",
        ClientOptionsError::ApiKeyHeader { .. } => "give the name that the provider uses, such as apikey",
        ClientOptionsError::Tls(_) => "give the provider's certificate authorities as PEM",
        _ => "correct the connection",
    };
    Failure::unable(causes(error), next)
}
