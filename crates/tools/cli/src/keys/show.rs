//! Descriptions of keys: `show`, `thumbprint`, `jwks`.

use super::file;
use super::jwk_set;
use crate::failure::{Failure, Outcome};
use crate::input;
use crate::output::{Output, Style};
use crate::text::{counted, shown, shown_json};
use bankrail::jose::{Jwk, KeyMaterial, PublicKey, Role};

pub(super) fn run(files: &[String], output: &mut Output) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::Fine;
    for path in files {
        output.line(output.paint(Style::Bold, &shown(input::name(path))))?;
        match file::read(path)? {
            KeyMaterial::Private(format, key) => {
                outcome = outcome.and(key_lines(
                    &format!("private key, {format}"),
                    &key.public_key(),
                    output,
                )?);
            }
            KeyMaterial::Public(format, key) => {
                outcome = outcome.and(key_lines(&format!("public key, {format}"), &key, output)?);
            }
            KeyMaterial::Jwk(jwk) => outcome = outcome.and(jwk_lines(&jwk, output)?),
            KeyMaterial::Set(set) => {
                let usable = counted(set.keys().len(), "usable key", "usable keys");
                output.line(format_args!("  JWK set of {usable}"))?;
                for jwk in set.keys() {
                    outcome = outcome.and(jwk_lines(jwk, output)?);
                }
                for unusable in set.unusable() {
                    outcome = Outcome::Findings;
                    let kid = unusable.kid.as_deref().unwrap_or("none");
                    let (index, error) = (unusable.index, &unusable.error);
                    let line = format!("  unusable: index {index}, kid {kid}: {error}");
                    output.line(shown(&line))?;
                }
            }
        }
    }
    Ok(outcome)
}

/// A key of a length that no operation of the specification takes is a finding.
fn key_lines(what: &str, public: &PublicKey, output: &mut Output) -> Result<Outcome, Failure> {
    let bits = public.bits();
    let taken = matches!(bits, 2048 | 3072 | 4096);
    output.line(format_args!("  {what}"))?;
    output.line(format_args!(
        "    bits        {bits}{}",
        if taken {
            ""
        } else {
            ", refused: expected 2048 or 4096"
        }
    ))?;
    output.line(format_args!("    thumbprint  {}", public.thumbprint()))?;
    Ok(Outcome::of_findings(!taken))
}

fn jwk_lines(jwk: &Jwk, output: &mut Output) -> Result<Outcome, Failure> {
    let what = if jwk.private_key().is_some() {
        "private key, JWK"
    } else {
        "public key, JWK"
    };
    let outcome = key_lines(what, jwk.public_key(), output)?;
    output.line(format_args!(
        "    kid         {}",
        jwk.kid().map_or("none".into(), shown)
    ))?;
    let roles = [Role::Sign, Role::Verify, Role::Encrypt, Role::Decrypt];
    let allowed: Vec<String> = roles
        .into_iter()
        .filter(|role| jwk.allows(*role).is_ok())
        .map(|role| role.to_string())
        .collect();
    let allowed = if allowed.is_empty() {
        "nothing".to_owned()
    } else {
        allowed.join(", ")
    };
    output.line(format_args!("    used for    {allowed}"))?;
    Ok(outcome)
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
