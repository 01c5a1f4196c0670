use crate::{Folder, run, run_with, text};

const AUDIENCE: &str = "https://auth.example.com/v1.0/auth";

fn keys(folder: &Folder) -> (String, String) {
    let keys = text(&folder.path("keys"));
    run(["keys", "generate", "--only", "signing", &keys]).fine();
    (
        format!("{keys}/signing.pem"),
        format!("{keys}/signing.pub.pem"),
    )
}

fn make(key: &str, more: &[&str]) -> String {
    let arguments = [
        "assertion",
        "make",
        "--key",
        key,
        "--customer",
        "CUSTOMERCODE",
        "--audience",
        AUDIENCE,
    ];
    run(arguments.iter().chain(more)).fine()
}

#[test]
fn what_is_made_passes_every_rule() {
    let folder = Folder::new();
    let (private, public) = keys(&folder);
    for more in [
        &[][..],
        &[
            "--issuer",
            "--issued-at",
            "--jwt-id",
            "--lifetime",
            "3600",
            "--kid",
            "k",
        ],
    ] {
        let assertion = make(&private, more);
        let out = run_with(
            [
                "assertion",
                "explain",
                "--key",
                &public,
                "--audience",
                AUDIENCE,
            ],
            assertion.as_bytes(),
        )
        .fine();
        assert!(out.ends_with("accepted: CUSTOMERCODE\n"), "{out}");
        assert!(!out.contains("FAIL") && !out.contains("open"), "{out}");
        let signature = assertion.trim_end().rsplit('.').next().unwrap();
        assert!(!out.contains(signature), "the signature is not printed");
    }
    let form = make(&private, &["--form", "GBL.INSTO.ACCOUNTS.STATEMENT.READ"]);
    assert!(
        form.starts_with("grant_type=client_credentials&") && !form.ends_with('\n'),
        "{form}"
    );
    // Without keys there is no verdict, and no rule is broken.
    let out = run_with(["assertion", "explain"], make(&private, &[]).as_bytes()).fine();
    assert!(
        out.contains("open  the signature is valid: not verified: no --key"),
        "{out}"
    );
    assert!(
        out.ends_with("no verdict: pass --key and --audience for one\n"),
        "{out}"
    );
}

/// Returns an assertion with these claims and header, signed with the key in a file.
fn signed(key: &str, typ: &str, claims: &str) -> String {
    use bankrail::jose::jws::{JwsHeader, sign};
    let key = bankrail::jose::SigningKey::from_pem(&std::fs::read_to_string(key).unwrap()).unwrap();
    sign(&key, &JwsHeader::new().typ(typ), claims.as_bytes()).unwrap()
}

