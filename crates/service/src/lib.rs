//! The provider's side over HTTP: token endpoint, statement endpoint, webhook delivery
