//! `report show --plots DIR`: a run's plots as files.

use std::fs;
use std::path::Path;

use super::output::{Answer, Failure, Outcome};
use crate::report::plot::plots;
use crate::report::record::Report;

/// Writes one SVG a plot, over what has its name there, and says what it wrote and what it could not draw.
pub(super) fn write(report: &Report, folder: &Path) -> Outcome {
    let plots = plots(report);
    if plots.is_empty() {
        let text = format!("no plots: no table of run {} has a `plot`\n", report.run.id);
        return Ok(Answer::from(text));
    }
    let failed = |path: &Path, error| {
        Failure::environment(format!("cannot write {}: {error}", path.display()))
    };
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let mut text = String::new();
    for plot in plots {
        match plot.drawn {
            Ok(drawn) => {
                let path = folder.join(&plot.file);
                fs::write(&path, drawn.svg).map_err(|error| failed(&path, error))?;
                text.push_str(&format!("wrote {}\n", path.display()));
                for what in drawn.without {
                    text.push_str(&format!("  without {what}\n"));
                }
            }
            Err(why) => text.push_str(&format!("left out {}: {why}\n", plot.file)),
        }
    }
    Ok(Answer::from(text))
}
