//! Descriptions of keys: `show`, `thumbprint`, `jwks`.

use super::file;
use super::jwk_set;
use crate::failure::{Failure, Outcome};
use crate::input;
use crate::output::{Output, Style};
use crate::text::{shown, shown_json};
use bankrail::jose::{Jwk, KeyMaterial, PublicKey, Role};
use serde_json::json;

pub(super) fn run(files: &[String], json: bool, output: &mut Output) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::Fine;
    for path in files {
        let name = input::name(path);
        if !json {
            output.line(output.paint(Style::Bold, &shown(name)))?;
        }
        let mut key = |what: &str, public: &PublicKey, jwk: Option<&Jwk>| {
            let taken = matches!(public.bits(), 2048 | 3072 | 4096);
            outcome = outcome.and(Outcome::of_findings(!taken));
            if json {
                return output.json(&json!({
                    "file": name, "what": what, "bits": public.bits(), "taken": taken,
                    "thumbprint": public.thumbprint(), "kid": jwk.and_then(Jwk::kid),
                    "uses": jwk.map(uses),
                }));
            }
            key_lines(what, public, taken, output)?;
            jwk.map_or(Ok(()), |jwk| jwk_lines(jwk, output))
        };
        let of_jwk = |jwk: &Jwk| match jwk.private_key() {
            Some(_) => "private key, JWK",
            None => "public key, JWK",
        };
        match file::read(path)? {
            KeyMaterial::Private(format, private) => {
                key(
                    &format!("private key, {format}"),
                    &private.public_key(),
                    None,
                )?;
            }
            KeyMaterial::Public(format, public) => {
                key(&format!("public key, {format}"), &public, None)?;
            }
            KeyMaterial::Jwk(jwk) => key(of_jwk(&jwk), jwk.public_key(), Some(&jwk))?,
            KeyMaterial::Set(set) => {
                for jwk in set.keys() {
                    key(of_jwk(jwk), jwk.public_key(), Some(jwk))?;
                }
                for unusable in set.unusable() {
                    outcome = Outcome::Findings;
                    let (index, error) = (unusable.index, unusable.error.to_string());
                    if json {
                        let kid = &unusable.kid;
                        output.json(&json!({
                            "file": name, "index": index, "kid": kid, "unusable": error,
                        }))?;
                        continue;
                    }
                    let kid = unusable.kid.as_deref().unwrap_or("none");
                    let line = format!("  unusable: index {index}, kid {kid}: {error}");
                    output.line(shown(&line))?;
                }
            }
        }
    }
    Ok(outcome)
}

/// Prints the lines about a key. A key whose length no operation of the specification allows is a
/// finding.
fn key_lines(
    what: &str,
    public: &PublicKey,
    taken: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    output.line(format_args!("  {what}"))?;
    output.line(format_args!(
        "    bits        {}{}",
        public.bits(),
        if taken {
            ""
        } else {
            ", refused: expected 2048 or 4096"
        }
    ))?;
    output.line(format_args!("    thumbprint  {}", public.thumbprint()))
}

fn jwk_lines(jwk: &Jwk, output: &mut Output) -> Result<(), Failure> {
    output.line(format_args!(
        "    kid         {}",
        jwk.kid().map_or("none".into(), shown)
    ))?;
    let uses = match uses(jwk).join(", ") {
        none if none.is_empty() => "nothing".to_owned(),
        uses => uses,
    };
    output.line(format_args!("    used for    {uses}"))
}

/// Returns the permitted uses of a key.
fn uses(jwk: &Jwk) -> Vec<String> {
    [Role::Sign, Role::Verify, Role::Encrypt, Role::Decrypt]
        .into_iter()
        .filter(|role| jwk.allows(*role).is_ok())
        .map(|role| role.to_string())
        .collect()
}

pub(super) fn thumbprints(files: &[String], output: &mut Output) -> Result<Outcome, Failure> {
    for path in files {
        let publics: Vec<PublicKey> = match file::read(path)? {
            KeyMaterial::Private(_, key) => vec![key.public_key()],
            KeyMaterial::Public(_, key) => vec![key],
            KeyMaterial::Jwk(jwk) => vec![jwk.public_key().clone()],
            KeyMaterial::Set(set) => set
                .keys()
                .iter()
                .map(|jwk| jwk.public_key().clone())
                .collect(),
        };
        for public in publics {
            output.line(public.thumbprint())?;
        }
    }
    Ok(Outcome::Fine)
}

pub(super) fn jwks(
    sign: &[String],
    encrypt: &[String],
    output: &mut Output,
) -> Result<(), Failure> {
    let mut keys: Vec<(String, String)> = Vec::new();
    let mut add = |path: &str, kid: &str, jwk: String| {
        if keys.iter().any(|(known, _)| known == kid) {
            let what = format!(
                "{}: expected another kid than the keys before, found {kid} again",
                input::name(path)
            );
            return Err(Failure::refused(
                shown(&what),
                "give the key a name of its own with bankrail keys convert",
            ));
        }
        keys.push((kid.to_owned(), jwk));
        Ok(())
    };
    for path in sign {
        for key in file::verifying(path)?.keys().iter().cloned() {
            let kid = key.kid().map_or_else(|| key.thumbprint(), str::to_owned);
            add(path, &kid, key.with_kid(&kid).to_jwk())?;
        }
    }
    for path in encrypt {
        let key = file::encryption(path, None)?;
        let kid = key.kid().map_or_else(|| key.thumbprint(), str::to_owned);
        add(path, &kid, key.with_kid(&kid).to_jwk())?;
    }
    let keys: Vec<String> = keys.into_iter().map(|(_, jwk)| jwk).collect();
    let set = jwk_set(&keys);
    output.line(shown_json(&set))
}
