//! Each error of a folder, with its exact text.

use super::fixture::{Folder, customer, encryption_key, verifying_key};
use bankrail_bank::{CustomerFolder, CustomerRecord};
use bankrail_service::ApiKeyHash;

/// Returns the reason why a customer's file is refused, without the file's name.
fn why(text: &str) -> String {
    let folder = Folder::new();
    folder.write("A.toml", text);
    folder.refused().replace("A.toml:", "")
}

/// Returns the reason like [`why`], for text after a valid beginning of four lines.
fn why_more(more: &str) -> String {
    why(&customer("ACME", "acme", &[], more))
}

#[test]
fn what_every_customer_has() {
    assert_eq!(why(""), "1:1: expected the member code, found none");
    assert_eq!(
        why("code = \"ACME\"\nkeys = []\n"),
        "1:1: expected the member scopes, found none"
    );
    assert_eq!(
        why("code = \"acme\"\nscopes = []\nkeys = []\n"),
        "1:8: expected a customer code of 1 to 64 visible characters without lower-case letters, found \"acme\"\n\
         2:10: expected a scope, found none\n\
         3:8: expected at least one key, found none"
    );
    assert_eq!(
        why("code = \"acme\"\nscopes = []\nkeys = []\ncolour = 1\n"),
        "4:1: expected one of code, scopes, keys, api_keys, limits, accounts, endpoints, found \"colour\""
    );
    assert_eq!(
        why("code = 7\nscopes = \"A\"\nkeys = [1]\n"),
        "1:8: expected a string, found integer"
    );
}

/// A value of another type may be a secret in a wrong place.
#[test]
fn members_of_another_type_are_named_without_their_values() {
    let good = "code = \"ACME\"\nscopes = [\"A.READ\"]\nkeys = [{ file = \"acme.pem\" }]\n";
    let endpoint = "[[endpoints]]\nid = \"e\"\nurl = \"https://a.example\"\n\
        encryption_key = { file = \"encryption.pem\" }\n";
    let account = "[[accounts]]\nid = \"1\"\ncurrency = \"AUD\"\n";
    let limit = "[[limits]]\ncall_type = \"token\"\n";
    for (text, expected) in [
        (
            "scopes = \"MARK, expected 4711\"",
            "1:10: expected an array, found string",
        ),
        ("keys = [4711]", "1:9: expected a table, found integer"),
        (
            "keys = \"MARK4711\"",
            "1:8: expected an array, found string",
        ),
    ] {
        assert_eq!(why(text), expected);
    }
    for (more, expected) in [
        (
            format!("{endpoint}api_key = \"MARK, expected 4711\""),
            "8:11: expected a table, found string",
        ),
        (
            format!("{endpoint}api_key = {{ value = 4711 }}"),
            "8:21: expected a string, found integer",
        ),
        (
            format!("{endpoint}paths = [4711]"),
            "8:9: expected a map, found array",
        ),
        (
            format!("{account}virtual_accounts = \"MARK4711\""),
            "7:20: expected true or false, found string",
        ),
        (
            format!("{limit}per_hour = \"MARK4711\""),
            "6:12: expected a whole number, found string",
        ),
        (
            format!("{limit}until = \"MARK4711\""),
            "6:9: expected a date and time, found string",
        ),
    ] {
        assert_eq!(why(&format!("{good}{more}")), expected);
    }
}

#[test]
fn a_file_that_is_no_toml_is_named_with_each_place() {
    let text = why("code = \"ACME\nscopes = [\nname = MARK4711\n");
    assert!(
        text.lines().count() > 1 && text.lines().all(|line| line.contains(": expected TOML, ")),
        "{text}"
    );
    assert!(text.starts_with("1:"), "{text}");
    assert!(!text.contains("MARK4711"), "{text}");
}

/// A file of many small parts is refused, because a part takes about 300 bytes of memory.
#[test]
fn a_file_of_many_small_parts_is_refused() {
    let list = |parts: usize| why(&format!("a = [{}]", "1,".repeat(parts - 2)));
    assert!(
        list(32_768).contains("1:1: expected one of code"),
        "{}",
        list(32_768)
    );
    assert_eq!(
        list(32_769),
        "1:65539: expected TOML, at most 32768 lines and values, found more"
    );
}

