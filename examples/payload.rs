//! Seals a JSON message and opens it again: JWS with RS256, then JWE with RSA-OAEP and A256CBC-HS512.
//!
//! - `payload` shows both in one go, with keys made at start.
//! - `payload keys DIR` makes a signing key and an encryption key, PEM, in DIR.
//! - `payload seal DIR` reads a JSON message from standard input and prints the sealed text.
//! - `payload open DIR` reads a sealed text from standard input and prints the verified message.
