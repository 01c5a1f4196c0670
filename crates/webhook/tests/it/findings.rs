//! Findings as they are stored.

use bankrail_webhook::{MessageFinding, Rule};

#[test]
fn findings_of_another_version_are_kept() {
    let stored = r#"[["a_new_rule","/a","a colour","\"red\""],["null","/b","no null","null"]]"#;
    let read = serde_json::from_str::<Vec<MessageFinding>>(stored).unwrap();
    assert_eq!((read[0].rule, &*read[0].expected), (Rule::OtherVersion, "a_new_rule: a colour"));
    assert_eq!((read[0].pointer.as_str(), read[0].found.as_str()), ("/a", "\"red\""));
    assert_eq!(read[1].rule, Rule::Null);
    let again = serde_json::to_string(&read).unwrap();
    assert_eq!(serde_json::from_str::<Vec<MessageFinding>>(&again).unwrap(), read);
    assert!(serde_json::from_str::<Vec<MessageFinding>>("[7]").is_err());
}