#[test]
fn public_keys() {
    let keys = |keys: &str| why(&format!("code = \"ACME\"\nscopes = [\"A.READ\"]\n{keys}"));
    assert_eq!(
        keys("[[keys]]\nkid = \"1\""),
        "3:1: expected one of file, pem, jwk, found none"
    );
    assert_eq!(
        keys("[[keys]]\nfile = \"a\"\npem = \"b\""),
        "3:1: expected one of file, pem, jwk, found several"
    );
    assert_eq!(
        keys("[[keys]]\nfile = \"none.pem\""),
        "4:8: none.pem: cannot be read: No such file or directory (os error 2)"
    );
    assert!(keys("[[keys]]\npem = \"x\"").starts_with("4:7: expected "));
    let private = crate::world::keys()[0].to_jwk();
    assert_eq!(
        keys(&format!("[[keys]]\njwk = '{}'", *private)),
        "4:7: expected a public key, found a private one"
    );
    let named = |kid: &str| format!("[[keys]]\nfile = \"acme.pem\"\nkid = \"{kid}\"\n");
    assert_eq!(
        keys(&(named("a") + &named("b") + &named("a"))),
        "9:1: expected a kid of its own, found that of A.toml:3:1".replace("A.toml:", "")
    );
    assert_eq!(
        keys(&(named("a") + "[[keys]]\nfile = \"beta.pem\"")),
        "3:1: expected a kid on all keys of the set or on none, found it on some"
    );
    assert_eq!(
        keys(&named("")),
        "5:7: expected a kid of 1 to 256 bytes, found 0"
    );
    let other = verifying_key(0).with_kid("k1").to_jwk();
    assert_eq!(
        keys(&format!("[[keys]]\njwk = '{other}'\nkid = \"k2\"")),
        "5:7: expected the kid of a key that is there, found another"
    );
}

