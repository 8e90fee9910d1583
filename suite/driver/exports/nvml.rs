//! libnvidia-ml.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nvml_wrapper_sys::bindings::{nvmlEventData_t, nvmlMemory_v2_t, nvmlPciInfo_t};

use super::pointers::{In, Out, TextOut};
use super::{Whose, exports, inject, name, uuid, uuid_text};
use crate::codes::nvml as codes;
use crate::injection::{Fault, Plan};
use crate::machine::Answer;
use crate::state::{self, Event};

/// A card's number and one, or a slice's.
type Handle = *mut c_void;

/// Handles of slices start here: slice N is card N's.
const SLICES: usize = 0x100;
/// The one set of events.
const EVENTS: usize = 1;

fn before(function: &str) -> Answer {
    match inject(function, None, None) {
        Some(Fault::Error(code)) => Err(code),
        _ => Ok(()),
    }
}

/// For calls that report one number, which can be injected; their bodies look for their faults.
fn numbers(_function: &str) -> Answer {
    Ok(())
}

/// The card whose events are waited for, and how many things had happened that were told or are nobody's.
fn watch() -> MutexGuard<'static, Option<(usize, usize)>> {
    static WATCH: Mutex<Option<(usize, usize)>> = Mutex::new(None);
    WATCH.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A number: what is injected into the call, or what a healthy card has.
fn number(function: &str, healthy: u64) -> Answer<u64> {
    match inject(function, None, None) {
        Some(Fault::Error(code)) => Err(code),
        Some(Fault::Value(value)) => Ok(value),
        _ => Ok(healthy),
    }
}

fn handle(number: usize) -> Handle {
    ptr::without_provenance_mut(number + 1)
}

/// The card that a handle is of; a slice's is none.
fn card(handle: Handle) -> Answer<usize> {
    let index = handle.addr().checked_sub(1);
    let index = index.filter(|&index| index < Plan::get().cards);
    match index {
        None => Err(codes::INVALID_ARGUMENT),
        Some(index) if state::is_lost(index) => Err(codes::GPU_IS_LOST),
        Some(index) => Ok(index),
    }
}

/// The card of the slice that a handle is of.
fn slice(handle: Handle) -> Option<usize> {
    let index = handle.addr().checked_sub(SLICES + 1)?;
    (Plan::get().mig && index < Plan::get().cards).then_some(index)
}

/// A text of a card.
fn text(to: &TextOut, room: c_uint, device: Handle, words: impl Fn(usize) -> String) -> Answer {
    to.put(room as usize, &words(card(device)?));
    Ok(())
}

