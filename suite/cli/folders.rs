//! Where specs and kernels come from, for commands that run nothing.

use std::path::PathBuf;

use super::args::Folders;
use super::output::Failure;
use crate::image::Catalog;
use crate::runner::Options;
use crate::worker::sources::{self, Sources};

/// The folders, chosen; none: the embedded copy.
pub(super) struct Found {
    specs: Option<PathBuf>,
    kernels: Option<PathBuf>,
}

impl Found {
    /// The folder named by argument or environment, else the one of this name where the command is started.
    pub fn of(folders: Folders, environment: Options) -> Self {
        let options = folders.resolve(environment);
        let here = |name: &str| Some(PathBuf::from(name)).filter(|path| path.is_dir());
        Self {
            specs: options.specs.or_else(|| here("specs")),
            kernels: options.kernels.or_else(|| here("kernels")),
        }
    }

    /// # Errors
    /// Every problem of every spec, or a folder that cannot be read: exit code 2.
    pub fn sources(&self) -> Result<Sources, Failure> {
        sources::load(self.specs.as_deref(), self.kernels.as_deref()).map_err(Failure::usage)
    }

    /// # Errors
    /// When the folder of kernels cannot be read: exit code 2.
    pub fn catalog(&self) -> Result<Catalog, Failure> {
        Catalog::open(self.kernels.as_deref()).map_err(Failure::usage)
    }
}
