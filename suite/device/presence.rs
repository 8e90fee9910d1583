//! Whether this machine shows an NVIDIA device at all, asked without CUDA, NVML or any NVIDIA library.
//!
//! Owns: the question that decides between the simulated device and `error: environment`: a card with a broken driver
//! must never look like a machine without a card. Imports nothing of this crate.
//!
//! ```
//! use std::path::Path;
//! let found = cuda_gates::device::presence(Path::new("/nowhere"), Path::new("/nowhere"));
//! assert!(!found.is_present());
//! ```

use std::fs;
use std::path::Path;

/// PCI vendor of NVIDIA.
const NVIDIA: &str = "0x10de";
/// PCI base class of display controllers: VGA 0x0300xx, 3D 0x0302xx.
const DISPLAY: &str = "0x03";

/// What was found, in a stable order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Presence {
    /// PCI addresses of NVIDIA display devices: `0000:01:00.0`.
    pub pci: Vec<String>,
    /// WSL's GPU device, `/dev/dxg`. It may be another maker's card; only CUDA can tell.
    pub dxg: bool,
}

impl Presence {
    pub fn is_present(&self) -> bool {
        self.dxg || !self.pci.is_empty()
    }
}

impl std::fmt::Display for Presence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.pci.is_empty(), self.dxg) {
            (true, false) => f.write_str("no NVIDIA device"),
            (true, true) => f.write_str("/dev/dxg"),
            (false, false) => write!(f, "PCI {}", self.pci.join(", ")),
            (false, true) => write!(f, "PCI {}, /dev/dxg", self.pci.join(", ")),
        }
    }
}

/// Looks in `sysfs_root` (`/sys`) for NVIDIA display devices and in `dev_root` (`/dev`) for WSL's GPU.
///
/// A folder that cannot be read shows nothing: containers often hide sysfs.
pub fn presence(sysfs_root: &Path, dev_root: &Path) -> Presence {
    let devices = sysfs_root.join("bus/pci/devices");
    let mut pci: Vec<String> = fs::read_dir(devices)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| is_nvidia_display(&entry.path()))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    pci.sort();
    let dxg = dev_root.join("dxg").exists();
    Presence { pci, dxg }
}

fn is_nvidia_display(device: &Path) -> bool {
    let starts = |file: &str, with: &str| {
        fs::read_to_string(device.join(file)).is_ok_and(|text| text.trim().starts_with(with))
    };
    starts("vendor", NVIDIA) && starts("class", DISPLAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(devices: &[(&str, &str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (address, vendor, class) in devices {
            let device = root.path().join("bus/pci/devices").join(address);
            fs::create_dir_all(&device).unwrap();
            fs::write(device.join("vendor"), format!("{vendor}\n")).unwrap();
            fs::write(device.join("class"), format!("{class}\n")).unwrap();
        }
        root
    }

    #[test]
    fn finds_vga_and_3d_controllers_in_order() {
        let root = machine(&[
            ("0000:41:00.0", "0x10de", "0x030200"),
            ("0000:01:00.0", "0x10de", "0x030000"),
            ("0000:00:02.0", "0x8086", "0x030000"),
        ]);
        let found = presence(root.path(), Path::new("/nowhere"));
        assert_eq!(found.pci, ["0000:01:00.0", "0000:41:00.0"]);
        assert!(found.is_present());
        assert_eq!(found.to_string(), "PCI 0000:01:00.0, 0000:41:00.0");
    }

    #[test]
    fn a_cards_sound_function_and_other_makers_are_no_card() {
        let root = machine(&[
            ("0000:01:00.1", "0x10de", "0x040300"),
            ("0000:02:00.0", "0x1002", "0x030000"),
            ("0000:03:00.0", "0x10de", "0x020000"),
        ]);
        let found = presence(root.path(), Path::new("/nowhere"));
        assert_eq!(found, Presence::default());
        assert!(!found.is_present());
    }

    #[test]
    fn a_device_folder_without_its_files_is_passed_over() {
        let root = machine(&[("0000:01:00.0", "0x10de", "0x030000")]);
        fs::create_dir_all(root.path().join("bus/pci/devices/0000:09:00.0")).unwrap();
        let found = presence(root.path(), Path::new("/nowhere"));
        assert_eq!(found.pci, ["0000:01:00.0"]);
    }

    #[test]
    fn wsl_shows_a_card_through_dxg_alone() {
        let dev = tempfile::tempdir().unwrap();
        fs::write(dev.path().join("dxg"), "").unwrap();
        let found = presence(Path::new("/nowhere"), dev.path());
        assert!(found.is_present());
        assert_eq!(found.to_string(), "/dev/dxg");
    }
}
