//! Engines for bankrail's store traits: SQLite, Valkey or Redis, PostgreSQL
