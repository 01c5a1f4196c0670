use crate::{Folder, Run, run, run_with, text};
use std::fs;

struct Keys {
    folder: Folder,
}

impl Keys {
    fn new() -> Self {
        let folder = Folder::new();
        run(["keys", "generate", &text(&folder.path("keys"))]).fine();
        Self { folder }
    }

    fn path(&self, name: &str) -> String {
        text(&self.folder.path("keys").join(name))
    }

    fn seal(&self, message: &str, more: &[&str]) -> String {
        let (sign, encrypt) = (self.path("signing.pem"), self.path("encryption.pub.pem"));
        let arguments = ["payload", "seal", "--sign", &sign, "--encrypt", &encrypt];
        run_with(arguments.iter().chain(more), message.as_bytes()).fine()
    }

    /// Runs `payload explain` or `payload open` with our key, and the sender's.
    fn with_keys(&self, command: &str, sender: &str, sealed: &str) -> Run {
        let decrypt = self.path("decryption.pem");
        run_with(
            [
                "payload",
                command,
                "--decrypt",
                &decrypt,
                "--verify",
                sender,
            ],
            sealed.as_bytes(),
        )
    }
}

#[test]
fn what_is_sealed_is_opened_in_every_form() {
    let keys = Keys::new();
    let message = r#"{"status":"SUCC","text":"👍"}"#;
    let set = keys.path("jwks.json");
    for more in [
        &[][..],
        &["--envelope"],
        &["--deflate"],
        &["--no-cty"],
        &["--sign-kid", "s", "--encrypt-kid", "e"],
    ] {
        let sealed = keys.seal(message, more);
        assert_eq!(sealed.starts_with('{'), more == ["--envelope"]);
        assert_eq!(
            keys.with_keys("open", &keys.path("signing.pub.pem"), &sealed)
                .fine(),
            message
        );
    }
    assert_eq!(
        keys.with_keys("open", &set, &keys.seal(message, &[]))
            .fine(),
        message
    );
    let line = run_with(
        [
            "payload",
            "seal",
            "--sign",
            &keys.path("signing.pem"),
            "--encrypt",
            &keys.path("encryption.pub.pem"),
        ],
        b"no json",
    )
    .failed(1);
    assert!(line.contains("standard input: "), "{line}");
}

#[test]
fn each_layer_is_explained_as_far_as_the_keys_reach() {
    let keys = Keys::new();
    let message = run(["message", "sample", "query"]).fine();
    let sealed = keys.seal(&message, &["--envelope", "--sign-kid", "the-sender"]);
    let without = run_with(["payload", "explain"], sealed.as_bytes()).fine();
    assert!(
        without.contains("alg: \"RSA-OAEP\"") && without.contains("pass  form and header"),
        "{without}"
    );
    assert!(!without.contains("our key"), "{without}");
    let decrypt = keys.path("decryption.pem");
    let half = run_with(
        ["payload", "explain", "--decrypt", &decrypt],
        sealed.as_bytes(),
    )
    .fine();
    assert!(
        half.contains("pass  content") && half.contains("kid: \"the-sender\""),
        "{half}"
    );
    assert!(!half.contains("signature"), "{half}");
    let whole = keys
        .with_keys("explain", &keys.path("signing.pub.pem"), &sealed)
        .fine();
    assert!(
        whole.contains("pass  signature") && whole.contains("pass  message: query, 0 findings"),
        "{whole}"
    );
    for out in [without, half, whole] {
        assert!(
            !out.contains("explain this charge") && !out.contains("Please"),
            "the message is not printed"
        );
        assert!(!out.contains("PRIVATE"), "{out}");
    }
}

#[test]
fn the_step_that_fails_is_named() {
    let keys = Keys::new();
    let other = Keys::new();
    let sender = keys.path("signing.pub.pem");
    let sealed = keys.seal("{}", &[]);
    let flip = |at: usize| {
        let mut parts: Vec<String> = sealed.trim_end().split('.').map(str::to_owned).collect();
        let replacement = if parts[at].starts_with('A') { "B" } else { "A" };
        parts[at].replace_range(..1, replacement);
        parts.join(".")
    };
    let cases = [
        (
            keys.with_keys("explain", &sender, "a.b.c"),
            "FAIL  form and header",
        ),
        (
            keys.with_keys("explain", &sender, &other.seal("{}", &[])),
            "FAIL  our key",
        ),
        (
            keys.with_keys("explain", &sender, &flip(1)),
            "FAIL  our key",
        ),
        (
            keys.with_keys("explain", &sender, &flip(3)),
            "FAIL  content",
        ),
        (
            keys.with_keys("explain", &sender, &flip(4)),
            "FAIL  content",
        ),
        (
            keys.with_keys("explain", &other.path("signing.pub.pem"), &sealed),
            "FAIL  signature",
        ),
        (
            keys.with_keys(
                "explain",
                &other.path("jwks.json"),
                &keys.seal("{}", &["--sign-kid", "x"]),
            ),
            "FAIL  signature",
        ),
    ];
    for (run, expected) in cases {
        assert_eq!(run.status, 1, "{}{}", run.out, run.err);
        assert_eq!(run.out.matches("FAIL").count(), 1, "{}", run.out);
        assert!(run.out.contains(expected), "{expected}\n{}", run.out);
    }
    let line = keys.with_keys("open", &sender, &flip(3)).failed(1);
    assert!(
        line.contains("the message was rejected; bankrail payload explain"),
        "{line}"
    );
}

#[test]
fn a_sealed_message_is_written_to_a_file_of_its_name() {
    let keys = Keys::new();
    let to = text(&keys.folder.path("sealed"));
    assert_eq!(keys.seal("{}", &["-o", &to]), "");
    let sealed = fs::read_to_string(&to).unwrap();
    assert_eq!(
        keys.with_keys("open", &keys.path("signing.pub.pem"), &sealed)
            .fine(),
        "{}"
    );
}