exports! { before;
    fn nvmlInit_v2() {
        Ok(())
    }

    fn nvmlShutdown() {
        Ok(())
    }

    fn nvmlSystemGetDriverVersion(to: TextOut, room: c_uint) {
        to.put(room as usize, &Plan::get().driver);
        Ok(())
    }

    fn nvmlSystemGetNVMLVersion(to: TextOut, room: c_uint) {
        to.put(room as usize, &format!("13.{}", Plan::get().driver));
        Ok(())
    }

    fn nvmlSystemGetCudaDriverVersion_v2(version: Out<c_int>) {
        version.put(Plan::get().cuda as c_int);
        Ok(())
    }

    fn nvmlDeviceGetCount_v2(count: Out<c_uint>) {
        count.put(Plan::get().cards as c_uint);
        Ok(())
    }

    fn nvmlDeviceGetHandleByIndex_v2(index: c_uint, device: Out<Handle>) {
        let (index, cards) = (index as usize, Plan::get().cards);
        if index >= cards {
            return Err(codes::INVALID_ARGUMENT);
        }
        let number = if Plan::get().reversed { cards - 1 - index } else { index };
        device.put(handle(number));
        Ok(())
    }

    fn nvmlDeviceGetHandleByUUID(asked: In, device: Out<Handle>) {
        let asked = asked.text().ok_or(codes::INVALID_ARGUMENT)?;
        let named = |prefix: &str, whose, index| asked == format!("{prefix}-{}", uuid_text(uuid(whose, index)));
        let found = (0..Plan::get().cards).find_map(|index| {
            let slice = Plan::get().mig && named("MIG", Whose::Slice, index);
            let whole = named("GPU", Whose::Card, index);
            slice.then(|| handle(SLICES + index)).or(whole.then(|| handle(index)))
        });
        device.put(found.ok_or(codes::NOT_FOUND)?);
        Ok(())
    }

    fn nvmlDeviceIsMigDeviceHandle(device: Handle, is_slice: Out<c_uint>) {
        is_slice.put(slice(device).is_some().into());
        Ok(())
    }

    fn nvmlDeviceGetDeviceHandleFromMigDeviceHandle(device: Handle, parent: Out<Handle>) {
        parent.put(handle(slice(device).ok_or(codes::INVALID_ARGUMENT)?));
        Ok(())
    }

    fn nvmlDeviceGetName(device: Handle, to: TextOut, room: c_uint) {
        text(&to, room, device, name)
    }

    fn nvmlDeviceGetUUID(device: Handle, to: TextOut, room: c_uint) {
        text(&to, room, device, |index| format!("GPU-{}", uuid_text(uuid(Whose::Card, index))))
    }

    fn nvmlDeviceGetSerial(device: Handle, to: TextOut, room: c_uint) {
        text(&to, room, device, |index| format!("TEST-{index}"))
    }

    fn nvmlDeviceGetVbiosVersion(device: Handle, to: TextOut, room: c_uint) {
        text(&to, room, device, |_| "90.00.00.00.01".to_owned())
    }

    fn nvmlDeviceGetInforomImageVersion(device: Handle, to: TextOut, room: c_uint) {
        text(&to, room, device, |_| "G001.0000.01.01".to_owned())
    }

    fn nvmlDeviceGetBoardPartNumber(device: Handle, to: TextOut, room: c_uint) {
        text(&to, room, device, |_| "900-00000-0000-000".to_owned())
    }

    // The header gives a room of 80 bytes.
    fn nvmlDeviceGetGspFirmwareVersion(device: Handle, to: TextOut) {
        text(&to, 80, device, |_| Plan::get().driver.clone())
    }

    fn nvmlDeviceGetPciInfo_v3(device: Handle, info: Out<nvmlPciInfo_t>) {
        let index = card(device)?;
        let (mut legacy, mut bus) = ([0; 16], [0; 32]);
        write(&mut legacy, &format!("0000:{:02X}:00.0", index + 1));
        write(&mut bus, &format!("00000000:{:02X}:00.0", index + 1));
        info.put(nvmlPciInfo_t {
            busIdLegacy: legacy,
            domain: 0,
            bus: index as c_uint + 1,
            device: 0,
            // A number of no card, and NVIDIA's of vendors.
            pciDeviceId: 0xffff_10de,
            pciSubSystemId: 0xffff_10de,
            busId: bus,
        });
        Ok(())
    }

    fn nvmlDeviceGetMemoryInfo_v2(device: Handle, info: Out<nvmlMemory_v2_t>) {
        card(device)?;
        let total = Plan::get().memory_bytes;
        info.put(nvmlMemory_v2_t { version: 0, total, reserved: 0, free: total, used: 0 });
        Ok(())
    }

    fn nvmlDeviceGetMigMode(device: Handle, current: Out<c_uint>, pending: Out<c_uint>) {
        card(device)?;
        current.put(Plan::get().mig.into());
        pending.put(Plan::get().mig.into());
        Ok(())
    }

    fn nvmlDeviceGetEccMode(device: Handle, current: Out<c_uint>, pending: Out<c_uint>) {
        card(device)?;
        current.put(1);
        pending.put(1);
        Ok(())
    }

    fn nvmlDeviceGetCudaComputeCapability(device: Handle, major: Out<c_int>, minor: Out<c_int>) {
        card(device)?;
        major.put(7);
        minor.put(5);
        Ok(())
    }

    fn nvmlDeviceGetComputeRunningProcesses_v3(device: Handle, count: Out<c_uint>, _infos: *mut c_void) {
        card(device)?;
        count.put(0);
        Ok(())
    }

    fn nvmlDeviceGetGraphicsRunningProcesses_v3(device: Handle, count: Out<c_uint>, _infos: *mut c_void) {
        card(device)?;
        count.put(0);
        Ok(())
    }

    fn nvmlEventSetCreate(set: Out<Handle>) {
        set.put(handle(EVENTS));
        Ok(())
    }

    // What happened before is nobody's event.
    fn nvmlDeviceRegisterEvents(device: Handle, _types: c_ulonglong, _set: Handle) {
        let watched = (card(device)?, state::events().len());
        *watch() = Some(watched);
        Ok(())
    }

    fn nvmlEventSetWait_v2(_set: Handle, event: Out<nvmlEventData_t>, _timeout_ms: c_uint) {
        let mut watch = watch();
        let (watched, told) = watch.as_mut().ok_or(codes::TIMEOUT)?;
        for (of, happened) in state::events().into_iter().skip(*told) {
            *told += 1;
            if let (true, Event::Xid(xid)) = (of == *watched, happened) {
                event.put(nvmlEventData_t {
                    device: handle(of).cast(),
                    // nvmlEventTypeXidCriticalError
                    eventType: 8,
                    eventData: xid,
                    gpuInstanceId: u32::MAX,
                    computeInstanceId: u32::MAX,
                });
                return Ok(());
            }
        }
        match state::is_lost(*watched) {
            true => Err(codes::GPU_IS_LOST),
            false => Err(codes::TIMEOUT),
        }
    }

    fn nvmlEventSetFree(_set: Handle) {
        Ok(())
    }
}

