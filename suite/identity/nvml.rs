//! The NVML session of this process, its errors as words, and the way to a card by UUID.
//!
//! Owns: initialisation, once a process, and the join with CUDA's device. Imports `outcome` and `terms`.
//!
//! ```text
//! GPU-…(CUDA) → card by UUID → else MIG-… → its parent card, with both UUIDs noted
//! ```

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, Nvml};
use serde_json::Value;

use super::{Identity, card, kernel_driver_version};
use crate::identity::Field;
use crate::outcome::Reason;
use crate::terms::ReasonKind;

/// The session, or why there is none.
pub(super) fn session() -> Result<&'static Nvml, &'static Reason> {
    static SESSION: OnceLock<Result<Nvml, Reason>> = OnceLock::new();
    SESSION
        .get_or_init(|| {
            Nvml::init().map_err(|error| Reason::new(ReasonKind::Environment, words(&error)))
        })
        .as_ref()
}

/// An error in words, with the mend where there is one.
pub(super) fn words(error: &NvmlError) -> String {
    match error {
        NvmlError::LibloadingError(_) => {
            "no NVML: libnvidia-ml.so.1 cannot be loaded (no NVIDIA driver here, or the \
                                          container lacks the `utility` capability)"
                .to_owned()
        }
        NvmlError::LibRmVersionMismatch => {
            "environment: NVML and the loaded kernel driver are of different versions: \
                                            reboot after the driver update"
                .to_owned()
        }
        NvmlError::DriverNotLoaded => {
            "environment: the NVIDIA kernel driver is not loaded: `modprobe nvidia`, or install it"
                .to_owned()
        }
        NvmlError::NotSupported => "not supported by this card or driver".to_owned(),
        NvmlError::NoPermission => "this user may not read it".to_owned(),
        NvmlError::FailedToLoadSymbol(_) | NvmlError::FunctionNotFound => {
            "this driver's NVML has no such call".to_owned()
        }
        NvmlError::UnexpectedVariant(value) => format!("a value newer than this program: {value}"),
        NvmlError::GpuLost => "the card has fallen off the bus".to_owned(),
        NvmlError::ResetRequired => "the card needs a reset".to_owned(),
        other => other.to_string(),
    }
}

/// A value NVML gave, or its error, as a field.
pub(super) fn field<T: Into<Value>>(result: Result<T, NvmlError>) -> Field {
    match result {
        Ok(value) => Field::Value(value.into()),
        Err(error) => Field::Unavailable(words(&error)),
    }
}

/// The card to read, and where it is a slice of one, the slice's UUID.
pub(super) struct Card<'nvml> {
    pub device: Device<'nvml>,
    pub mig_uuid: Option<String>,
}

/// Finds a card by CUDA's UUID; NVML writes a MIG slice's with another prefix, and knows most fields of its parent
/// only. Without a UUID, the machine's only card.
pub(super) fn find<'nvml>(nvml: &'nvml Nvml, uuid: Option<&str>) -> Result<Card<'nvml>, String> {
    let Some(uuid) = uuid else {
        return match nvml.device_count() {
            Ok(1) => whole(nvml.device_by_index(0)),
            Ok(count) => Err(format!("which of {count} cards is not known")),
            Err(error) => Err(words(&error)),
        };
    };
    let slice = format!(
        "MIG-{}",
        uuid.trim_start_matches("GPU-").trim_start_matches("MIG-")
    );
    let found = nvml
        .device_by_uuid(uuid)
        .or_else(|error| nvml.device_by_uuid(slice.as_str()).map_err(|_| error));
    let device = found.map_err(|error| format!("no card {uuid}: {}", words(&error)))?;
    match device.mig_is_mig_device_handle() {
        Ok(true) => {
            let parent = device.mig_parent_device().map_err(|error| words(&error))?;
            Ok(Card {
                device: parent,
                mig_uuid: Some(slice),
            })
        }
        _ => whole(Ok(device)),
    }
}

fn whole(device: Result<Device<'_>, NvmlError>) -> Result<Card<'_>, String> {
    device
        .map(|device| Card {
            device,
            mig_uuid: None,
        })
        .map_err(|error| words(&error))
}

pub(super) fn identity(nvml: &'static Nvml, uuid: Option<&str>) -> Identity {
    let (mut fields, live) = match find(nvml, uuid) {
        Ok(card) => (card::fields(&card), card::live(nvml, &card.device)),
        Err(reason) => (
            unavailable(card::FIELDS, &reason),
            unavailable(card::LIVE, &reason),
        ),
    };
    let driver = nvml.sys_driver_version();
    let driver_version = driver
        .as_ref()
        .ok()
        .cloned()
        .or_else(|| kernel_driver_version(Path::new("/proc")));
    fields.insert("driver_version".to_owned(), field(driver));
    fields.insert("nvml_version".to_owned(), field(nvml.sys_nvml_version()));
    fields.insert(
        "cuda_driver_version".to_owned(),
        field(nvml.sys_cuda_driver_version()),
    );
    Identity {
        driver_version,
        fields,
        live,
        fault: None,
    }
}

fn unavailable(names: &[&str], reason: &str) -> BTreeMap<String, Field> {
    names
        .iter()
        .map(|name| ((*name).to_owned(), Field::Unavailable(reason.to_owned())))
        .collect()
}
