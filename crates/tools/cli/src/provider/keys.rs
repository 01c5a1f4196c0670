//! `bankrail provider keys`: the keys that sign webhooks.

use super::demo::{connections, no_key};
use super::folder::Folders;
use super::rotation::key_set;
use crate::failure::{Failure, Outcome};
use crate::keys::file;
use crate::keys::write::{NewFile, write};
use crate::output::Output;
use bankrail::jose::{RsaSize, SigningKey, VerifyingKey};
use clap::Subcommand;
use std::path::PathBuf;

/// The keys that a set keeps after a rotation.
const KEPT: usize = 3;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the keys that sign webhooks, and those that did before
    #[command(after_help = "Example:\n  bankrail provider keys list")]
    List,
    /// Make a new key that signs webhooks; a running provider uses it within a second
    ///
    /// signing.jwks.json, and provider.jwks.json of each demo customer, then have the new key and
    /// the ones before, so that messages that are under way stay valid. Give the set to receivers
    /// first if they do not read these files.
    #[command(after_help = "Example:\n  bankrail provider keys rotate")]
    Rotate,
}

pub(super) fn run(
    command: &Command,
    folders: &Folders,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    match command {
        Command::List => {
            for (at, key) in published(folders)?.iter().enumerate() {
                let use_ = if at == 0 { "signs" } else { "signed before" };
                output.line(format_args!(
                    "{}  {} bits  {use_}",
                    key.thumbprint(),
                    key.public_key().bits()
                ))?;
            }
        }
        Command::Rotate => {
            let (keys, sets) = rotated(folders)?;
            for (key, use_) in keys.iter().zip([
                "signs from now on",
                "signed before, and stays in the key set",
            ]) {
                output.line(format_args!("{}  {use_}", key.thumbprint()))?;
            }
            for path in sets {
                output.line(format_args!("{}", path.display()))?;
            }
        }
    }
    Ok(Outcome::Fine)
}

/// Makes a new key that signs. Returns the keys of the set, the new one first, and the files that
/// have the set.
pub(super) fn rotated(folders: &Folders) -> Result<(Vec<VerifyingKey>, Vec<PathBuf>), Failure> {
    let new = SigningKey::generate(RsaSize::Rsa2048).map_err(|error| no_key(&error))?;
    let public = new.verifying_key();
    let _alone = folders.lock_changes()?;
    let mut keys = vec![public.clone()];
    keys.extend(published(folders)?);
    keys.truncate(KEPT);
    let set = key_set(&keys);
    let mut sets = vec![folders.config("signing.jwks.json")];
    if folders.is_demo() {
        sets.extend(
            connections(folders)?
                .into_iter()
                .map(|(home, _)| home.join("provider.jwks.json")),
        );
    }
    // Receivers can know the key before the first message is signed with it.
    write(
        &sets
            .iter()
            .map(|path| NewFile::public(path, &set))
            .collect::<Vec<_>>(),
        true,
    )?;
    write(
        &[NewFile::public(
            folders.config("signing.pub.pem"),
            public.to_spki_pem(),
        )],
        true,
    )?;
    write(
        &[NewFile::private(
            folders.config("signing.pem"),
            new.to_pkcs8_pem(),
        )],
        true,
    )?;
    Ok((keys, sets))
}

/// The keys of the set, the one in use first; without a set that one alone.
pub(super) fn published(folders: &Folders) -> Result<Vec<VerifyingKey>, Failure> {
    let in_use = folders.signing_key()?;
    let path = folders.config("signing.jwks.json");
    if !path.exists() && !folders.is_demo() {
        return Ok(vec![in_use.verifying_key()]);
    }
    let keys = file::verifying(&path.to_string_lossy()).map_err(Failure::into_unable)?;
    let mut keys = keys.keys().to_vec();
    let used = in_use.verifying_key();
    // First, so that a rotation keeps it, whatever else is in the set.
    keys.retain(|key| key.thumbprint() != used.thumbprint());
    keys.insert(0, used);
    Ok(keys)
}
