//! A record while it is being read.

use crate::customers::EndpointRecord;
use crate::customers::check::{Parts, Places};
use crate::customers::{ApiKeyRecord, CustomerRecord, LimitOverride, Place, RecordPart};
use bankrail_client_assertion::CustomerCode;
use bankrail_client_assertion::token::ScopeSet;
use bankrail_jose::{KeySet, VerifyingKey};
use bankrail_service::{Customer, RegisteredAccount};
use bankrail_statement::AccountId;

/// The parts of a record that could be read, each with its place.
#[derive(Debug)]
pub(in crate::customers) struct Draft {
    pub(super) file: Place,
    pub(super) code: Option<(CustomerCode, Place)>,
    pub(super) keys: Option<KeySet<VerifyingKey>>,
    pub(super) scopes: Option<ScopeSet>,
    pub(super) api_keys: List<ApiKeyRecord>,
    pub(super) limits: List<LimitOverride>,
    pub(super) accounts: List<(AccountId, RegisteredAccount)>,
    pub(super) endpoints: List<EndpointRecord>,
}

/// Things and the place of each.
pub(super) type List<T> = (Vec<T>, Vec<Place>);

impl Draft {
    /// What can be checked.
    pub(in crate::customers) fn parts(&self) -> Parts<'_> {
        Parts {
            code: self.code.as_ref().map(|(code, _)| code),
            api_keys: &self.api_keys.0,
            limits: &self.limits.0,
            accounts: &self.accounts.0,
            endpoints: &self.endpoints.0,
        }
    }

    /// The record, unless a part is missing that each has. The places stay.
    pub(in crate::customers) fn take_record(&mut self) -> Option<CustomerRecord> {
        if self.code.is_none() || self.keys.is_none() || self.scopes.is_none() {
            return None;
        }
        let ((code, _), keys, scopes) =
            (self.code.clone()?, self.keys.take()?, self.scopes.take()?);
        Some(CustomerRecord {
            customer: Customer::new(code, keys, scopes),
            api_keys: std::mem::take(&mut self.api_keys.0),
            limits: std::mem::take(&mut self.limits.0),
            accounts: std::mem::take(&mut self.accounts.0),
            endpoints: std::mem::take(&mut self.endpoints.0),
        })
    }
}

impl Places for Draft {
    fn of(&self, part: RecordPart) -> Place {
        let place = match part {
            RecordPart::Code => self.code.as_ref().map(|(_, place)| place),
            RecordPart::ApiKey(at) => self.api_keys.1.get(at),
            RecordPart::Limit(at) => self.limits.1.get(at),
            RecordPart::Account(at) => self.accounts.1.get(at),
            RecordPart::Endpoint(at) => self.endpoints.1.get(at),
        };
        place.unwrap_or(&self.file).clone()
    }
}
