//! The issuer's name, and the paths of its metadata.

use bankrail_client_assertion::{Audience, VerifierOptions};
use http::Uri;
use http::uri::Scheme;

/// The name of an issuer: an `https` URL without user, query and fragment (RFC 8414 section 2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Issuer {
    name: Audience,
    /// `https://` and the authority.
    origin: String,
    /// The path, without the slash at its end. It is empty for an issuer without a path.
    path: String,
}

impl Issuer {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let name = Audience::parse(text).ok()?;
        let url: Uri = text.parse().ok()?;
        let authority = url.authority()?.as_str();
        let origin = format!("https://{authority}");
        // A URI of this type has no fragment: what follows a number sign is cut off.
        let rest = text.strip_prefix(&*origin)?;
        let secure = url.scheme() == Some(&Scheme::HTTPS);
        let path = rest.strip_suffix('/').unwrap_or(rest);
        let good = secure && !authority.contains('@') && (path.is_empty() || is_literal_path(path));
        good.then(|| Self {
            name,
            path: path.to_owned(),
            origin,
        })
    }

    pub(crate) fn as_str(&self) -> &str {
        self.name.as_str()
    }

    /// Returns the public address of a path that the provider serves.
    pub(crate) fn url_of(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }

    /// Returns the paths of the metadata: OpenID Connect Discovery 1.0 section 4.1, RFC 8414
    /// section 3.1, and section 5 for issuers with a path.
    pub(crate) fn metadata_paths(&self) -> Vec<String> {
        let path = &self.path;
        let mut paths = vec![
            format!("{path}/.well-known/openid-configuration"),
            format!("/.well-known/oauth-authorization-server{path}"),
        ];
        if !path.is_empty() {
            paths.push(format!("/.well-known/openid-configuration{path}"));
        }
        paths
    }

    /// Returns the paths of all documents of the issuer.
    pub(crate) fn paths(&self) -> Vec<String> {
        let mut paths = self.metadata_paths();
        paths.push(self.keys_path());
        paths
    }

    /// Returns the path of the issuer's keys.
    pub(crate) fn keys_path(&self) -> String {
        format!("{}/.well-known/jwks.json", self.path)
    }

    /// Adds the audiences that client libraries write by default: the issuer, and the address of
    /// the token endpoint.
    pub(crate) fn add_audiences(
        &self,
        token_path: &str,
        options: VerifierOptions,
    ) -> VerifierOptions {
        let token_url = Audience::parse(&self.url_of(token_path));
        let options = options.also_audience(self.name.clone());
        token_url
            .into_iter()
            .fold(options, VerifierOptions::also_audience)
    }
}

/// Returns true if the path is literal to the router: it begins with a slash and has no pattern and
/// no empty segment.
pub(crate) fn is_literal_path(path: &str) -> bool {
    let literal = |c: u8| c.is_ascii_alphanumeric() || b"/-._~!$&'()+,;=:@".contains(&c);
    // The router refuses a segment that begins with a colon, which was a pattern in older versions.
    let plain = !path.contains("//") && !path.contains("/:");
    path.starts_with('/') && plain && path.bytes().all(literal)
}