#[test]
fn each_broken_rule_is_named_and_the_verifier_agrees() {
    let folder = Folder::new();
    let (private, public) = keys(&folder);
    let claims = |change: fn(&mut serde_json::Value)| {
        // 2021-07-29T01:02:03Z is 1627520523.
        let mut claims =
            serde_json::json!({"sub": "CUSTOMERCODE", "aud": AUDIENCE, "exp": 1_627_520_600});
        change(&mut claims);
        claims.to_string()
    };
    let right = |_: &mut serde_json::Value| {};
    let cases = [
        (signed(&private, "jwt", &claims(right)), None),
        (signed(&private, "JWT", &claims(right)), None),
        (
            signed(&private, "at+jwt", &claims(right)),
            Some("typ is jwt"),
        ),
        (
            signed(&private, "jwt", &claims(|c| c["sub"] = "lower".into())),
            Some("sub is a customer code"),
        ),
        (
            signed(
                &private,
                "jwt",
                &claims(|c| drop(c.as_object_mut().unwrap().remove("sub"))),
            ),
            Some("sub is"),
        ),
        (
            signed(
                &private,
                "jwt",
                &claims(|c| c["aud"] = "https://other.example/".into()),
            ),
            Some("aud is"),
        ),
        (
            signed(
                &private,
                "jwt",
                &claims(|c| c["aud"] = serde_json::json!([AUDIENCE])),
            ),
            Some("aud is"),
        ),
        (
            signed(&private, "jwt", &claims(|c| c["exp"] = "1627520600".into())),
            Some("exp is a number"),
        ),
        (
            signed(
                &private,
                "jwt",
                &claims(|c| c["exp"] = 1_627_520_523.into()),
            ),
            Some("exp is in the future"),
        ),
        (
            signed(
                &private,
                "jwt",
                &claims(|c| c["exp"] = 1_627_524_124.into()),
            ),
            Some("exp is at most"),
        ),
        (
            signed(
                &private,
                "jwt",
                &claims(|c| c["exp"] = 1_627_524_123.into()),
            ),
            None,
        ),
        (
            signed(&private, "jwt", &claims(|c| c["iss"] = "OTHER".into())),
            Some("iss, if present"),
        ),
        (
            signed(
                &private,
                "jwt",
                &claims(|c| c["iat"] = 1_627_520_554.into()),
            ),
            Some("iat, if present"),
        ),
        (
            signed(
                &private,
                "jwt",
                &claims(|c| c["iat"] = 1_627_520_553.into()),
            ),
            None,
        ),
        (
            signed(
                &private,
                "jwt",
                &claims(|c| c["nbf"] = 1_627_520_554.into()),
            ),
            Some("nbf, if present"),
        ),
        (
            signed(&private, "jwt", &claims(|c| c["jti"] = "".into())),
            Some("jti, if present"),
        ),
        (
            signed(&private, "jwt", "[]"),
            Some("the claims are one JSON object"),
        ),
        (
            signed(&private, "jwt", &claims(right)).replacen('.', ".A", 1),
            Some(""),
        ),
        ("nonsense".to_owned(), Some("three parts")),
    ];
    for (assertion, broken) in cases {
        let arguments = [
            "assertion",
            "explain",
            "--key",
            &public,
            "--audience",
            AUDIENCE,
            "--at",
            "2021-07-29T01:02:03Z",
        ];
        let run = run_with(arguments, assertion.as_bytes());
        assert_eq!(
            run.status,
            i32::from(broken.is_some()),
            "{}{}",
            run.out,
            run.err
        );
        assert_eq!(
            run.out.contains("refused: "),
            broken.is_some(),
            "{}",
            run.out
        );
        assert_eq!(
            run.out.contains("  FAIL  "),
            broken.is_some(),
            "{}",
            run.out
        );
        if let Some(broken) = broken {
            assert!(
                run.out.contains(&format!("  FAIL  {broken}")),
                "{broken}\n{}",
                run.out
            );
        }
    }
}

#[test]
fn another_key_breaks_the_signature_alone() {
    let folder = Folder::new();
    let (private, _) = keys(&folder);
    let (_, other) = keys(&Folder::new());
    // The other key was removed together with its folder.
    assert!(std::fs::metadata(&other).is_err());
    let others = Folder::new();
    let (_, other) = keys(&others);
    let assertion = make(&private, &[]);
    let run = run_with(
        [
            "assertion",
            "explain",
            "--key",
            &other,
            "--audience",
            AUDIENCE,
        ],
        assertion.as_bytes(),
    );
    assert_eq!(
        (run.status, run.out.matches("FAIL").count()),
        // The rule and the verdict.
        (1, 2),
        "{}",
        run.out
    );
    assert!(
        run.out.contains("FAIL  the signature is valid: "),
        "{}",
        run.out
    );
}

#[test]
fn what_lenient_verifiers_take_is_no_broken_rule_for_them() {
    let folder = Folder::new();
    let (private, public) = keys(&folder);
    let claims = serde_json::json!({"sub": "CUSTOMERCODE", "aud": [AUDIENCE], "exp": "1627520600"})
        .to_string();
    let assertion = signed(&private, "jwt", &claims);
    let arguments = [
        "assertion",
        "explain",
        "--key",
        &public,
        "--audience",
        AUDIENCE,
        "--at",
        "2021-07-29T01:02:03Z",
    ];
    assert_eq!(run_with(arguments, assertion.as_bytes()).status, 1);
    let out = run_with(
        arguments.into_iter().chain(["--lenient"]),
        assertion.as_bytes(),
    )
    .fine();
    assert!(!out.contains("FAIL") && out.contains("accepted"), "{out}");
    for (typ, exp) in [
        ("client-authentication+jwt", 1_627_520_600),
        ("jwt", 1_627_524_153),
    ] {
        let claims =
            serde_json::json!({"sub": "CUSTOMERCODE", "aud": AUDIENCE, "exp": exp}).to_string();
        let assertion = signed(&private, typ, &claims);
        let out = run_with(
            arguments.into_iter().chain(["--lenient"]),
            assertion.as_bytes(),
        )
        .fine();
        assert!(!out.contains("FAIL"), "{out}");
    }
}
