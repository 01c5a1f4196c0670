//! A directory of customers and what follows it, against their number.

use crate::Curve;
use bankrail_bank::{
    ApiKeyRecord, CustomerRecord, CustomerSet, CustomerSource, DirectoryFollower, SqlDirectory,
    SqlDirectoryOptions,
};
use bankrail_jose::{KeySet, RsaSize, SigningKey, VerifyingKey};
use bankrail_rate_limit::{Limiter, Limits, MemoryCounters};
use bankrail_service::{ApiKeyHash, Customer, Directory};
use std::sync::Arc;
use std::time::Instant;

macro_rules! over {
    ($curve:ident, $name:literal, $key:ident, $store:expr) => {{
        let store = $store;
        for size in $curve.sizes() {
            let records: Vec<_> = (0..size).map(|number| record(number, &$key)).collect();
            let customers = Arc::new(CustomerSet::new(records).unwrap());
            let begun = Instant::now();
            let directory = SqlDirectory::new(store.clone(), SqlDirectoryOptions::new());
            directory.import(customers).await.unwrap();
            let each = crate::micros(begun.elapsed()) / size as f64;
            $curve.point(concat!($name, ", import, for each"), size, "µs", each);
            // A provider that starts.
            let directory = SqlDirectory::new(store.clone(), SqlDirectoryOptions::new());
            let limiter = Limiter::new(Limits::default(), Arc::new(MemoryCounters::default()));
            let mut follower = DirectoryFollower::new().limiter(Arc::new(limiter));
            let begun = Instant::now();
            follower
                .apply(&*directory.customers().await.unwrap())
                .await
                .unwrap();
            $curve.point(
                concat!($name, ", start, all"),
                size,
                "µs",
                crate::micros(begun.elapsed()),
            );
            let mut number = 0;
            $curve
                .time(
                    concat!($name, ", a change of one, followed"),
                    size,
                    5,
                    async || {
                        directory.put(record(number, &$key)).await.unwrap();
                        number += 1;
                        follower
                            .apply(&*directory.customers().await.unwrap())
                            .await
                            .unwrap();
                    },
                )
                .await;
            $curve
                .time(
                    concat!($name, ", a lookup by API key"),
                    size,
                    101,
                    async || {
                        number = (number + 7919) % size;
                        assert!(
                            directory
                                .customer_by_api_key(api_key(number))
                                .await
                                .unwrap()
                                .is_some()
                        );
                    },
                )
                .await;
        }
    }};
}

pub(crate) async fn measure(curve: &Curve<'_>) {
    let key = SigningKey::generate(RsaSize::Rsa2048)
        .unwrap()
        .verifying_key();
    let (store, _folder) = crate::sqlite();
    over!(curve, "SQLite", key, store);
    if let Some((store, shorter)) = crate::postgres(curve, "scale_customers").await {
        over!(shorter, "PostgreSQL", key, store);
    }
}

fn record(number: u64, key: &VerifyingKey) -> CustomerRecord {
    let code = format!("CUSTOMER{number:07}").parse().unwrap();
    let keys = KeySet::new([key.clone()]).unwrap();
    let mut record =
        CustomerRecord::new(Customer::new(code, keys, "statement:read".parse().unwrap()));
    record.api_keys.push(ApiKeyRecord::new(api_key(number)));
    record
}

fn api_key(number: u64) -> ApiKeyHash {
    ApiKeyHash::of(format!("api-key-{number}").as_bytes())
}
