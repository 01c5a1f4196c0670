use crate::{Folder, run, run_with, text};
use std::fs;

fn generate(folder: &Folder) -> String {
    let keys = text(&folder.path("keys"));
    run(["keys", "generate", &keys]).fine();
    keys
}

#[cfg(unix)]
fn mode(path: &str) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions()) & 0o777
}

#[test]
fn private_keys_are_made_for_their_owner_alone_and_never_overwritten() {
    let folder = Folder::new();
    let keys = generate(&folder);
    #[cfg(unix)]
    {
        assert_eq!(mode(&keys), 0o700);
        for name in ["signing.pem", "decryption.pem"] {
            assert_eq!(mode(&format!("{keys}/{name}")), 0o600);
        }
    }
    let read = || fs::read_to_string(format!("{keys}/signing.pem")).unwrap();
    let before = read();
    let line = run(["keys", "generate", &keys]).failed(2);
    assert!(
        line.contains("exists, and nothing was written") && line.contains("--force"),
        "{line}"
    );
    assert_eq!(read(), before);
    // One file of the set is enough to refuse the whole set.
    fs::remove_file(format!("{keys}/signing.pem")).unwrap();
    run(["keys", "generate", &keys]).failed(2);
    assert!(fs::metadata(format!("{keys}/signing.pem")).is_err());
    run(["keys", "generate", "--force", "--only", "signing", &keys]).fine();
    assert_ne!(read(), before);
    assert_eq!(
        fs::read_dir(&keys).unwrap().count(),
        5,
        "nothing else is left"
    );
}

#[cfg(unix)]
#[test]
fn nobody_else_can_write_to_keys_that_are_made_whatever_the_umask() {
    let folder = Folder::new();
    let keys = text(&folder.path("keys"));
    let mut generate = crate::command_without_umask();
    generate.args(["keys", "generate", &keys]);
    assert!(generate.output().unwrap().status.success());
    for name in ["signing.pem", "decryption.pem"] {
        assert_eq!(mode(&format!("{keys}/{name}")), 0o600);
    }
    for name in ["signing.pub.pem", "encryption.pub.pem", "jwks.json"] {
        assert_eq!(mode(&format!("{keys}/{name}")), 0o644);
    }
}

#[test]
fn every_spelling_of_a_key_has_the_same_thumbprint() {
    let folder = Folder::new();
    let keys = generate(&folder);
    let (private, public) = (
        format!("{keys}/signing.pem"),
        format!("{keys}/signing.pub.pem"),
    );
    let thumbprint = run(["keys", "thumbprint", &private]).fine();
    assert_eq!(thumbprint.trim_end().len(), 43);
    for format in ["pem", "der", "pkcs1-pem", "pkcs1-der", "jwk"] {
        for half in [None, Some("--public")] {
            let to = text(&folder.path(&format!("{format}{}", half.is_some())));
            let arguments = [
                "keys", "convert", &private, "--to", format, "--use", "sign", "-o", &to,
            ];
            run(arguments.into_iter().chain(half)).fine();
            assert_eq!(
                run(["keys", "thumbprint", &to]).fine(),
                thumbprint,
                "{format}"
            );
            #[cfg(unix)]
            assert!(half.is_some() || mode(&to) == 0o600, "{format}");
            let shown = run(["keys", "show", &to]).fine();
            assert!(
                shown.contains(if half.is_some() {
                    "public key"
                } else {
                    "private key"
                }),
                "{shown}"
            );
            assert!(shown.contains(thumbprint.trim_end()), "{shown}");
        }
    }
    assert_eq!(
        run(["keys", "convert", &public, "--to", "pem"]).fine(),
        fs::read_to_string(&public).unwrap()
    );
}

#[test]
fn a_private_key_is_printed_only_when_asked_for() {
    let folder = Folder::new();
    let keys = generate(&folder);
    let private = format!("{keys}/signing.pem");
    let line = run(["keys", "convert", &private, "--to", "pem"]).failed(2);
    assert!(line.contains("--public"), "{line}");
    assert_eq!(
        run(["keys", "convert", &private, "--to", "pem", "-o", "-"]).fine(),
        fs::read_to_string(&private).unwrap()
    );
    let line = run(["keys", "convert", &private, "--to", "der", "-o", &private]).failed(2);
    assert!(line.contains("exists"), "{line}");
    let secret = fs::read_to_string(&private).unwrap();
    let shown = run(["keys", "show", &private]).fine();
    assert!(
        secret
            .lines()
            .skip(1)
            .all(|line| line.starts_with("---") || !shown.contains(line)),
        "{shown}"
    );
}

#[test]
fn a_set_has_the_public_halves_with_use_and_name() {
    let folder = Folder::new();
    let keys = generate(&folder);
    let (sign, encrypt) = (
        format!("{keys}/signing.pem"),
        format!("{keys}/decryption.pem"),
    );
    let set = run(["keys", "jwks", "--sign", &sign, "--encrypt", &encrypt]).fine();
    assert_eq!(
        set,
        fs::read_to_string(format!("{keys}/jwks.json")).unwrap()
    );
    let json: serde_json::Value = serde_json::from_str(&set).unwrap();
    let keys = json["keys"].as_array().unwrap();
    assert_eq!(
        keys.iter()
            .map(|key| key["use"].as_str().unwrap())
            .collect::<Vec<_>>(),
        ["sig", "enc"]
    );
    for key in keys {
        assert!(key["kid"].is_string());
        for secret in ["d", "p", "q", "dp", "dq", "qi"] {
            assert!(key.get(secret).is_none());
        }
    }
    let line = run(["keys", "jwks", "--sign", &sign, "--sign", &sign]).failed(1);
    assert!(line.contains("found") && line.contains("again"), "{line}");
    let shown = run_with(["keys", "show", "-"], set.as_bytes()).fine();
    assert_eq!(shown.matches("public key, JWK").count(), 2, "{shown}");
}

#[test]
fn what_is_no_key_is_refused_by_name() {
    let folder = Folder::new();
    for text in [
        "",
        "{}",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        "hello",
    ] {
        let line = run(["keys", "show", &folder.file("key", text)]).failed(1);
        assert!(
            line.contains("/key: ") && line.contains("; pass an RSA key"),
            "{line}"
        );
    }
}

#[test]
fn a_key_of_a_length_that_nothing_takes_is_a_finding() {
    let folder = Folder::new();
    let found = run(["keys", "show", &folder.file("short.pem", SHORT)]);
    assert_eq!(found.status, 1);
    assert!(
        found.out.contains("1024, refused: expected 2048 or 4096"),
        "{}",
        found.out
    );
}

/// A public key of 1024 bits.
const SHORT: &str = "-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDHYCIEloJDEV0fGCMYIsCybIZ7
eNES9hH4CQZozxhyMReT8d1JgRFBZJilFC5dpDWY0RM1wdRpQhGqbTqhZZllRtru
WbK5xRrziz9HI985yYpysMOZ0Hkj/M7wJoL+/y6eao4n8/b/V5IBdPgo1etkfd+h
2p9csmBG/2Kr62a95QIDAQAB
-----END PUBLIC KEY-----
";
