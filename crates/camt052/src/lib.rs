//! ISO 20022 camt.052.001.06 account reports: typed model, reader, writer and checks
