//! The customer's side over HTTP: tokens, statements, webhook receivers
