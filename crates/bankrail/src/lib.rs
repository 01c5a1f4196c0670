//! A bank's intraday statements, access tokens and mandate webhooks: one crate to depend on, one feature per part
