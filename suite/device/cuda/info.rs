//! Which CUDA devices there are, and what each says of itself.
//!
//! Owns: enumeration, selection by ordinal or UUID, the UUID's text form. Imports the driver's calls and `outcome`.
//!
//! ```no_run
//! for device in cuda_gates::device::cuda::enumerate()? {
//!     println!("{} {:?}", device.name, device.uuid);
//! }
//! # Ok::<(), cuda_gates::outcome::Fault>(())
//! ```

use super::driver::{self, DeviceAttribute, Driver, Ordinal};
use super::errors::{DriverError, NO_DEVICE, start_fault};
use crate::device::DeviceInfo;
use crate::outcome::Fault;
use crate::terms::DeviceKind;

/// Which card to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Select {
    /// CUDA's own order, which `CUDA_VISIBLE_DEVICES` changes. 0 is the first visible one.
    Ordinal(usize),
    /// `GPU-xxxxxxxx-…` or `MIG-…`; the prefix and the letters' case do not matter.
    Uuid(String),
}

/// Every visible device, in CUDA's order.
///
/// # Errors
/// `environment` when there is no driver, it does not start, or it sees no device.
pub fn enumerate() -> Result<Vec<DeviceInfo>, Fault> {
    let driver = Driver::get()?;
    Ok(all(driver)?.into_iter().map(|(_, info)| info).collect())
}

pub(super) fn find(driver: &Driver, select: &Select) -> Result<(Ordinal, DeviceInfo), Fault> {
    let devices = all(driver)?;
    let found = match select {
        Select::Ordinal(index) => Some(*index).filter(|&index| index < devices.len()),
        Select::Uuid(uuid) => devices
            .iter()
            .position(|(_, info)| info.uuid.as_deref().is_some_and(|own| same_uuid(own, uuid))),
    };
    let wanted = match select {
        Select::Ordinal(index) => format!("number {index}"),
        Select::Uuid(uuid) => uuid.clone(),
    };
    found
        .and_then(|index| devices.get(index).cloned())
        .ok_or_else(|| {
            let there: Vec<String> = devices
                .iter()
                .enumerate()
                .map(|(index, (_, info))| {
                    format!(
                        "{index}: {} ({})",
                        info.name,
                        info.uuid.as_deref().unwrap_or("no UUID")
                    )
                })
                .collect();
            Fault::environment(format!(
                "no CUDA device {wanted}; there are {}",
                there.join(", ")
            ))
        })
}

fn all(driver: &Driver) -> Result<Vec<(Ordinal, DeviceInfo)>, Fault> {
    let failed =
        |error: DriverError| start_fault(error, &driver.words(error.code), "listing CUDA devices");
    let count = driver.device_count().map_err(failed)?;
    if count == 0 {
        return Err(Fault::environment(NO_DEVICE));
    }
    (0..count)
        .map(|index| {
            let ordinal = driver.device(index)?;
            Ok((ordinal, describe(driver, ordinal)?))
        })
        .collect::<driver::Result<Vec<_>>>()
        .map_err(failed)
}

fn describe(driver: &Driver, device: Ordinal) -> driver::Result<DeviceInfo> {
    use DeviceAttribute as A;
    Ok(DeviceInfo {
        kind: DeviceKind::Cuda,
        name: driver.name(device)?,
        uuid: Some(uuid_text(driver.uuid(device)?)),
        compute_capability: (
            driver.attribute(device, A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            driver.attribute(device, A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        cuda_driver_version: Some(driver.version),
        total_memory_bytes: driver.total_memory(device)?,
        l2_bytes: u64::from(driver.attribute(device, A::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?),
    })
}

/// As `nvidia-smi -L` writes it. CUDA does not tell a MIG slice from a whole card: both get `GPU-`.
fn uuid_text(bytes: [u8; 16]) -> String {
    let mut text = String::from("GPU-");
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

fn same_uuid(a: &str, b: &str) -> bool {
    fn digits(text: &str) -> &str {
        let prefix = text
            .get(..4)
            .filter(|p| p.eq_ignore_ascii_case("GPU-") || p.eq_ignore_ascii_case("MIG-"));
        &text[prefix.map_or(0, str::len)..]
    }
    digits(a).eq_ignore_ascii_case(digits(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_reads_as_nvidia_smi_writes_it() {
        let bytes = [
            0x3f, 0x9e, 0x0a, 0x01, 0x80, 0xff, 0x4c, 0x00, 0xb1, 0x22, 0x0d, 0x0e, 0x0f, 0xa0,
            0xb0, 0xc0,
        ];
        assert_eq!(uuid_text(bytes), "GPU-3f9e0a01-80ff-4c00-b122-0d0e0fa0b0c0");
    }

    #[test]
    fn uuids_compare_without_prefix_and_case() {
        let own = "GPU-3f9e0a01-80ff-4c00-b122-0d0e0fa0b0c0";
        for other in [own, &own[4..], "MIG-3F9E0A01-80FF-4C00-B122-0D0E0FA0B0C0"] {
            assert!(same_uuid(own, other), "{other}");
        }
        for other in ["", "GPU-", "GPU-3f9e0a01", "GPÜ-3f9e"] {
            assert!(!same_uuid(own, other), "{other}");
        }
    }
}
