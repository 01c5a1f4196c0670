//! Certificates as containers of keys. The certificates were made for these tests; their private
//! keys do not exist any more.

use bankrail_jose::{Certificate, KeyError, PublicKey, VerifyingKey};
use bankrail_values::Timestamp;
use proptest::prelude::*;

const RSA: &str = "\
-----BEGIN CERTIFICATE-----
MIIDATCCAemgAwIBAgIUPmHApTBXwCrP47znSs32Ms1E4UMwDQYJKoZIhvcNAQEL
BQAwDzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjEwNjQ2NTJaGA8yMTI2MTAyODA2
NDY1MlowDzENMAsGA1UEAwwEdGVzdDCCASIwDQYJKoZIhvcNAQEBBQADggEPADCC
AQoCggEBAJmdl104krc0L9T+nuCOrkWwuhNlZ5MHnVIYStpCtCaWugxHnZqRYrbV
+hgzJxzVKfWlvrb0FF6cIjmpYM25ZO+5p19vu15bXGHU4IFP12EF8Kyzs6QWAzBz
Y7rBfYuMzjgvq1+4I/L8MCXwspX+Ho2dsxx/fP7nklEjFCa/1uOz5o3KJqTWLfwR
og3ejbwP3jRoG/SAvJ8+6C17FTMr+fLgvbCT1avSzxeAkk0W18IjVx1KeGsVs3Zu
iXU24CLa0GD4/HbXR1i5ocT683BQMzESUKmsIaoWYEI2iDvhuZX/dv4uT42g3VKe
KhBAkhwlYn7UVLcKzHQsYjQaoQ84Re0CAwEAAaNTMFEwHQYDVR0OBBYEFBxWFsiX
eK7mKnUjSWVRoFWIiHWvMB8GA1UdIwQYMBaAFBxWFsiXeK7mKnUjSWVRoFWIiHWv
MA8GA1UdEwEB/wQFMAMBAf8wDQYJKoZIhvcNAQELBQADggEBAHzpTJAtCwj70C7/
1P6OPFelHKQH3BdhpaJu5jW6eBQ3f4Kfoc1fhOm0ZcU2l2xmZwMVJYXCb2K8INWM
xfDXltt0chizztdbxttBlgKW15HhLzdXmQAvUKdiJcS+zj5IybdcBlCfHV437tkA
gWCI8kq7TtIc5cmqEewS0JV2X9Y4LfcFiIzKjB0Vpf9Sy8MVcpSwjpOx0xiXyrKR
QDlEnhHc1jmV4FvfH/A+nONWmDchzUtqoImI0AGc6pMVRSa6Io97oXhPFs6cVmR6
bZyEAqBGCwfGydMxTjYWTrRA4QE/wlOtBQUclWfaoDEdXjrp8mUXIBctYP5FV3bM
dKPOr2o=
-----END CERTIFICATE-----
";

const RSA_KEY: &str = "\
-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAmZ2XXTiStzQv1P6e4I6u
RbC6E2VnkwedUhhK2kK0Jpa6DEedmpFittX6GDMnHNUp9aW+tvQUXpwiOalgzblk
77mnX2+7XltcYdTggU/XYQXwrLOzpBYDMHNjusF9i4zOOC+rX7gj8vwwJfCylf4e
jZ2zHH98/ueSUSMUJr/W47PmjcompNYt/BGiDd6NvA/eNGgb9IC8nz7oLXsVMyv5
8uC9sJPVq9LPF4CSTRbXwiNXHUp4axWzdm6JdTbgItrQYPj8dtdHWLmhxPrzcFAz
MRJQqawhqhZgQjaIO+G5lf92/i5PjaDdUp4qEECSHCViftRUtwrMdCxiNBqhDzhF
7QIDAQAB
-----END PUBLIC KEY-----
";

