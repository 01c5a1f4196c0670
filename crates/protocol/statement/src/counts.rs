//! Counts of entries as JSON, in the texts that a client stores.

use crate::EntryKey;
use bankrail_values::json::JsonValue;

/// Writes an array of pairs, each of a key in hexadecimal and its count, in the order of the keys.
pub(crate) fn to_json<'a>(counts: impl Iterator<Item = (&'a EntryKey, u32)>) -> String {
    let hex = |key: &EntryKey| {
        key.as_bytes()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    let mut pairs: Vec<String> = counts
        .map(|(key, count)| format!(r#"["{}",{count}]"#, hex(key)))
        .collect();
    pairs.sort_unstable();
    format!("[{}]", pairs.join(","))
}

/// Reads what [`to_json`] wrote.
pub(crate) fn from_json(value: &JsonValue<'_>) -> Option<Vec<(EntryKey, u32)>> {
    let JsonValue::Array(pairs) = value else {
        return None;
    };
    pairs.iter().map(read_count).collect()
}

fn read_count(pair: &JsonValue<'_>) -> Option<(EntryKey, u32)> {
    let JsonValue::Array(pair) = pair else {
        return None;
    };
    let [JsonValue::String(key), JsonValue::Number(count)] = pair.as_slice() else {
        return None;
    };
    Some((key.parse().ok()?, count.as_u64()?.try_into().ok()?))
}
