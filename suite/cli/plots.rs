//! `report show --plots DIR`: a run's plots as files.

use std::fs;
use std::io;
use std::path::Path;

use super::output::{Answer, Failure, Outcome};
use crate::report::plot::plots;
use crate::report::record::Report;

/// Writes one SVG a plot, over what has its name there, and says what it wrote, what it could not draw, and last what
/// it could not write: one picture's trouble is not another's.
pub(super) fn write(report: &Report, folder: &Path) -> Outcome {
    let plots = plots(report);
    if plots.is_empty() {
        let text = format!("no plots: no table of run {} has a `plot`\n", report.run.id);
        return Ok(Answer::from(text));
    }
    fs::create_dir_all(folder).map_err(|error| Failure::file(unwritten(folder, &error)))?;
    let mut answer = Answer::default();
    for plot in plots {
        let drawn = match plot.drawn {
            Ok(drawn) => drawn,
            Err(why) => {
                let left_out = format!("left out {}: {why}\n", plot.file);
                answer.text.push_str(&left_out);
                continue;
            }
        };
        let path = folder.join(&plot.file);
        if let Err(error) = fs::write(&path, drawn.svg) {
            let failure = Failure::file(unwritten(&path, &error));
            answer.code = failure.code;
            answer.trouble.push_str(&format!("{}\n", failure.text));
            continue;
        }
        answer.text.push_str(&format!("wrote {}\n", path.display()));
        for what in drawn.without {
            answer.text.push_str(&format!("  without {what}\n"));
        }
    }
    Ok(answer)
}

fn unwritten(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}
