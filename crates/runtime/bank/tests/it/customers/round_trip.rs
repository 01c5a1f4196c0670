//! Records that are written as TOML and read again.

use super::fixture::{Folder, client_certificate, encryption_key, verifying_key};
use crate::engines::{Customers as _, Engine, Postgres, Sqlite};
use bankrail_bank::{
    ApiKeyRecord, CustomerRecord, CustomerSet, CustomerSource as _, EndpointRecord, LimitOverride,
};
use bankrail_client_assertion::token::ScopeSet;
use bankrail_jose::KeySet;
use bankrail_rate_limit::{CallType, Window};
use bankrail_service::delivery::{ClientCertificate, EndpointUrl, MissingAcknowledgement};
use bankrail_service::{ApiKeyHash, Customer, RegisteredAccount};
use bankrail_values::{Currency, Timestamp};
use bankrail_webhook::MessageKind;
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn instant() -> impl Strategy<Value = Timestamp> {
    (-62_000_000_000_000_i64..253_000_000_000_000).prop_map(Timestamp::saturating_from_unix_millis)
}

fn customer() -> impl Strategy<Value = Customer> {
    let kids = prop_oneof![
        Just(vec![None]),
        Just(vec![None, None]),
        vec("[ -~é]{1,9}".prop_map(Some), 1..4)
    ];
    ("[!-`]{1,64}", vec("[A-Z.]{1,9}", 1..4), kids).prop_map(|(code, scopes, mut kids)| {
        kids.sort();
        kids.dedup_by(|a, b| a.is_some() && a == b);
        let keys = kids.into_iter().enumerate().map(|(at, kid)| match kid {
            Some(kid) => verifying_key(at % 2).with_kid(kid),
            None => verifying_key(at % 2),
        });
        let scopes = ScopeSet::parse(&scopes.join(" ")).unwrap();
        Customer::new(code.parse().unwrap(), KeySet::new(keys).unwrap(), scopes)
    })
}

fn api_key() -> impl Strategy<Value = ApiKeyRecord> {
    (
        any::<[u8; 32]>(),
        option::of(instant()),
        option::of(instant()),
    )
        .prop_map(|(hash, from, until)| {
            let mut key = ApiKeyRecord::new(ApiKeyHash::from_bytes(hash));
            key.not_before = from;
            key.expires = until.filter(|until| from.is_none_or(|from| from < *until));
            key
        })
}

fn limit(call_type: CallType) -> impl Strategy<Value = LimitOverride> {
    let count = || option::of(1..1_250_999_896_u32);
    ([count(), count(), count()], option::of(instant())).prop_map(
        move |([hour, minute, second], until)| {
            let hour = hour.map(|limit| Window::per_hour(limit).unwrap());
            let minute = minute.map(|limit| Window::per_minute(limit).unwrap());
            let second = second.map(|limit| Window::per_second(limit).unwrap());
            let windows: Vec<Window> = hour.into_iter().chain(minute).chain(second).collect();
            let limit = LimitOverride::new(call_type, &windows)
                .unwrap_or(LimitOverride::unlimited(call_type));
            match until {
                Some(until) => limit.until(until),
                None => limit,
            }
        },
    )
}

fn account() -> impl Strategy<Value = RegisteredAccount> {
    let text = |max| {
        option::of(vec(
            any::<char>().prop_filter("printed", |c| !c.is_control()),
            1..max,
        ))
    };
    (0..3_usize, text(71), any::<bool>(), text(36)).prop_map(
        |(currency, name, virtual_accounts, source)| {
            let mut account =
                RegisteredAccount::new([Currency::AUD, Currency::USD, Currency::VND][currency]);
            account.name = name.map(|name| name.into_iter().collect());
            account.reporting_source = source.map(|source| source.into_iter().collect());
            if virtual_accounts {
                account.with_virtual_accounts()
            } else {
                account
            }
        },
    )
}