/// Calls that report one number of a card, and what a healthy card has.
macro_rules! numbers {
    ($($name:ident($($kind:ident: $type:ty),*) = $healthy:expr;)*) => {exports! { numbers; $(
        fn $name(device: Handle, $($kind: $type,)* value: Out<c_uint>) {
            card(device)?;
            value.put(number(stringify!($name), $healthy)? as c_uint);
            Ok(())
        }
    )*}};
}

numbers! {
    nvmlDeviceGetComputeMode() = 0;
    nvmlDeviceGetPersistenceMode() = 1;
    nvmlDeviceGetClockInfo(_kind: c_uint) = 1500;
    nvmlDeviceGetMaxClockInfo(_kind: c_uint) = 1980;
    nvmlDeviceGetMaxPcieLinkGeneration() = 4;
    nvmlDeviceGetMaxPcieLinkWidth() = 16;
    nvmlDeviceGetCurrPcieLinkGeneration() = 4;
    nvmlDeviceGetCurrPcieLinkWidth() = 16;
    nvmlDeviceGetEnforcedPowerLimit() = 70_000;
    nvmlDeviceGetPowerManagementDefaultLimit() = 70_000;
    nvmlDeviceGetPowerUsage() = 30_000;
    nvmlDeviceGetTemperature(_sensor: c_uint) = 40;
    nvmlDeviceGetPerformanceState() = 0;
    nvmlDeviceGetRetiredPagesPendingStatus() = 0;
}

exports! { numbers;
    fn nvmlDeviceGetTotalEccErrors(device: Handle, error: c_uint, _counter: c_uint, count: Out<c_ulonglong>) {
        let errors = match error {
            // NVML_MEMORY_ERROR_TYPE_UNCORRECTED
            1 => state::memory_errors(card(device)?),
            _ => 0,
        };
        count.put(number("nvmlDeviceGetTotalEccErrors", errors)?);
        Ok(())
    }

    fn nvmlDeviceGetCurrentClocksThrottleReasons(device: Handle, reasons: Out<c_ulonglong>) {
        card(device)?;
        reasons.put(number("nvmlDeviceGetCurrentClocksThrottleReasons", 0)?);
        Ok(())
    }

    fn nvmlDeviceGetRetiredPages(device: Handle, _cause: c_uint, count: Out<c_uint>, _addresses: Out<c_ulonglong>) {
        card(device)?;
        let retired = number("nvmlDeviceGetRetiredPages", 0)? as c_uint;
        // Only asked how many there are: the list is the other call's.
        let short = count.held() < retired;
        count.put(retired);
        if short { Err(codes::INSUFFICIENT_SIZE) } else { Ok(()) }
    }

    fn nvmlDeviceGetRetiredPages_v2(
        device: Handle,
        _cause: c_uint,
        count: Out<c_uint>,
        addresses: Out<c_ulonglong>,
        times: Out<c_ulonglong>,
    ) {
        card(device)?;
        // As many as the other call told.
        let retired = count.held();
        addresses.fill(retired as usize);
        times.fill(retired as usize);
        Ok(())
    }

    fn nvmlDeviceGetRemappedRows(
        device: Handle,
        corrected: Out<c_uint>,
        uncorrected: Out<c_uint>,
        pending: Out<c_uint>,
        failed: Out<c_uint>,
    ) {
        card(device)?;
        let rows = number("nvmlDeviceGetRemappedRows", 0)? as c_uint;
        corrected.put(0);
        uncorrected.put(rows);
        pending.put(0);
        failed.put(0);
        Ok(())
    }
}

/// A text and its NUL; the rest is there already.
fn write(to: &mut [c_char], text: &str) {
    for (to, byte) in to.iter_mut().zip(text.bytes()) {
        *to = byte as c_char;
    }
}
