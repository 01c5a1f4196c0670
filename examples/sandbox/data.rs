//! The files that `serve` keeps between runs, some of them for the customer's programs.

use crate::bank::CUSTOMER;
use crate::files::{make_private_folder, write_private};
use crate::keys::Keys;
use crate::tls::Certificates;
use bankrail::client_assertion::{AssertionBuilder, AssertionOptions, Audience};
use bankrail::values::{Clock as _, HyphenatedUuid, SystemClock};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The folder of `serve`.
#[derive(Debug)]
pub(crate) struct Data {
    pub(crate) folder: PathBuf,
    pub(crate) keys: Keys,
    pub(crate) certificates: Certificates,
}

impl Data {
    /// Opens the folder, and makes the files that are missing.
    pub(crate) fn open(folder: &Path) -> Result<Self, Box<dyn Error>> {
        make_private_folder(folder)?;
        let folder = folder.canonicalize()?;
        let keys = Keys::in_folder(&folder)?;
        let certificates = Certificates::in_folder(&folder)?;
        Ok(Self { folder, keys, certificates })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The secret text with this name. It is made when it is first requested.
    pub(crate) fn secret(&self, name: &str) -> Result<String, Box<dyn Error>> {
        let path = self.path(name);
        if !path.exists() {
            write_private(&path, &HyphenatedUuid::from(uuid::Uuid::new_v4()).to_string())?;
        }
        Ok(fs::read_to_string(path)?)
    }

    /// A new assertion of the customer, valid for an hour.
    pub(crate) fn assertion(&self, audience: &Audience) -> Result<String, Box<dyn Error>> {
        let options = AssertionOptions::new().lifetime(Duration::from_secs(3600));
        let builder = AssertionBuilder::new(CUSTOMER.parse()?, audience.clone()).with_options(options);
        Ok(builder.sign(&self.keys.assertion, SystemClock.now())?)
    }
}
