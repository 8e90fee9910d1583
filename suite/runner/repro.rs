//! The command that runs a case again, as a shell takes it.

use std::path::Path;

use super::options::{DeviceChoice, Options};
use crate::device::sim::Schedule;
use crate::terms::ImageKind;

/// From a case's id to the command that runs it again: as in this run, or under the schedule given.
pub(super) type Repro = Box<dyn Fn(&str, Option<Schedule>) -> String + Send + Sync>;

/// For the binary's own run.
pub(super) fn binary_repro(options: &Options) -> Repro {
    let path = |path: &Path| path.to_string_lossy().into_owned();
    let device = match &options.device {
        DeviceChoice::Auto => None,
        DeviceChoice::One(address) => Some(address.to_string()),
        DeviceChoice::All => Some("all".to_owned()),
    };
    let folders = [
        ("--specs", options.specs.as_deref().map(path)),
        ("--kernels", options.kernels.as_deref().map(path)),
    ];
    let folders = arguments(folders);
    let chosen = arguments([
        ("--profile", options.profile.map(|p| p.name().to_owned())),
        ("--image", options.images.as_deref().map(image_names)),
    ]);
    let given = options.schedules.arguments();
    let again = arguments(given.into_iter().map(|(name, value)| (name, Some(value))));
    Box::new(move |id, schedule| {
        let id = quoted(id);
        match schedule {
            // Complete, whatever the machine or the defaults are.
            Some(schedule) => {
                let schedule = quoted(&schedule.to_string());
                format!(
                    "cuda-gates run --device sim{folders}{chosen} --exact {id} --schedule {schedule}"
                )
            }
            None => {
                let device = arguments([("--device", device.clone())]);
                format!("cuda-gates run{device}{folders} --exact {id}{again}")
            }
        }
    })
}

/// ` --name value` for each that has a value.
fn arguments<'n>(given: impl IntoIterator<Item = (&'n str, Option<String>)>) -> String {
    given
        .into_iter()
        .filter_map(|(name, value)| Some(format!(" {name} {}", quoted(&value?))))
        .collect()
}

fn image_names(images: &[ImageKind]) -> String {
    let names: Vec<&str> = images.iter().map(|image| image.name()).collect();
    names.join(",")
}

/// For the `gates` target.
pub(super) fn target_repro(options: &Options) -> Repro {
    let path = |path: &Path| path.to_string_lossy().into_owned();
    let device = match &options.device {
        DeviceChoice::Auto => None,
        DeviceChoice::One(address) => Some(address.to_string()),
        DeviceChoice::All => Some("all".to_owned()),
    };
    let folders = [
        ("CUDA_GATES_SPECS", options.specs.as_deref().map(path)),
        ("CUDA_GATES_KERNELS", options.kernels.as_deref().map(path)),
    ];
    let folders = variables(folders);
    let choice = options.schedules;
    let again = variables([
        ("CUDA_GATES_SCHEDULES", choice.count.map(|c| c.to_string())),
        ("CUDA_GATES_SEED", choice.seed.map(|s| s.to_string())),
        ("CUDA_GATES_SCHEDULE", choice.only.map(|s| s.to_string())),
    ]);
    Box::new(move |id, schedule| {
        let device = match schedule {
            Some(_) => Some("sim".to_owned()),
            None => device.clone(),
        };
        let device = variables([("CUDA_GATES_DEVICE", device)]);
        let schedules = match schedule {
            Some(only) => variables([("CUDA_GATES_SCHEDULE", Some(only.to_string()))]),
            None => again.clone(),
        };
        let id = quoted(id);
        format!("{device}{folders}{schedules}cargo test --test gates -- --exact {id}")
    })
}

/// `NAME=value ` for each that has a value.
fn variables<'n>(given: impl IntoIterator<Item = (&'n str, Option<String>)>) -> String {
    given
        .into_iter()
        .filter_map(|(name, value)| Some(format!("{name}={} ", quoted(&value?))))
        .collect()
}

/// As a shell takes it for one word.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-=:,./+@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::ScheduleChoice;
    use crate::terms::Profile;
    use crate::worker::Address;

    #[test]
    fn a_schedule_is_replayed_by_one_command() {
        let explored = Options {
            specs: Some("my specs".into()),
            profile: Some(Profile::Quick),
            images: Some(vec![ImageKind::Jit, ImageKind::Nvrtc]),
            schedules: ScheduleChoice {
                count: Some(20),
                seed: Some(3),
                only: None,
            },
            ..Options::default()
        };
        let id = "s::g::n=1::jit";
        let failing: Option<Schedule> = Some("random:7,switches=13".parse().unwrap());
        assert_eq!(
            binary_repro(&explored)(id, failing),
            "cuda-gates run --device sim --specs 'my specs' --profile quick --image jit,nvrtc --exact s::g::n=1::jit \
             --schedule random:7,switches=13"
        );
        assert_eq!(
            binary_repro(&explored)(id, None),
            "cuda-gates run --specs 'my specs' --exact s::g::n=1::jit --schedules 20 --seed 3"
        );
        assert_eq!(
            target_repro(&explored)(id, failing),
            "CUDA_GATES_DEVICE=sim CUDA_GATES_SPECS='my specs' CUDA_GATES_SCHEDULE=random:7,switches=13 cargo test \
             --test gates -- --exact s::g::n=1::jit"
        );
        assert_eq!(
            target_repro(&explored)(id, None),
            "CUDA_GATES_SPECS='my specs' CUDA_GATES_SCHEDULES=20 CUDA_GATES_SEED=3 cargo test --test gates -- \
             --exact s::g::n=1::jit"
        );
    }

    #[test]
    fn the_command_that_runs_a_case_again_is_one_a_shell_takes() {
        let plain = Options::default();
        let id = "s::g::n=1::jit";
        assert_eq!(
            binary_repro(&plain)(id, None),
            "cuda-gates run --exact s::g::n=1::jit"
        );
        let chosen = Options {
            device: DeviceChoice::One(Address::Sim),
            specs: Some("my specs".into()),
            ..Options::default()
        };
        assert_eq!(
            binary_repro(&chosen)("s::g::t=it's::jit", None),
            r"cuda-gates run --device sim --specs 'my specs' --exact 's::g::t=it'\''s::jit'"
        );
        assert_eq!(
            target_repro(&chosen)(id, None),
            "CUDA_GATES_DEVICE=sim CUDA_GATES_SPECS='my specs' cargo test --test gates -- --exact s::g::n=1::jit"
        );
    }
}
