//! One card's fields: their names, units and where NVML keeps them.
//!
//! Owns: the two lists of fields, and the one raw call (remapped rows) that nvml-wrapper has not wrapped. Imports
//! nothing beyond `identity`.
//!
//! ```text
//! fields: name, serial, vbios, ecc_mode, power_limit_mw, …    live: temperature_c, throttle_reasons, remapped_rows, …
//! ```

use std::collections::BTreeMap;

use nvml_wrapper::enum_wrappers::device::{
    Clock, EccCounter, MemoryError, RetirementCause, TemperatureSensor,
};
use nvml_wrapper::error::{NvmlError, nvml_try};
use nvml_wrapper::{Device, Nvml};
use serde_json::{Value, json};

use super::nvml::{Card, field};
use crate::identity::Field;

/// What does not change during a run, system-wide versions included.
pub(super) const FIELDS: &[&str] = &[
    "board_part_number",
    "clock_max_graphics_mhz",
    "clock_max_memory_mhz",
    "clock_max_sm_mhz",
    "compute_capability",
    "compute_mode",
    "cuda_driver_version",
    "driver_version",
    "ecc_mode",
    "gsp_firmware",
    "inforom_image",
    "memory_total_bytes",
    "mig_mode",
    "mig_uuid",
    "name",
    "nvml_version",
    "pci_bus_id",
    "pci_device_id",
    "pcie_max_generation",
    "pcie_max_width",
    "persistence_mode",
    "power_limit_default_mw",
    "power_limit_mw",
    "serial",
    "uuid",
    "vbios",
];

/// What may change during a run. Error counts are of the memory's ECC: volatile since the driver loaded, aggregate
/// over the card's life.
pub(super) const LIVE: &[&str] = &[
    "clock_graphics_mhz",
    "clock_memory_mhz",
    "clock_sm_mhz",
    "ecc_corrected_aggregate",
    "ecc_corrected_volatile",
    "ecc_uncorrected_aggregate",
    "ecc_uncorrected_volatile",
    "memory_used_bytes",
    "pages_pending_retirement",
    "pages_retired_double_bit",
    "pages_retired_single_bit",
    "pcie_generation",
    "pcie_width",
    "performance_state",
    "power_draw_mw",
    "processes",
    "remapped_rows",
    "temperature_c",
    "throttle_reasons",
];

/// One field of a card.
type Read = fn(&Device<'_>) -> Field;

const STATIC: &[(&str, Read)] = &[
    ("board_part_number", |d| field(d.board_part_number())),
    ("clock_max_graphics_mhz", |d| {
        field(d.max_clock_info(Clock::Graphics))
    }),
    ("clock_max_memory_mhz", |d| {
        field(d.max_clock_info(Clock::Memory))
    }),
    ("clock_max_sm_mhz", |d| field(d.max_clock_info(Clock::SM))),
    ("compute_capability", |d| {
        field(
            d.cuda_compute_capability()
                .map(|cc| format!("{}.{}", cc.major, cc.minor)),
        )
    }),
    ("compute_mode", |d| {
        field(d.compute_mode().map(|mode| format!("{mode:?}")))
    }),
    ("ecc_mode", |d| {
        field(
            d.is_ecc_enabled()
                .map(|m| json!({"current": m.currently_enabled, "pending": m.pending_enabled})),
        )
    }),
    ("gsp_firmware", |d| field(d.gsp_firmware_version())),
    ("inforom_image", |d| field(d.info_rom_image_version())),
    ("memory_total_bytes", |d| {
        field(d.memory_info().map(|memory| memory.total))
    }),
    ("mig_mode", |d| {
        field(
            d.mig_mode()
                .map(|m| json!({"current": m.current == 1, "pending": m.pending == 1})),
        )
    }),
    ("name", |d| field(d.name())),
    ("pci_bus_id", |d| field(d.pci_info().map(|pci| pci.bus_id))),
    ("pci_device_id", |d| {
        field(
            d.pci_info()
                .map(|pci| format!("0x{:08x}", pci.pci_device_id)),
        )
    }),
    ("pcie_max_generation", |d| field(d.max_pcie_link_gen())),
    ("pcie_max_width", |d| field(d.max_pcie_link_width())),
    ("persistence_mode", |d| field(d.is_in_persistent_mode())),
    ("power_limit_default_mw", |d| {
        field(d.power_management_limit_default())
    }),
    ("power_limit_mw", |d| field(d.enforced_power_limit())),
    ("serial", |d| field(d.serial())),
    ("uuid", |d| field(d.uuid())),
    ("vbios", |d| field(d.vbios_version())),
];

const CHANGING: &[(&str, Read)] = &[
    ("clock_graphics_mhz", |d| {
        field(d.clock_info(Clock::Graphics))
    }),
    ("clock_memory_mhz", |d| field(d.clock_info(Clock::Memory))),
    ("clock_sm_mhz", |d| field(d.clock_info(Clock::SM))),
    ("ecc_corrected_aggregate", |d| {
        ecc(d, MemoryError::Corrected, EccCounter::Aggregate)
    }),
    ("ecc_corrected_volatile", |d| {
        ecc(d, MemoryError::Corrected, EccCounter::Volatile)
    }),
    ("ecc_uncorrected_aggregate", |d| {
        ecc(d, MemoryError::Uncorrected, EccCounter::Aggregate)
    }),
    ("ecc_uncorrected_volatile", |d| {
        ecc(d, MemoryError::Uncorrected, EccCounter::Volatile)
    }),
    ("memory_used_bytes", |d| {
        field(d.memory_info().map(|memory| memory.used))
    }),
    ("pages_pending_retirement", |d| {
        field(d.are_pages_pending_retired())
    }),
    ("pages_retired_double_bit", |d| {
        retired(d, RetirementCause::DoubleBitEccError)
    }),
    ("pages_retired_single_bit", |d| {
        retired(d, RetirementCause::MultipleSingleBitEccErrors)
    }),
    ("pcie_generation", |d| field(d.current_pcie_link_gen())),
    ("pcie_width", |d| field(d.current_pcie_link_width())),
    ("performance_state", |d| {
        field(d.performance_state().map(|state| match state.as_c() {
            state @ 0..=15 => format!("P{state}"),
            _ => "unknown".to_owned(),
        }))
    }),
    ("power_draw_mw", |d| field(d.power_usage())),
    ("processes", |d| field(processes(d))),
    ("temperature_c", |d| {
        field(d.temperature(TemperatureSensor::Gpu))
    }),
    ("throttle_reasons", |d| field(throttle_reasons(d))),
];

pub(super) fn fields(card: &Card<'_>) -> BTreeMap<String, Field> {
    let mut fields = read(STATIC, &card.device);
    let mig = match &card.mig_uuid {
        Some(uuid) => Field::Value(json!(uuid)),
        None => Field::Unavailable("a whole card".to_owned()),
    };
    fields.insert("mig_uuid".to_owned(), mig);
    fields
}

pub(super) fn live(nvml: &Nvml, device: &Device<'_>) -> BTreeMap<String, Field> {
    let mut live = read(CHANGING, device);
    live.insert(
        "remapped_rows".to_owned(),
        field(remapped_rows(nvml, device)),
    );
    live
}

/// Some of the fields that change, by name.
pub(super) fn some<'n>(
    nvml: &Nvml,
    device: &Device<'_>,
    names: impl Iterator<Item = &'n str>,
) -> BTreeMap<String, Field> {
    let read = |name: &str| match name {
        "remapped_rows" => Some(field(remapped_rows(nvml, device))),
        _ => {
            let (_, read) = CHANGING.iter().find(|(known, _)| *known == name)?;
            Some(read(device))
        }
    };
    names
        .filter_map(|name| Some((name.to_owned(), read(name)?)))
        .collect()
}

