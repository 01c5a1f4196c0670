use crate::tour::Sandbox;
use std::error::Error;
use std::path::Path;

pub(crate) async fn run(_: &Sandbox) -> Result<(), Box<dyn Error>> {
    Ok(())
}

pub(crate) async fn send(_: &str, _: &Path, _: Option<&Path>, _: &str, _: bool) -> Result<(), Box<dyn Error>> {
    Ok(())
}
