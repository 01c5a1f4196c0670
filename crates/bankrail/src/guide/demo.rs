// For the guide's blocks: what `bankrail provider` would have made for a demo customer. A fake bank
// on loopback whose clock stands at the time of its start, and the customer's folder beside it.

/// The bank and the customer's folder, which ends with the guard.
async fn demo() -> (
    bankrail_emulator::FakeBank,
    std::path::PathBuf,
    tempfile::TempDir,
) {
    use bankrail::client::TlsRoots;
    use bankrail_emulator::{Booking, CertificateAuthority, FakeBank, FakeBankOptions};
    use bankrail::jose::{KeySet, RsaSize, SigningKey};
    use bankrail::service::{ApiKeyHash, Customer};
    use bankrail::values::{Clock as _, SystemClock};

    let bank = FakeBank::start_with(FakeBankOptions::new().start(SystemClock.now())).await;
    let key = SigningKey::generate(RsaSize::Rsa2048).unwrap();
    let scopes = "GBL.INSTO.ACCOUNTS.STATEMENT.READ".parse().unwrap();
    let keys = KeySet::new([key.verifying_key()]).unwrap();
    let customer = Customer::new(FakeBank::CUSTOMER.parse().unwrap(), keys, scopes);
    bank.directory()
        .insert(ApiKeyHash::of(b"demo-api-key"), customer);
    let entries = [
        ("1250.00 AUD", "Invoice 2041 👍"),
        ("-89.95 AUD", "Quarter 3, meter 77"),
        ("-15.00 AUD", "Fee"),
    ];
    for (amount, narrative) in entries {
        bank.book(&bank.account(), &Booking::new(amount).narrative(narrative));
    }

    let guard = tempfile::tempdir().unwrap();
    let folder = guard.path().to_owned();
    let write = |name: &str, text: &[u8]| std::fs::write(folder.join(name), text).unwrap();
    let TlsRoots::OnlyPem(roots) = bank.roots() else {
        panic!("the bank has a certificate of its own")
    };
    write("ca.pem", &roots);
    write("signing.pem", key.to_pkcs8_pem().as_bytes());
    write(
        "decryption.pem",
        bank.decryption_keys()[0].to_pkcs8_pem().as_bytes(),
    );
    write("provider.jwks.json", bank.jwk_set().as_bytes());
    let own = CertificateAuthority::new()
        .unwrap()
        .certificate_for("localhost")
        .unwrap();
    write("receiver.pem", own.chain_pem.as_bytes());
    write("receiver-key.pem", own.key_pem.as_bytes());
    let connection = format!(
        r#"base_url = "{}"
customer = "{}"
api_key = "demo-api-key"
signing_key = "signing.pem"
roots = "ca.pem"
accounts = ["{}"]

[receivers]
listen = "127.0.0.1:0"
certificate = "receiver.pem"
certificate_key = "receiver-key.pem"
api_key = "{}"
decryption_key = "decryption.pem"
provider_keys = "provider.jwks.json"
"#,
        bank.url(),
        FakeBank::CUSTOMER,
        FakeBank::ACCOUNT,
        FakeBank::RECEIVER_API_KEY,
    );
    write("connection.toml", connection.as_bytes());
    (bank, folder, guard)
}
