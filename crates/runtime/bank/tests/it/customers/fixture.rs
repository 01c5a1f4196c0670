//! Records and folders of customers.

use crate::world::keys;
use bankrail_bank::{CustomerFolder, CustomerFolderOptions, CustomerRecord};
use bankrail_jose::{DecryptionKey, EncryptionKey, RsaSize, VerifyingKey};
use bankrail_service::ApiKeyHash;
use bankrail_values::{Clock, ManualClock};
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

/// Returns a public key that messages are encrypted for, made once.
pub(crate) fn encryption_key() -> &'static EncryptionKey {
    static KEY: OnceLock<EncryptionKey> = OnceLock::new();
    KEY.get_or_init(|| {
        DecryptionKey::generate(RsaSize::Rsa2048)
            .unwrap()
            .encryption_key()
    })
}

/// Returns a client certificate and its key as one PEM text, made once.
pub(crate) fn client_certificate() -> &'static str {
    static PEM: LazyLock<String> = LazyLock::new(|| {
        let made = rcgen::generate_simple_self_signed(["bank".to_owned()]).unwrap();
        made.cert.pem() + &made.signing_key.serialize_pem()
    });
    &PEM
}

pub(crate) fn verifying_key(of: usize) -> VerifyingKey {
    keys()[of].verifying_key()
}

pub(crate) const TIME: &str = "2026-11-22T00:00:00.000Z";

/// A folder with key files and no customer.
pub(crate) struct Folder {
    folder: tempfile::TempDir,
    pub(crate) clock: Arc<ManualClock>,
}

impl Folder {
    pub(crate) fn new() -> Self {
        let made = Self::empty();
        made.write("acme.pem", &verifying_key(0).to_spki_pem());
        made.write("beta.pem", &verifying_key(1).to_spki_pem());
        made.write("encryption.pem", &encryption_key().to_spki_pem());
        made
    }

    pub(crate) fn empty() -> Self {
        let clock = Arc::new(ManualClock::new(TIME.parse().unwrap()));
        Self {
            folder: tempfile::tempdir().unwrap(),
            clock,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }

    /// Returns options with which each lookup reads the present files.
    pub(crate) fn options(&self) -> CustomerFolderOptions {
        CustomerFolderOptions::new()
            .interval(Duration::ZERO)
            .clock(Arc::clone(&self.clock) as Arc<dyn Clock>)
    }

    pub(crate) fn open(&self) -> CustomerFolder {
        CustomerFolder::open(self.folder.path(), self.options()).unwrap()
    }

    /// Returns the reason why the folder is refused, without the path of the folder.
    pub(crate) fn refused(&self) -> String {
        self.shown(CustomerFolder::open(self.folder.path(), self.options()).unwrap_err())
    }

    /// Removes the path of the folder from a text.
    pub(crate) fn shown(&self, text: impl ToString) -> String {
        let path = self.folder.path().display().to_string();
        text.to_string()
            .replace(&format!("{path}/"), "")
            .replace(&path, "FOLDER")
    }
}

/// Writes a customer's file with these API keys and with more text.
pub(crate) fn customer(code: &str, key: &str, api_keys: &[&str], more: &str) -> String {
    let mut text = format!(
        "code = \"{code}\"\nscopes = [\"GBL.INSTO.ACCOUNTS.STATEMENT.READ\"]\n[[keys]]\nfile = \"{key}.pem\"\n"
    );
    for key in api_keys {
        text.push_str(&format!(
            "[[api_keys]]\nsha256 = \"{}\"\n",
            ApiKeyHash::of(key.as_bytes())
        ));
    }
    text + more
}

/// Makes the record of a customer's text, with key files where [`Folder::new`] puts them.
pub(crate) fn record(code: &str, api_keys: &[&str], more: &str) -> CustomerRecord {
    let folder = Folder::new();
    CustomerRecord::from_toml(
        folder.path("X.toml"),
        &customer(code, "acme", api_keys, more),
    )
    .unwrap()
}
