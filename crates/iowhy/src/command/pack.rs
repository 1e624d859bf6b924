//! `iowhy pack`.

use crate::failure::Failure;
use clap::Args;
use indicatif::HumanBytes;
use std::path::PathBuf;

/// Pack a capture into one compressed file, to send it
#[derive(Args)]
pub struct Pack {
    /// The folder that `iowhy record` made
    #[arg(value_name = "DIR")]
    pub capture: PathBuf,
    /// The file [default: DIR.tar.zst]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace names of tasks and files, in the trace too; leave out files that may hold others
    #[arg(long)]
    pub redact: bool,
}

impl Pack {
    /// Packs the capture; says on standard error what was left out, and how large the file is.
    pub fn run(&self) -> Result<(), Failure> {
        let packed = capture::pack(&self.capture, self.output.as_deref(), self.redact)?;
        for words in &packed.left_out {
            remark!("iowhy: left out {words}");
        }
        let (bytes, whole) = (HumanBytes(packed.bytes.0), HumanBytes(packed.unpacked.0));
        remark!("iowhy: {} holds {whole} in {bytes}", packed.path.display());
        remark!("       unpack it with: tar --zstd -xf {}", packed.path.display());
        Ok(())
    }
}