fn read(table: &[(&str, Read)], device: &Device<'_>) -> BTreeMap<String, Field> {
    table
        .iter()
        .map(|(name, read)| ((*name).to_owned(), read(device)))
        .collect()
}

fn ecc(device: &Device<'_>, error: MemoryError, counter: EccCounter) -> Field {
    field(device.total_ecc_errors(error, counter))
}

fn retired(device: &Device<'_>, cause: RetirementCause) -> Field {
    field(device.retired_pages(cause).map(|pages| pages.len() as u64))
}

/// Names of what holds the clocks down; empty when nothing does. Reasons newer than this program stay a number.
fn throttle_reasons(device: &Device<'_>) -> Result<Value, NvmlError> {
    match device.current_throttle_reasons_strict() {
        Ok(reasons) => Ok(reasons
            .iter_names()
            .map(|(name, _)| name.to_ascii_lowercase())
            .collect()),
        Err(NvmlError::IncorrectBits(bits)) => Ok(json!([format!("{bits:?}")])),
        Err(error) => Err(error),
    }
}

/// Processes on the card except this one, compute and graphics. In a container their ids may be the host's.
fn processes(device: &Device<'_>) -> Result<Value, NvmlError> {
    let compute = device.running_compute_processes()?;
    // Not every card has graphics; one without has no such processes.
    let graphics = device.running_graphics_processes().unwrap_or_default();
    let own = std::process::id();
    let mut pids: Vec<u32> = compute
        .iter()
        .chain(&graphics)
        .map(|process| process.pid)
        .collect();
    pids.retain(|&pid| pid != own);
    pids.sort_unstable();
    pids.dedup();
    Ok(json!({"count": pids.len(), "pids": pids}))
}

/// Rows of the memory replaced by spares (Ampere and newer; older cards retire pages).
fn remapped_rows(nvml: &Nvml, device: &Device<'_>) -> Result<Value, NvmlError> {
    let call = nvml.lib().nvmlDeviceGetRemappedRows.as_ref();
    let call = call.map_err(|error| NvmlError::FailedToLoadSymbol(error.to_string()))?;
    let (mut corrected, mut uncorrected, mut pending, mut failed) = (0, 0, 0, 0);
    // SAFETY: the handle is the live device's, and the outputs are live locals of the type nvml.h declares.
    let code = unsafe {
        call(
            device.handle(),
            &mut corrected,
            &mut uncorrected,
            &mut pending,
            &mut failed,
        )
    };
    nvml_try(code)?;
    Ok(json!({
        "corrected": corrected,
        "uncorrected": uncorrected,
        "pending": pending != 0,
        "failed": failed != 0,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_name_what_the_tables_read() {
        let beside = [
            "cuda_driver_version",
            "driver_version",
            "mig_uuid",
            "nvml_version",
        ];
        let mut names: Vec<&str> = STATIC.iter().map(|(name, _)| *name).chain(beside).collect();
        names.sort_unstable();
        assert_eq!(names, FIELDS);

        let mut names: Vec<&str> = CHANGING
            .iter()
            .map(|(name, _)| *name)
            .chain(["remapped_rows"])
            .collect();
        names.sort_unstable();
        assert_eq!(names, LIVE);
    }
}
