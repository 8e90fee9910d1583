//! One text for the loader of specs. `suite/tests/corpus.rs` replays the kept ones.

use std::io;
use std::path::Path;
use std::sync::OnceLock;

use cuda_gates::expr::Engine;
use cuda_gates::image::Catalog;
use cuda_gates::spec::Loader;
use cuda_gates::spec::model::Suite;
use cuda_gates::terms::{ImageKind, Profile};
use cuda_gates::worker::sources::names;
use cuda_gates::{case, plan};

use super::problems;

/// Cases of a suite whose plan is made: a plan is pure data, but there may be many.
const PLANS_MAX: usize = 8;

/// The loader ends with a suite or with problems at places of the text; a suite's cases can be told and planned.
pub fn run(data: &[u8]) {
    static CATALOG: OnceLock<Catalog> = OnceLock::new();
    let catalog = CATALOG.get_or_init(Catalog::embedded);
    // What stands beside a spec is no part of the input.
    let nothing = |_: &Path| Err(io::Error::from(io::ErrorKind::NotFound));
    let loader = Loader::new(catalog, names()).reading(&nothing);
    match loader.text("specs/made.yaml", data) {
        Ok(suite) => plans(suite, catalog),
        Err(errors) => problems::are_told(&errors, data),
    }
}

fn plans(suite: Suite, catalog: &Catalog) {
    let suites = [suite];
    let engine = Engine::new();
    for profile in Profile::ALL {
        // Two cases of one name are a problem too.
        let Ok(cases) = case::expand(&suites, *profile, &[ImageKind::Jit]) else {
            return;
        };
        for case in cases.iter().take(PLANS_MAX) {
            let found = case::find(&suites, &case.id).map(|found| found.id);
            assert_eq!(found.as_ref(), Some(&case.id));
            if let Err(fault) = plan::build(&suites[0], case, catalog, &engine) {
                assert!(!fault.reason.message.is_empty());
            }
        }
    }
}
