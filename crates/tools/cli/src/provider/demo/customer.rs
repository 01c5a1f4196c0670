//! The demo customers.

use super::{api_key_record, new_api_key, no_certificate, no_key, to_toml};
use crate::failure::{Failure, causes};
use crate::files::NewFile;
use crate::keys::jwk_set;
use bankrail::bank::{CustomerRecord, EndpointRecord};
use bankrail::client::{Connection, ReceiverConnection};
use bankrail::client_assertion::token::names;
use bankrail::jose::{DecryptionKey, KeySet, RsaSize, SigningKey};
use bankrail::service::delivery::EndpointUrl;
use bankrail::service::{Customer, RegisteredAccount};
use bankrail::statement::AccountId;
use bankrail::values::{Currency, SecretString};
use bankrail_emulator::{CertificateAuthority, TestAccount};
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

/// A demo customer.
#[derive(Clone, Copy, Debug)]
pub(super) struct DemoCustomer {
    code: &'static str,
    /// The loopback port at which the customer's receivers are expected.
    port: u16,
    accounts: fn() -> Vec<(AccountId, RegisteredAccount)>,
}

const SCOPES: [&str; 4] = [
    names::STATEMENT_READ,
    names::MANDATE_WRITE,
    names::MANDATE_READ,
    names::PAYMENT_INSTRUCTION_WRITE,
];

impl DemoCustomer {
    /// The demo customers: one with the test accounts, and one whose account the first one may not
    /// see.
    pub(super) const ALL: [Self; 2] = [
        Self {
            code: "DEMOCUSTOMER",
            port: 9443,
            accounts: test_accounts,
        },
        Self {
            code: "OTHERCUSTOMER",
            port: 9444,
            accounts: other_account,
        },
    ];

    pub(super) fn folder_name(&self) -> String {
        self.code.to_ascii_lowercase()
    }

    /// Returns the customer's record, and the files in the folder `home` that the customer's
    /// programs need.
    pub(super) fn make(
        &self,
        home: &Path,
        authority: &CertificateAuthority,
    ) -> Result<(CustomerRecord, Vec<NewFile>), Failure> {
        let signing = SigningKey::generate(RsaSize::Rsa2048).map_err(no_key)?;
        let decryption = DecryptionKey::generate(RsaSize::Rsa2048).map_err(no_key)?;
        let (api_key, receiver_key) = (new_api_key()?, new_api_key()?);
        let receiver = authority.certificate(None).map_err(no_certificate)?;
        let accounts = (self.accounts)();
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let record = || -> Result<CustomerRecord, Box<dyn Error>> {
            let keys = KeySet::new([signing.verifying_key()])?;
            let mut record = CustomerRecord::new(Customer::new(
                self.code.parse()?,
                keys,
                SCOPES.join(" ").parse()?,
            ));
            record.api_keys.push(api_key_record(&api_key));
            record.accounts.clone_from(&accounts);
            let url = EndpointUrl::parse(&format!("https://127.0.0.1:{}", self.port))?;
            let endpoint = EndpointRecord::new(
                self.folder_name().parse()?,
                url,
                decryption.encryption_key(),
            );
            record
                .endpoints
                .push(endpoint.with_api_key(SecretString::from(receiver_key.as_str()))?);
            Ok(record)
        };
        let record = record().map_err(|error| {
            Failure::unable(
                format_args!("a demo customer cannot be made: {}", causes(&*error)),
                "report it",
            )
        })?;
        // The provider writes its own address later, when it knows it.
        let mut connection = Connection::new(
            "https://localhost:8443",
            record.customer.code.clone(),
            api_key.as_str().into(),
        );
        connection.api_key_header = Some("apikey".to_owned());
        connection.scopes = SCOPES.map(str::to_owned).to_vec();
        connection.roots = Some("ca.pem".into());
        connection.accounts = accounts.into_iter().map(|(id, _)| id).collect();
        connection.receivers = Some(ReceiverConnection::new(
            listen,
            receiver_key.as_str().into(),
        ));
        let (public, encryption) = (signing.verifying_key(), decryption.encryption_key());
        let keys = [
            public.clone().with_kid(public.thumbprint()).to_jwk(),
            encryption
                .clone()
                .with_kid(encryption.thumbprint())
                .to_jwk(),
        ];
        let files = vec![
            NewFile::private(home.join("connection.toml"), to_toml(&connection)?),
            NewFile::private(home.join("signing.pem"), signing.to_pkcs8_pem()),
            NewFile::public(home.join("signing.pub.pem"), public.to_spki_pem()),
            NewFile::public(
                home.join("signing.jwks.json"),
                format!("{}\n", jwk_set(&keys)),
            ),
            NewFile::private(home.join("decryption.pem"), decryption.to_pkcs8_pem()),
            NewFile::public(home.join("encryption.pub.pem"), encryption.to_spki_pem()),
            NewFile::public(home.join("receiver.pem"), receiver.chain_pem),
            NewFile::private(home.join("receiver-key.pem"), receiver.key_pem),
        ];
        Ok((record, files))
    }
}

fn test_accounts() -> Vec<(AccountId, RegisteredAccount)> {
    TestAccount::ALL
        .iter()
        .map(|account| (account.id(), account.registered()))
        .collect()
}

fn other_account() -> Vec<(AccountId, RegisteredAccount)> {
    let id = AccountId::parse("999001400200201").expect("a constant that is an account identifier");
    vec![(id, RegisteredAccount::new(Currency::AUD))]
}
