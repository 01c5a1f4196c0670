//! Public-API tests.

mod models;
