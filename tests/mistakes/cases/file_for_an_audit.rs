//! Audit records go to a file, which the log opens by itself.
//! says: AuditFile::open(path, AuditFileOptions::new())
use bankrail::service::ProviderOptions;
use bankrail::service::audit::AuditOptions;
use std::fs::File;
use std::sync::Arc;

fn options(file: File) -> ProviderOptions {
    ProviderOptions::new().audit(Arc::new(file), AuditOptions::new())
}

fn main() {}
