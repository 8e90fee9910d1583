//! What memory a worker may take, so that one case asking for too much ends alone.
//!
//! Arrays of any length and scripts that grow without end are a spec's to write. Without a bound the system would
//! run out of memory and end whatever it likes, perhaps the supervisor.

use std::fs;
use std::path::Path;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::terms::DeviceKind;

/// What an allocation beyond the bound prints before the process aborts: `memory allocation of 16 bytes failed`.
const FAILED: [&str; 2] = ["memory allocation of ", " bytes failed"];

/// Bounds this process, which is a worker. Where the system does not allow it, it goes on without.
pub(super) fn bound(device: DeviceKind) {
    // Should memory run out nevertheless, this process goes first.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
    // The CUDA driver maps what it likes; the simulated device's memory is this process' own.
    if device == DeviceKind::Sim
        && let Some(bytes) = available(Path::new("/"))
    {
        let limit = getrlimit(Resource::Data);
        let most = bytes - bytes / 8;
        let current = Some(limit.current.map_or(most, |set| set.min(most)));
        let maximum = limit.maximum;
        let _ = setrlimit(Resource::Data, Rlimit { current, maximum });
    }
}

/// Bytes that this process could take: of the machine's, and no more than its control group has.
fn available(root: &Path) -> Option<u64> {
    let read = |path: &str| fs::read_to_string(root.join(path)).ok();
    let machine = read("proc/meminfo").as_deref().and_then(of_meminfo);
    let groups = [
        "sys/fs/cgroup/memory.max",
        "sys/fs/cgroup/memory/memory.limit_in_bytes",
    ];
    let groups = groups
        .iter()
        .filter_map(|path| read(path)?.trim().parse().ok());
    machine.into_iter().chain(groups).min()
}

fn of_meminfo(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// The line in which a dead worker says that it asked for more memory than it may have.
pub(super) fn ran_out(stderr: &str) -> Option<&str> {
    let [begin, end] = FAILED;
    let mut lines = stderr.lines().rev();
    lines.find(|line| line.starts_with(begin) && line.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn the_least_of_machine_and_control_group_is_available() {
        let meminfo = "MemTotal:  16 kB\nMemAvailable:    12 kB\nBuffers: 1 kB\n";
        let bare = root(&[("proc/meminfo", meminfo)]);
        assert_eq!(available(bare.path()), Some(12 * 1024));
        for (limit, expected) in [("4096\n", 4096), ("max\n", 12 * 1024), ("99999", 12 * 1024)] {
            let group = ("sys/fs/cgroup/memory.max", limit);
            let root = root(&[("proc/meminfo", meminfo), group]);
            assert_eq!(available(root.path()), Some(expected), "{limit}");
        }
        assert_eq!(available(root(&[]).path()), None);
        assert_eq!(of_meminfo("MemAvailable: lots"), None);
    }

    #[test]
    fn only_a_failed_allocation_is_out_of_memory() {
        let line = "memory allocation of 17179869184 bytes failed";
        assert_eq!(ran_out(&format!("before\n{line}\nafter\n")), Some(line));
        assert_eq!(ran_out("thread panicked\n"), None);
    }
}