#[test]
fn api_keys() {
    let clear = "expected the SHA-256 of an API key in sha256, as printed by `printf %s \"$KEY\" | sha256sum`, found \
                 another text; an API key that was in this file in clear must be replaced";
    for member in ["key", "value", "apikey", "sha256"] {
        let text = why_more(&format!("[[api_keys]]\n{member} = \"MARK4711\"\n"));
        assert_eq!(text, format!("6:{}: {clear}", member.len() + 4));
    }
    assert_eq!(
        why_more("[[api_keys]]\n"),
        "5:1: expected the member sha256, found none"
    );
    let hash = ApiKeyHash::of(b"1").to_string();
    assert_eq!(
        why_more(&format!(
            "[[api_keys]]\nsha256 = \"{hash}\"\nnot_before = 2026-11-23T01:00:00+01:00\n\
             expires = 2026-11-23T00:00:00Z\n"
        )),
        "6:10: expected an API key that expires after 2026-11-23T00:00:00.000Z, found 2026-11-23T00:00:00.000Z"
    );
    assert_eq!(
        why_more(&format!(
            "[[api_keys]]\nsha256 = \"{hash}\"\nexpires = 2026-11-23\n"
        )),
        "7:11: expected a date and time with an offset, such as 2026-11-22T00:00:00Z, found another"
    );
    assert_eq!(
        why_more(&format!(
            "[[api_keys]]\nsha256 = \"{}\"\n",
            ApiKeyHash::of(b"")
        )),
        "6:10: expected the hash of an API key, found that of an empty text"
    );
    let many: Vec<String> = (0..17).map(|key| format!("k{key}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(
        why(&customer("ACME", "acme", &many, "")),
        "1:8: expected at most 16 API keys, found more"
    );
}

#[test]
fn limits() {
    let limit = |members: &str| why_more(&format!("[[limits]]\ncall_type = \"token\"\n{members}"));
    assert_eq!(
        limit(""),
        "5:1: expected a limit per hour, per minute or per second, found none"
    );
    assert_eq!(limit("per_day = 1"), {
        "7:1: expected one of call_type, per_hour, per_minute, per_second, unlimited, until, found \"per_day\""
    });
    assert_eq!(
        limit("per_hour = -1"),
        "7:12: expected a whole number from 0 to 4294967295, found another"
    );
    assert!(
        limit("per_hour = 0").starts_with("7:12: expected a limit of at least 1 whose product")
    );
    assert_eq!(
        limit("per_hour = 1\nunlimited = true"),
        "5:1: expected unlimited alone, found a limit too"
    );
    assert_eq!(
        why_more("[[limits]]\ncall_type = \"tea\"\nper_hour = 1"),
        "6:13: expected the name of a call type, found \"tea\""
    );
    let twice = "per_hour = 1\nuntil = 2026-11-23T00:00:00Z\n[[limits]]\ncall_type = \"token\"\n";
    assert_eq!(
        limit(&format!(
            "{twice}per_hour = 2\nuntil = 2026-11-24T00:00:00Z"
        )),
        "9:1: expected a call type (temporary) of its own, found that of 5:1"
    );
    assert_eq!(
        limit("per_hour = 1\n[[limits]]\ncall_type = \"token\"\nper_hour = 2"),
        "8:1: expected a call type (without until) of its own, found that of 5:1"
    );
}

#[test]
fn accounts_whose_numbers_and_names_are_not_shown() {
    let account = |members: &str| why_more(&format!("[[accounts]]\n{members}"));
    assert_eq!(
        account("id = \"MARK-4711\"\ncurrency = \"AUD\""),
        "6:6: expected an account identifier of 1 to 34 letters, digits and points"
    );
    let long = "N".repeat(71);
    assert_eq!(
        account(&format!(
            "id = \"1\"\ncurrency = \"AUD\"\nname = \"{long}\"\nreporting_source = \"\""
        )),
        "5:1: expected a name of 1 to 70 characters, found 71\n\
         5:1: expected a reporting source of 1 to 35 characters, found 0"
    );
    assert_eq!(
        account("id = \"1\"\ncurrency = \"AUD\"\n[[accounts]]\nid = \"1\"\ncurrency = \"AUD\""),
        "8:1: expected an account of its own, found that of 5:1"
    );
}

#[test]
fn endpoints() {
    let endpoint = |members: &str| {
        why_more(&format!(
            "[[endpoints]]\nid = \"e\"\nurl = \"https://a.example\"\nencryption_key = {{ file = \"encryption.pem\" }}\n\
             {members}"
        ))
    };
    let without_key = "[[endpoints]]\nid = \"\"\nurl = \"http://a.example\"\n";
    assert_eq!(
        why_more(without_key),
        "5:1: expected the member encryption_key, found none"
    );
    assert_eq!(
        why_more(&format!(
            "{without_key}encryption_key = {{ file = \"none\" }}"
        )),
        "6:6: expected 1 to 200 characters, found 0\n\
         7:7: expected an https address, found \"http://a.example\"\n\
         8:27: none: cannot be read: No such file or directory (os error 2)"
    );
    assert_eq!(
        endpoint("api_key = { }"),
        "9:11: expected one of value, file, found none"
    );
    assert_eq!(
        endpoint("api_key = { header = \"priority\", value = \"MARK4711\" }"),
        "9:11: expected a header that deliveries do not use, found priority"
    );
    assert_eq!(
        endpoint("api_key = { value = \"MARK4711\\n\" }"),
        "9:11: expected an API key that fits a header"
    );
    assert_eq!(
        endpoint("api_key = { file = \"none\" }"),
        "9:20: none: cannot be read: No such file or directory (os error 2)"
    );
    assert_eq!(
        endpoint("paths = { tea = \"/tea\", query = \"q\" }"),
        "9:11: expected one of mandate_outcome, mandate_notification, payment_outcome, query, found \"tea\"\n\
         5:1: expected paths of 1 to 1024 visible ASCII characters that begin with / and have no ? and no #, found \
         another"
            .lines()
            .rev()
            .collect::<Vec<_>>()
            .join("\n")
    );
    let set = format!(
        "{{\"keys\":[{},{}]}}",
        encryption_key().clone().with_kid("a").to_jwk(),
        encryption_key().clone().with_kid("b").to_jwk()
    );
    assert_eq!(
        why_more(&format!(
            "[[endpoints]]\nid = \"e\"\nurl = \"https://a.example\"\nencryption_key = {{ jwk = '{set}' }}\n"
        )),
        "8:18: expected one key, found several; state the kid of one of them"
    );
}

/// The second customer has the same values as the first.
#[test]
fn what_two_customers_must_not_share_names_both_places() {
    let folder = Folder::new();
    let more = "[[accounts]]\nid = \"1\"\ncurrency = \"AUD\"\n\
        [[endpoints]]\nid = \"e\"\nurl = \"https://a.example\"\nencryption_key = { file = \"encryption.pem\" }\n";
    folder.write("A.toml", &customer("ACME", "acme", &["k1", "k2"], more));
    folder.write(
        "B.toml",
        &customer("ACME", "beta", &["k3", "k1"], &more.replace("AUD", "USD")),
    );
    assert_eq!(
        folder.refused(),
        "B.toml:1:8: expected a customer code of its own, found that of A.toml:1:8\n\
         B.toml:8:10: expected an API key of its own, found that of A.toml:6:10\n\
         B.toml:9:1: expected the details of the same account at A.toml:9:1, found others\n\
         B.toml:12:1: expected an endpoint id of its own, found that of A.toml:12:1"
    );
    // The same account with the same details is no error, nor is the same kid.
    folder.write(
        "B.toml",
        &customer(
            "BETA",
            "acme",
            &[],
            "[[accounts]]\nid = \"1\"\ncurrency = \"AUD\"\n",
        ),
    );
    assert_eq!(folder.open().current().len(), 2);
}

#[test]
fn all_files_are_judged_at_once() {
    let folder = Folder::new();
    folder.write("A.toml", "code = 1\n");
    folder.write("B.toml", &customer("BETA", "beta", &["k"], ""));
    // What a faulty file takes is taken.
    folder.write("C.toml", &(customer("GAMMA", "none", &["k"], "")));
    folder.write("notes.txt", "not a customer");
    folder.write(".D.toml", "not a customer");
    std::fs::create_dir(folder.path("D.toml")).unwrap();
    std::fs::write(folder.path("E.toml"), [0xff]).unwrap();
    assert_eq!(
        folder.refused(),
        "D.toml: cannot be read: expected a file\n\
         E.toml: cannot be read: stream did not contain valid UTF-8\n\
         A.toml:1:8: expected a string, found integer\n\
         C.toml:4:8: none.pem: cannot be read: No such file or directory (os error 2)\n\
         C.toml:6:10: expected an API key of its own, found that of B.toml:6:10"
    );
}

#[test]
fn bounds() {
    let folder = Folder::new();
    assert_eq!(
        folder.refused(),
        "FOLDER: expected at least one file whose name ends in .toml, found none"
    );
    let gone = CustomerFolder::open(folder.path("gone"), folder.options()).unwrap_err();
    assert_eq!(
        folder.shown(gone),
        "gone: cannot be read: No such file or directory (os error 2)"
    );
    folder.write("A.toml", &"#".repeat(256 * 1024 + 1));
    assert_eq!(
        folder.refused(),
        "A.toml: cannot be read: expected at most 262144 bytes, found more"
    );
    let many = "x = 1\n".repeat(2);
    folder.write("A.toml", &many);
    assert!(folder.refused().contains("expected TOML, "));
    let errors: String = (0..150)
        .map(|_| "[[accounts]]\nid = \"\"\ncurrency = \"AUD\"\n")
        .collect();
    folder.write("A.toml", &customer("ACME", "acme", &[], &errors));
    let refused = folder.refused();
    assert_eq!(refused.lines().count(), 101);
    assert!(refused.ends_with("\nand 50 more"), "{refused}");
}

/// The errors of a record without a file name the customer and the part.
#[test]
fn records_of_a_program() {
    let mut record = super::fixture::record("ACME", &["k"], "");
    record.api_keys.push(record.api_keys[0].clone());
    let check = |records: Vec<CustomerRecord>| {
        bankrail_bank::CustomerSet::new(records)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        check(vec![record.clone()]),
        "customer ACME, API key 2: expected an API key of its own, found that of customer ACME, API key 1"
    );
    record.api_keys.clear();
    assert_eq!(
        check(vec![record.clone(), record]),
        "customer ACME: expected a customer code of its own, found that of customer ACME"
    );
}
