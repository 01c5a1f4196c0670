//! The JSON reader and writer, compared with serde_json.

use bankrail_values::json::{
    JsonError, JsonErrorKind, JsonLimits, JsonMember, JsonObjectWriter, JsonValue, check,
    push_pointer_segment, read, read_object, write_content, write_string,
};
use proptest::prelude::*;
use serde_json::Value as Peer;

fn limits() -> JsonLimits {
    JsonLimits::new()
}

fn error(json: &str) -> JsonError {
    read(json.as_bytes(), &limits()).unwrap_err()
}

/// Returns true if two values are equal. Numbers that are not integers are compared as `f64`,
/// because the peer keeps them as such.
fn same(ours: &JsonValue<'_>, theirs: &Peer) -> bool {
    match (ours, theirs) {
        (JsonValue::Null, Peer::Null) => true,
        (JsonValue::Bool(ours), Peer::Bool(theirs)) => ours == theirs,
        (JsonValue::Number(ours), Peer::Number(theirs)) => match (theirs.as_i64(), theirs.as_u64())
        {
            (Some(number), _) => ours.as_i64() == Some(number),
            (None, Some(number)) => ours.as_u64() == Some(number),
            (None, None) => {
                let (ours, theirs) = (ours.to_f64().unwrap(), theirs.as_f64().unwrap());
                (ours - theirs).abs() <= ours.abs() * 1e-15
            }
        },
        (JsonValue::String(ours), Peer::String(theirs)) => ours == theirs,
        (JsonValue::Array(ours), Peer::Array(theirs)) => {
            ours.len() == theirs.len()
                && ours
                    .iter()
                    .zip(theirs)
                    .all(|(ours, theirs)| same(ours, theirs))
        }
        (JsonValue::Object(ours), Peer::Object(theirs)) => {
            ours.members().len() == theirs.len()
                && ours.members().iter().all(|member| {
                    theirs
                        .get(member.name())
                        .is_some_and(|t| same(member.value(), t))
                })
        }
        _ => false,
    }
}

/// Checks that both readers agree, except where the module's additional rules refuse a text.
fn compare(json: &[u8]) {
    let ours = read(json, &limits());
    assert_eq!(
        ours.as_ref().map(drop),
        check(json, &limits()).as_ref().map(drop),
        "{}",
        json.escape_ascii()
    );
    match (ours, serde_json::from_slice::<Peer>(json)) {
        (Ok(ours), Ok(theirs)) => assert!(same(&ours, &theirs), "{}", json.escape_ascii()),
        (Err(_), Err(_)) => {}
        (Err(error), Ok(_)) => {
            let beyond = [
                JsonErrorKind::DuplicateMember,
                JsonErrorKind::TooDeep { max: 64 },
            ];
            assert!(
                beyond.contains(&error.kind()),
                "{}: {error}",
                json.escape_ascii()
            );
        }
        // The peer refuses numbers that no `f64` holds.
        (Ok(_), Err(error)) => {
            let reason = error.to_string();
            assert!(
                reason.starts_with("number out of range"),
                "{}: {reason}",
                json.escape_ascii()
            );
        }
    }
}

#[test]
fn values_are_read_as_the_peer_reads_them() {
    for json in [
        r#" {"a":[1,-2,0.5,null,true,false,"x"],"b":{"c":{}},"":[]} "#,
        r#""\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00é👍""#,
        "0",
        "-0",
        "-0.0e-0",
        "18446744073709551615",
        "18446744073709551616",
        "1E400",
        "-1e308",
        "1e-999",
        "123456789012345678901234567890",
        "[[[[]]],{}]",
        "\t\r\n 1 \n",
    ] {
        compare(json.as_bytes());
    }
    compare(format!("1{}", "0".repeat(308)).as_bytes());
    compare(format!("1{}", "0".repeat(309)).as_bytes());
    compare(format!("0.{}1", "0".repeat(400)).as_bytes());
}

