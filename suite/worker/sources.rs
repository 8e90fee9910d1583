//! Where specs and kernels come from, for the supervisor and its workers alike.
use crate::spec::model::Suite;
use std::path::Path;
pub struct Sources {
    pub suites: Vec<Suite>,
    pub sass: bool,
}
pub fn load(_specs: Option<&Path>, _kernels: Option<&Path>) -> Result<Sources, String> {
    Err("x".into())
}
