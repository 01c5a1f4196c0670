//! The rules of a directory.

use crate::{ApiKeyHash, Directory};
use bankrail_client_assertion::CustomerCode;

/// Queries a directory for the customers of these API keys, and for unknown keys.
///
/// `known` has every API key of some customers, each with the code of its customer.
///
/// # Panics
/// With the rule that the directory breaks.
pub async fn directory_suite<D: Directory + ?Sized>(
    directory: &D,
    known: &[(&[u8], CustomerCode)],
) {
    assert!(!known.is_empty(), "the suite needs a customer");
    let find = async |key: &[u8]| {
        directory
            .customer_by_api_key(ApiKeyHash::of(key))
            .await
            .expect("a customer or none")
    };
    // Twice, because an answer must not change what is known.
    for (key, code) in known.iter().chain(known) {
        let customer = find(key)
            .await
            .expect("a key that was given to a customer finds the customer");
        assert_eq!(
            customer.code, *code,
            "a key finds the customer that it was given to"
        );
        assert!(
            !customer.keys.keys().is_empty(),
            "a customer has a public key, or no assertion could be verified"
        );
        assert!(
            customer.scopes.len() > 0,
            "a customer has a scope, or no token could be issued"
        );
    }
    for (key, _) in known {
        for other in [
            &[*key, b"x"].concat(),
            &key[..key.len().saturating_sub(1)],
            &key.to_ascii_uppercase(),
        ] {
            if known.iter().all(|(known, _)| *known != other) {
                assert!(
                    find(other).await.is_none(),
                    "a key is compared as a whole and byte for byte"
                );
            }
        }
    }
    assert!(find(b"").await.is_none(), "nobody has the empty key");
    let hashed = known
        .first()
        .map(|(key, _)| *ApiKeyHash::of(key).as_bytes())
        .unwrap_or_default();
    assert!(find(&hashed).await.is_none(), "the stored hash is no key");
}
