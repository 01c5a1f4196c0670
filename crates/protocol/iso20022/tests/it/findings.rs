//! Findings of rules that the engine does not know.

use bankrail_iso20022::{BrokenRule, FindingKind};

#[test]
fn a_broken_rule_is_what_its_message_says_it_is() {
    let rule = BrokenRule::new("Sum", 5_u32);
    assert_eq!(
        (rule.name(), rule.get::<u32>(), rule.get::<u64>()),
        ("Sum", Some(&5), None)
    );
    assert_eq!(
        (
            rule.to_string().as_str(),
            format!("{:?}", BrokenRule::new("Sum", "a")).as_str()
        ),
        ("5", "\"a\"")
    );
    assert_eq!(rule, BrokenRule::new("Sum", 5_u32));
    assert_ne!(rule, BrokenRule::new("Sum", 6_u32));
    assert_ne!(rule, BrokenRule::new("Sum", 5_u64));
    let kind = FindingKind::BrokenRule(rule);
    assert_eq!(
        (kind.name(), kind.is_schema(), kind.to_string().as_str()),
        ("Sum", false, "5")
    );
}