const EC: &str = "\
-----BEGIN CERTIFICATE-----
MIIBbTCCAROgAwIBAgIUN0r8DMuMFsxFszCH5je0MZtZDpQwCgYIKoZIzj0EAwIw
DDEKMAgGA1UEAwwBdDAeFw0yNjExMjEwNjQ2NTJaFw0yNjEyMDEwNjQ2NTJaMAwx
CjAIBgNVBAMMAXQwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASwjRCzIXsWeEo2
BpycjcOneRAOUnNIett68Y9YnlxdKQiKo+7dizr1gcNkMnIsgr15Sgrd6RlZbxMa
8W9GX81yo1MwUTAdBgNVHQ4EFgQU/M/zhGj9RxE2po6W2xDnFpO6r50wHwYDVR0j
BBgwFoAU/M/zhGj9RxE2po6W2xDnFpO6r50wDwYDVR0TAQH/BAUwAwEB/zAKBggq
hkjOPQQDAgNIADBFAiByEGIX1xVrehd76XBAzBefO85Xl2AlOG1Oklg/x0u5nQIh
AOnEBkbdw2gnIVFAoWv030MbLbMk1JhjsXvEKjLtg03P
-----END CERTIFICATE-----
";

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

#[test]
fn a_certificate_gives_its_key_and_its_dates() {
    let certificate = Certificate::from_pem(RSA).unwrap();
    assert_eq!(
        *certificate.public_key(),
        PublicKey::from_pem(RSA_KEY).unwrap()
    );
    assert_eq!(certificate.not_before(), at("2026-11-21T06:46:52.000Z"));
    assert_eq!(certificate.not_after(), at("2126-10-28T06:46:52.000Z"));
    for (now, valid) in [
        ("2026-11-21T06:46:51.999Z", false),
        ("2026-11-21T06:46:52.000Z", true),
        ("2126-10-28T06:46:52.999Z", true),
        ("2126-10-28T06:46:53.000Z", false),
    ] {
        assert_eq!(certificate.is_valid_at(at(now)), valid, "{now}");
    }
    let key = VerifyingKey::from_pem(RSA).unwrap();
    assert_eq!(key.to_spki_pem(), RSA_KEY);
}

/// Certificate authorities give out files with such chains.
#[test]
fn a_chain_gives_the_key_of_its_first_certificate() {
    for chain in [
        [RSA, RSA].concat(),
        [RSA, EC, EC].concat(),
        format!("subject: test\n{RSA}\nissuer: other\n{EC}"),
    ] {
        assert_eq!(
            *Certificate::from_pem(&chain).unwrap().public_key(),
            PublicKey::from_pem(RSA_KEY).unwrap()
        );
        assert_eq!(
            VerifyingKey::from_pem(&chain).unwrap().to_spki_pem(),
            RSA_KEY
        );
    }
    assert!(matches!(
        Certificate::from_pem(&[EC, RSA].concat()),
        Err(KeyError::NotRsa)
    ));
}

#[test]
fn what_is_not_a_certificate_of_an_rsa_key_is_refused() {
    assert!(matches!(Certificate::from_pem(EC), Err(KeyError::NotRsa)));
    assert!(matches!(
        Certificate::from_pem(RSA_KEY),
        Err(KeyError::UnexpectedLabel { .. })
    ));
    for mixed in [
        [RSA, RSA_KEY].concat(),
        [RSA, EC, RSA_KEY].concat(),
        [RSA_KEY, RSA].concat(),
        RSA_KEY.repeat(2),
    ] {
        assert!(matches!(
            PublicKey::from_pem(&mixed),
            Err(KeyError::NotPem { .. })
        ));
    }
    let spki = PublicKey::from_pem(RSA_KEY).unwrap().to_spki_der();
    assert!(matches!(
        Certificate::from_der(&spki),
        Err(KeyError::NotDer { .. })
    ));
}

proptest! {
    #[test]
    fn changed_certificates_never_panic(at in any::<prop::sample::Index>(), character in "[A-Za-z0-9+/=]") {
        let at = 30 + at.index(RSA.len() - 60);
        let _ = Certificate::from_pem(&[&RSA[..at], &character, &RSA[at + 1..]].concat());
    }
}
