//! Mandate, payment and query webhook messages: types, validators, duplicate keys and ordering
