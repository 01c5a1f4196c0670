use std::error::Error;
use std::path::Path;

pub(crate) async fn run(_: &Path, _: u16) -> Result<(), Box<dyn Error>> {
    Ok(())
}