#[test]
fn numbers_are_kept_as_written_and_converted_on_request() {
    let number = |json: &'static str| match read(json.as_bytes(), &limits()).unwrap() {
        JsonValue::Number(number) => number,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        (
            number("1.50").as_str(),
            number("1.50").as_i64(),
            number("1.50").to_f64()
        ),
        ("1.50", None, Some(1.5))
    );
    assert_eq!(
        (number("-7").as_i64(), number("-7").as_u64()),
        (Some(-7), None)
    );
    assert_eq!(
        (
            number("18446744073709551615").as_i64(),
            number("1e1").as_u64()
        ),
        (None, None)
    );
    for (huge, value) in [("1e400", None), ("-1e400", None), ("1e-400", Some(0.0))] {
        assert_eq!(
            (number(huge).as_str(), number(huge).to_f64()),
            (huge, value)
        );
    }
}

#[test]
fn text_that_is_not_json_is_refused_with_its_position() {
    for (json, message) in [
        ("", "byte 0: expected a value"),
        ("\u{feff}{}", "byte 0: expected a value"),
        ("{} x", "byte 3: expected the end of the text"),
        (r#"{"a":}"#, "/a at byte 5: expected a value"),
        (r#"{"a" 1}"#, "byte 5: expected a colon"),
        (r#"{"a":1,}"#, "byte 7: expected a member name"),
        (
            r#"{"a":1"#,
            "byte 6: expected a comma or the end of the object",
        ),
        ("{a:1}", "byte 1: expected a member name"),
        ("[1,]", "/1 at byte 3: expected a value"),
        ("[1 2]", "byte 3: expected a comma or the end of the array"),
        (
            r#"{"a":[0,{"b/~c":tru}]}"#,
            "/a/1/b~1~0c at byte 16: expected a value",
        ),
        ("[01]", "byte 2: expected a comma or the end of the array"),
        ("[1.]", "/0 at byte 3: expected a digit"),
        ("[-]", "/0 at byte 2: expected a digit"),
        ("[1e+]", "/0 at byte 4: expected a digit"),
        ("[+1]", "/0 at byte 1: expected a value"),
        ("NaN", "byte 0: expected a value"),
        ("\"a\nb\"", "byte 2: expected no control character"),
        ("\"a", "byte 2: expected the end of the string"),
        (r#""a\"#, "byte 3: expected the end of the string"),
        (r#""a\x""#, "byte 2: expected a JSON escape"),
        ("\"\\é\"", "byte 1: expected a JSON escape"),
        (r#""\u12g4""#, "byte 1: expected four hexadecimal digits"),
        (r#""\u+123""#, "byte 1: expected four hexadecimal digits"),
        (r#""\u12""#, "byte 1: expected four hexadecimal digits"),
        (
            r#"["x\ud83d"]"#,
            "/0 at byte 3: expected a Unicode character, found half of a surrogate pair",
        ),
        (
            r#""\ud83d\n""#,
            "byte 1: expected a Unicode character, found half of a surrogate pair",
        ),
        (
            r#""\ude00\ud83d""#,
            "byte 1: expected a Unicode character, found half of a surrogate pair",
        ),
        (
            r#""\ud83d\ud83d""#,
            "byte 1: expected a Unicode character, found half of a surrogate pair",
        ),
        (
            r#"{"a":1,"\u0061":2}"#,
            "/a at byte 7: expected each member name once in an object",
        ),
        (
            r#"[{"x":{"a":1,"a":1}}]"#,
            "/0/x/a at byte 13: expected each member name once in an object",
        ),
    ] {
        assert_eq!(error(json).to_string(), message, "{json}");
        assert!(check(json.as_bytes(), &limits()).is_err(), "{json}");
    }
    let utf8 = read(b"[\"\xff\"]", &limits()).unwrap_err();
    assert_eq!(utf8.to_string(), "byte 2: expected UTF-8");
    let control = error(&format!(r#"{{"a\n{}":?}}"#, "x".repeat(100)));
    assert_eq!(control.pointer(), format!("/a\\n{}…", "x".repeat(62)));
}

#[test]
fn bounds_hold_and_are_named_in_the_error() {
    let bounds = limits().max_document_bytes(24).max_depth(3).max_values(5);
    for good in [
        "[[[]]]",
        "[1,2,3,4]",
        r#"{"a":1,"b":2,"c":3}"#,
        &" ".repeat(23).replacen(' ', "1", 1),
    ] {
        assert!(read(good.as_bytes(), &bounds).is_ok(), "{good}");
    }
    let refused = |json: &str| read(json.as_bytes(), &bounds).unwrap_err().to_string();
    assert_eq!(
        refused(&" ".repeat(25)),
        "byte 24: expected at most 24 bytes of JSON, found 25"
    );
    assert_eq!(
        refused("[[[[]]]]"),
        "/0/0/0 at byte 3: expected at most 3 nested objects and arrays"
    );
    assert_eq!(
        refused("[1,2,3,4,5]"),
        "/4 at byte 9: expected at most 5 values"
    );
    // A level that was closed no longer counts.
    assert!(read(b"[[[]],[[]]]", &bounds.max_values(9)).is_ok());
    let deepest = "[".repeat(1_000_000);
    let depth = read(deepest.as_bytes(), &limits().max_depth(usize::MAX)).unwrap_err();
    assert_eq!(
        depth.kind(),
        JsonErrorKind::TooDeep {
            max: JsonLimits::DEEPEST
        }
    );
}

#[test]
fn duplicates_are_found_among_many() {
    let names = |count: usize| {
        (0..count)
            .map(|n| format!(r#""n{n}":{n}"#))
            .collect::<Vec<_>>()
    };
    for count in [1, 2, 15, 16, 17, 100] {
        let object = format!("{{{}}}", names(count).join(","));
        assert_eq!(
            read_object(object.as_bytes(), &limits())
                .unwrap()
                .members()
                .len(),
            count
        );
        for twice in [0, count / 2, count - 1] {
            let json = format!(r#"{{{},"\u006e{twice}":0}}"#, names(count).join(","));
            assert_eq!(
                error(&json).kind(),
                JsonErrorKind::DuplicateMember,
                "{json}"
            );
            assert_eq!(error(&json).pointer(), format!("/n{twice}"));
        }
    }
}

#[test]
fn other_values_are_not_objects() {
    for json in ["1", "[]", "null", "\"{}\""] {
        let error = read_object(json.as_bytes(), &limits()).unwrap_err();
        assert_eq!(error.to_string(), "byte 0: expected an object");
    }
}

#[test]
fn strings_without_escapes_are_borrowed_and_members_keep_their_text() {
    let object = read_object(br#"{"a": "x" ,"b":[ 1.50, "\u0061" ]}"#, &limits()).unwrap();
    let [a, b] = object.members() else { panic!() };
    assert!(matches!(
        a.value(),
        JsonValue::String(std::borrow::Cow::Borrowed("x"))
    ));
    assert_eq!((a.json(), b.json()), (r#""x""#, r#"[ 1.50, "\u0061" ]"#));
}

#[test]
fn debug_prints_no_content_and_zeroize_leaves_none() {
    use zeroize::Zeroize as _;
    let mut object = read_object(
        br#"{"a":"\u0078y","b":["\u007a",{"c":"\u0077"}]}"#,
        &limits(),
    )
    .unwrap();
    assert_eq!(
        format!("{object:?} {:?}", object.members()),
        r#"an object of 2 members ["a": a string, "b": an array]"#
    );
    object.zeroize();
    let wiped = read_object(br#"{"a":"","b":["",{"c":""}]}"#, &limits()).unwrap();
    assert_eq!(object, wiped);
}

#[test]
fn an_error_is_small() {
    assert!(size_of::<JsonError>() <= 56);
    assert!(size_of::<JsonValue<'_>>() <= 32 && size_of::<JsonMember<'_>>() <= 72);
}

/// JSON texts with unusual spellings, some of them invalid.
fn any_json() -> impl Strategy<Value = String> {
    let string = "(\\\\[\"\\\\/bfnrtu]|\\\\u[0-9a-dA-F]{4}|\\\\ud83d\\\\ude0[0-9a-f]|[ -!#-\\[\\]-~é👍]){0,12}";
    let leaf = prop_oneof![
        string.prop_map(|inner| format!("\"{inner}\"")),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,5})?([eE][+-]?[0-9]{1,2})?",
        "true|false|null| 1 |-|01|tru|\"|",
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6)
                .prop_map(|list| format!("[{}]", list.join(","))),
            prop::collection::vec(("[a-c]{0,2}", inner), 0..6).prop_map(|members| {
                let members: Vec<_> = members
                    .iter()
                    .map(|(name, value)| format!("\"{name}\" :{value}"))
                    .collect();
                format!("{{{}}}", members.join(", "))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_peer_agrees_on_documents(json in any_json()) {
        compare(json.as_bytes());
    }

    #[test]
    fn the_peer_agrees_on_damaged_documents(
        json in any_json(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut json = json.into_bytes();
        if !json.is_empty() {
            let at = at.index(json.len());
            json[at] = byte;
        }
        compare(&json);
    }

    #[test]
    fn what_is_written_is_read_and_as_the_peer_writes_it(text in "(\\PC|[\\x00-\\x7f]){0,40}") {
        let mut json = String::new();
        write_string(&text, &mut json);
        prop_assert_eq!(&json, &serde_json::to_string(&text).unwrap());
        let read = read(json.as_bytes(), &limits()).unwrap();
        prop_assert_eq!(read.as_str(), Some(text.as_str()));
    }
}

/// Each special character is put at each place of texts as long as the pieces of the search, and a
/// bit shorter and longer.
#[test]
fn marks_are_found_at_each_place() {
    let naive = |text: &str| -> String { serde_json::to_string(text).unwrap() };
    let mut filler = "ab !#[]\u{7f}é€".chars().cycle();
    for length in (0..20).chain(28..44).chain(60..76).chain(92..104) {
        let plain: Vec<char> = filler
            .by_ref()
            .filter(char::is_ascii)
            .take(length)
            .collect();
        for at in 0..=length {
            for mark in [
                "",
                "\"",
                "\\",
                "\u{1f}",
                "\0",
                "\n\t",
                "\"\\",
                "\u{1f}\u{20}",
                "\u{7f}",
                "\u{80}",
                "é\"",
            ] {
                let text: String = plain[..at]
                    .iter()
                    .copied()
                    .chain(mark.chars())
                    .chain(plain[at..].iter().copied())
                    .collect();
                let mut json = String::new();
                write_string(&text, &mut json);
                assert_eq!(json, naive(&text));
                assert_eq!(
                    read(json.as_bytes(), &limits()).unwrap().as_str(),
                    Some(text.as_str())
                );
                if mark == "\u{1f}" {
                    let raw = format!("\"{text}\"");
                    assert_eq!(
                        error(&raw).to_string(),
                        format!("byte {}: expected no control character", at + 1)
                    );
                }
            }
        }
    }
}

#[test]
fn the_first_half_of_a_surrogate_pair_is_below_dc00() {
    for bad in [
        r#""\udc00\udc00""#,
        r#""\udfff\udc00""#,
        r#""\ud800\ue000""#,
        r#""\ud800\udbff""#,
    ] {
        assert_eq!(error(bad).kind(), JsonErrorKind::UnpairedSurrogate, "{bad}");
    }
    let replacing = limits().replace_lone_surrogates(true);
    for (text, replaced) in [
        (r#""a\ud800b\udc00""#, "a\u{fffd}b\u{fffd}"),
        (r#""\ud800\ud83d\ude00\\ud800""#, "\u{fffd}\u{1f600}\\ud800"),
        (r#""\ud800\u0041""#, "\u{fffd}A"),
    ] {
        let read = read(text.as_bytes(), &replacing).unwrap();
        assert_eq!(read.as_str(), Some(replaced), "{text}");
        assert_eq!(
            error(text).kind(),
            JsonErrorKind::UnpairedSurrogate,
            "{text}"
        );
    }
    for (pair, character) in [
        (r#""\ud800\udc00""#, "\u{10000}"),
        (r#""\udbff\udfff""#, "\u{10ffff}"),
    ] {
        assert_eq!(
            read(pair.as_bytes(), &limits()).unwrap().as_str(),
            Some(character)
        );
    }
}

#[test]
fn members_are_found_taken_and_compared() {
    let mut object = read_object(br#"{"a":1,"b":"x","c":true}"#, &limits()).unwrap();
    assert_eq!(object.get("b").and_then(JsonValue::as_str), Some("x"));
    assert_eq!(object.get("d"), None);
    assert_eq!(object.take("d"), None);
    let taken = object.take("a");
    assert!(matches!(taken, Some(JsonValue::Number(number)) if number.as_i64() == Some(1)));
    assert_eq!((object.members().len(), object.get("a")), (2, None));
    assert_eq!(object.get("c"), Some(&JsonValue::Bool(true)));
    let member =
        |json: &'static str| read_object(json.as_bytes(), &limits()).unwrap().members()[0].clone();
    assert!(
        member(r#"{"a":1}"#) == member(r#"{ "\u0061" : 1 }"#),
        "the spelling does not count"
    );
    assert!(
        member(r#"{"a":1}"#) != member(r#"{"b":1}"#)
            && member(r#"{"a":1}"#) != member(r#"{"a":2}"#)
    );
    for (json, kind) in [
        ("null", "null"),
        ("true", "a boolean"),
        ("1", "a number"),
        ("\"\"", "a string"),
        ("[]", "an array"),
        ("{}", "an object"),
    ] {
        let value = read(json.as_bytes(), &limits()).unwrap();
        assert_eq!(
            (value.kind(), format!("{value:?}")),
            (kind, kind.to_owned())
        );
        assert_eq!(value.as_str().is_some(), kind == "a string");
        if let JsonValue::Number(number) = value {
            assert_eq!(format!("{number:?}"), "a number");
        }
    }
}

#[test]
fn objects_are_written_member_by_member() {
    assert_eq!(JsonObjectWriter::new().finish(), "{}");
    let written = JsonObjectWriter::new()
        .optional_string("absent", None)
        .string("a", "x\"")
        .optional_string("b", Some("y"))
        .raw("c", 1.5)
        .optional_raw("d", None::<u8>)
        .optional_raw("e", Some("[null]"))
        .string("f\n", "");
    assert_eq!(
        written.finish(),
        r#"{"a":"x\"","b":"y","c":1.5,"e":[null],"f\n":""}"#
    );
    let mut json = "=".to_owned();
    write_content("\u{8}\u{c}\n\r\t\u{1}\u{1f}\"\\/", &mut json);
    assert_eq!(json, r#"=\b\f\n\r\t\u0001\u001f\"\\/"#);
}

#[test]
fn each_limit_has_its_default_and_its_setter() {
    let limits = JsonLimits::default();
    let fault = |json: &str, limits: &JsonLimits| {
        read(json.as_bytes(), limits)
            .map(drop)
            .map_err(|error| error.kind())
    };
    let spaces = |length: usize| format!("1{}", " ".repeat(length - 1));
    assert_eq!(fault(&spaces(1 << 20), &limits), Ok(()));
    let found = (1 << 20) + 1;
    assert_eq!(
        fault(&spaces(found), &limits),
        Err(JsonErrorKind::TooLong {
            max: 1 << 20,
            found
        })
    );
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert_eq!(fault(&deep(64), &limits), Ok(()));
    assert_eq!(
        fault(&deep(65), &limits),
        Err(JsonErrorKind::TooDeep { max: 64 })
    );
    let values = |count: usize| format!("[{}]", vec!["0"; count - 1].join(","));
    assert_eq!(fault(&values(65_536), &limits), Ok(()));
    assert_eq!(
        fault(&values(65_537), &limits),
        Err(JsonErrorKind::TooManyValues { max: 65_536 })
    );
    for (asked, deepest) in [
        (5, 5),
        (127, 127),
        (128, 128),
        (129, 128),
        (usize::MAX, 128),
    ] {
        let limits = limits.max_depth(asked);
        assert_eq!(fault(&deep(deepest), &limits), Ok(()));
        assert_eq!(
            fault(&deep(deepest + 1), &limits),
            Err(JsonErrorKind::TooDeep { max: deepest })
        );
    }
}

#[test]
fn no_level_at_all_leaves_plain_values() {
    let flat = JsonLimits::new().max_depth(0);
    assert!(
        read(b"1", &flat).is_ok() && read(b"[]", &flat).is_err() && read(b"{}", &flat).is_err()
    );
}

#[test]
fn what_was_closed_counts_no_longer_as_nested() {
    let limits = JsonLimits::new().max_depth(3);
    let accepted = |json: &str| read(json.as_bytes(), &limits).is_ok();
    assert!(accepted("[[], {}, [[]], [[], []]]"));
    assert!(!accepted("[[], {}, [[[]]]]") && !accepted("[[[]], [[]], [[[]]]]"));
}

#[test]
fn a_pointer_escapes_what_a_terminal_would_obey_and_nothing_else() {
    let mut pointer = String::new();
    push_pointer_segment(&mut pointer, "a~b/c \u{e9}'\"\\\u{1b}[m");
    assert_eq!(pointer, "/a~0b~1c \u{e9}'\"\\\\u{1b}[m");
}