fn endpoint() -> impl Strategy<Value = EndpointRecord> {
    let paths = vec((0..4_usize, "/[!-\"$->@-~]{0,20}"), 0..3);
    let api_key = option::of(("[a-z]{3,9}-[a-z]{3,9}", "[ -~é]{1,20}"));
    (
        "[ -~]{1,20}",
        paths,
        api_key,
        option::of("[ -~]{1,9}"),
        any::<bool>(),
        option::of(any::<bool>()),
    )
        .prop_map(|(id, paths, api_key, kid, has_certificate, lenient)| {
            let key = match kid {
                Some(kid) => encryption_key().clone().with_kid(kid),
                None => encryption_key().clone(),
            };
            let url = EndpointUrl::parse("https://biller.example/hooks").unwrap();
            let mut endpoint = EndpointRecord::new(id.parse().unwrap(), url, key);
            for (kind, path) in paths {
                endpoint = endpoint.with_path(MessageKind::ALL[kind], path);
            }
            if has_certificate {
                let certificate = ClientCertificate::from_pem(client_certificate()).unwrap();
                endpoint = endpoint.with_client_certificate(certificate);
            }
            if let Some(lenient) = lenient {
                endpoint = endpoint.with_missing_acknowledgement(match lenient {
                    true => MissingAcknowledgement::Delivered,
                    false => MissingAcknowledgement::Failed,
                });
            }
            match api_key {
                Some((header, value)) => endpoint.with_api_key_in(&header, value.into()).unwrap(),
                None => endpoint,
            }
        })
}

fn record() -> impl Strategy<Value = CustomerRecord> {
    let limits = (0..CallType::ALL.len()).prop_flat_map(|at| limit(CallType::ALL[at]));
    let accounts = btree_map("[A-Za-z0-9.]{1,34}", account(), 0..4);
    let parts = (
        vec(api_key(), 0..4),
        vec(limits, 0..4),
        accounts,
        vec(endpoint(), 0..3),
    );
    (customer(), parts).prop_map(
        |(customer, (api_keys, mut limits, accounts, mut endpoints))| {
            limits.sort_by_key(|limit| (limit.call_type(), limit.ends().is_some()));
            limits.dedup_by_key(|limit| (limit.call_type(), limit.ends().is_some()));
            endpoints.sort_by_key(|endpoint| endpoint.id().to_string());
            endpoints.dedup_by_key(|endpoint| endpoint.id().to_string());
            let mut record = CustomerRecord::new(customer);
            record.api_keys = api_keys;
            record.limits = limits;
            record.accounts = accounts
                .into_iter()
                .map(|(id, account)| (id.parse().unwrap(), account))
                .collect();
            record.endpoints = endpoints;
            record
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn to_toml_and_back(record in record()) {
        let text = record.to_toml();
        let read = CustomerRecord::from_toml("nowhere/A.toml", &text);
        prop_assert_eq!(read.as_ref().ok(), Some(&record), "{:?}\n{}", read.as_ref().err(), *text);
        prop_assert_eq!(read.unwrap().to_toml(), text);
    }

    #[test]
    fn to_sqlite_and_back(records in vec(record(), 1..3)) {
        to_store_and_back::<Sqlite>(records);
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,60}", more in "[\\[\\]a-z_=\"'{}0-9.,# \n-]{0,90}") {
        let folder = Folder::empty();
        for text in [&text, &more, &super::fixture::customer("ACME", "acme", &["k"], &more)] {
            let _ = CustomerRecord::from_toml(folder.path("A.toml"), text);
        }
    }
}

fn to_store_and_back<E: Engine>(records: Vec<CustomerRecord>) {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(async {
            let directory = E::new().await.directory(Default::default());
            let mut known = BTreeMap::new();
            for record in records {
                // A customer who clashes with one before changes nothing.
                if directory.put(record.clone()).await.is_ok() {
                    known.insert(record.customer.code.clone(), record);
                }
            }
            assert_eq!(
                *directory.customers().await.unwrap(),
                CustomerSet::new(known.into_values()).unwrap()
            );
        });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    #[ignore = "needs postgresql"]
    fn to_postgres_and_back(records in vec(record(), 1..3)) {
        to_store_and_back::<Postgres>(records);
    }
}
