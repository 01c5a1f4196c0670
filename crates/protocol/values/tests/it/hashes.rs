//! Hashes and their text.

bankrail_values::hash_value! {
    struct RowId;
}

#[test]
fn a_hash_is_read_as_it_is_written() {
    let id = RowId::from_bytes(std::array::from_fn(|at| u8::try_from(at * 8 + 7).unwrap()));
    let text = "070f171f272f373f474f575f676f777f878f979fa7afb7bfc7cfd7dfe7eff7ff";
    assert_eq!(id.to_string(), text);
    assert_eq!(format!("{id:.8}"), "070f171f", "enough to find it");
    assert_eq!(text.parse(), Ok(id));
    assert_eq!(text.to_uppercase().parse(), Ok(id));
    assert_eq!(RowId::from(*id.as_bytes()), id);
    assert_eq!(format!("{id:?}"), "RowId(070f171f…)");
}

#[test]
fn other_texts_are_no_hash() {
    let sound = "0f".repeat(32);
    for broken in [
        "",
        &sound[1..],
        &sound[2..],
        &format!("{sound}0"),
        &format!("{sound}0f"),
        &sound.replace('f', "g"),
        &sound.replace('0', "+"),
    ] {
        let error = broken.parse::<RowId>().unwrap_err();
        assert_eq!(error.expected, "64 hexadecimal digits", "{broken}");
    }
    assert!("é".repeat(32).parse::<RowId>().is_err());
}
