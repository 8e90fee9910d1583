//! libcuda.

use std::alloc::Layout;
use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use super::pointers::{Array, BytesOut, In, Out, TextOut, free_page_locked, page_locked};
use super::{Whose, exports, hang, inject, name, uuid};
use crate::codes;
use crate::injection::{Fault, Plan};
use crate::machine::{Answer, Card, Machine};
use crate::state;

/// A module, function, event, stream or context: a number and one.
type Handle = *mut c_void;

thread_local! {
    /// The device whose primary context is this thread's.
    static CURRENT: Cell<Option<usize>> = const { Cell::new(None) };
}

fn handle(number: usize) -> Handle {
    ptr::without_provenance_mut(number + 1)
}

fn number(handle: Handle) -> Answer<usize> {
    handle.addr().checked_sub(1).ok_or(codes::INVALID_HANDLE)
}

/// What goes before every call.
fn before(function: &str) -> Answer {
    if Plan::get().stub {
        return Err(codes::STUB_LIBRARY);
    }
    injected(function, None)
}

/// As `before`, for a launch, which looks for its faults once it knows its kernel.
fn before_launch(_function: &str) -> Answer {
    match Plan::get().stub {
        true => Err(codes::STUB_LIBRARY),
        false => Ok(()),
    }
}

fn injected(function: &str, kernel: Option<&str>) -> Answer {
    match inject(function, kernel, CURRENT.get()) {
        Some(Fault::Error(code)) => Err(code),
        Some(Fault::Sticky(code)) => on_card(|card| {
            card.broken = Some(code);
            Ok(())
        }),
        Some(Fault::Happens(event)) => {
            state::happens(CURRENT.get().ok_or(codes::INVALID_CONTEXT)?, event);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The current context's device, unless a kernel broke the context.
fn current(machine: &Machine) -> Answer<usize> {
    let index = CURRENT.get().ok_or(codes::INVALID_CONTEXT)?;
    match machine
        .cards
        .get(index)
        .ok_or(codes::INVALID_CONTEXT)?
        .broken
    {
        Some(code) => Err(code),
        None => Ok(index),
    }
}

/// Something done with the current context.
fn in_context<T>(act: impl FnOnce(&mut Machine, usize) -> Answer<T>) -> Answer<T> {
    Machine::with(|machine| {
        let index = current(machine)?;
        act(machine, index)
    })
}

fn on_card<T>(act: impl FnOnce(&mut Card) -> Answer<T>) -> Answer<T> {
    in_context(|machine, index| act(&mut machine.cards[index]))
}

/// The cards that were there when this process first asked, in CUDA's order.
fn present() -> &'static [usize] {
    static PRESENT: OnceLock<Vec<usize>> = OnceLock::new();
    PRESENT.get_or_init(|| {
        let all = 0..Plan::get().cards;
        all.filter(|&card| !state::is_lost(card)).collect()
    })
}

/// The card of a device's number, which is also its `CUdevice`.
fn device(ordinal: c_int) -> Answer<usize> {
    let index = usize::try_from(ordinal).map_err(|_| codes::INVALID_DEVICE)?;
    let card = present().get(index).copied();
    card.ok_or(codes::INVALID_DEVICE)
}

/// Values by cuda.h's numbers of `CUdevice_attribute`: those of a card of compute capability 7.5.
fn attribute(attribute: c_uint) -> Answer<c_int> {
    Ok(match attribute {
        2 | 3 => 1024,   // MAX_BLOCK_DIM_X, Y
        4 => 64,         // MAX_BLOCK_DIM_Z
        5 => c_int::MAX, // MAX_GRID_DIM_X
        6 | 7 => 65_535, // MAX_GRID_DIM_Y, Z
        8 => 48 << 10,   // MAX_SHARED_MEMORY_PER_BLOCK
        38 => 4 << 20,   // L2_CACHE_SIZE
        75 => 7,         // COMPUTE_CAPABILITY_MAJOR
        76 => 5,         // COMPUTE_CAPABILITY_MINOR
        97 => 64 << 10,  // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
        _ => return Err(codes::INVALID_VALUE),
    })
}

exports! { before;
    fn cuInit(_flags: c_uint) {
        Ok(())
    }

    fn cuDriverGetVersion(version: Out<c_int>) {
        version.put(Plan::get().cuda as c_int);
        Ok(())
    }

    fn cuGetErrorName(code: u32, text: Out<*const c_char>) {
        match codes::named(code) {
            Some((_, name, _)) => text.put(name.as_ptr()),
            None => return Err(codes::INVALID_VALUE),
        }
        Ok(())
    }

    fn cuGetErrorString(code: u32, text: Out<*const c_char>) {
        match codes::named(code) {
            Some((.., words)) => text.put(words.as_ptr()),
            None => return Err(codes::INVALID_VALUE),
        }
        Ok(())
    }

    fn cuDeviceGetCount(count: Out<c_int>) {
        count.put(present().len() as c_int);
        Ok(())
    }

    fn cuDeviceGet(to: Out<c_int>, ordinal: c_int) {
        device(ordinal)?;
        to.put(ordinal);
        Ok(())
    }

    fn cuDeviceGetName(to: TextOut, room: c_int, ordinal: c_int) {
        to.put(room.unsigned_abs() as usize, &name(device(ordinal)?));
        Ok(())
    }

    fn cuDeviceGetUuid_v2(to: Out<[u8; 16]>, ordinal: c_int) {
        let whose = if Plan::get().mig { Whose::Slice } else { Whose::Card };
        to.put(uuid(whose, device(ordinal)?));
        Ok(())
    }

    fn cuDeviceTotalMem_v2(bytes: Out<usize>, ordinal: c_int) {
        device(ordinal)?;
        bytes.put(Plan::get().memory_bytes as usize);
        Ok(())
    }

    fn cuDeviceGetAttribute(value: Out<c_int>, asked: c_uint, ordinal: c_int) {
        device(ordinal)?;
        value.put(attribute(asked)?);
        Ok(())
    }

    fn cuDevicePrimaryCtxRetain(context: Out<Handle>, ordinal: c_int) {
        context.put(handle(device(ordinal)?));
        Ok(())
    }

    fn cuDevicePrimaryCtxRelease_v2(ordinal: c_int) {
        device(ordinal).map(drop)
    }

    fn cuCtxSetCurrent(context: Handle) {
        let card = number(context)?;
        if !present().contains(&card) {
            return Err(codes::INVALID_CONTEXT);
        }
        CURRENT.set(Some(card));
        Ok(())
    }

    fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) {
        let used = on_card(|card| Ok(card.used_bytes()))?;
        let all = Plan::get().memory_bytes;
        free.put(all.saturating_sub(used + Plan::get().taken_bytes) as usize);
        total.put(all as usize);
        Ok(())
    }

    fn cuModuleLoadDataEx(
        module: Out<Handle>,
        image: In,
        count: c_uint,
        options: Array<c_uint>,
        values: Array<Handle>,
    ) {
        let start = image.bytes(4).ok_or(codes::INVALID_VALUE)?;
        // ELF, or the magic number of a fat binary.
        if start == b"\x7fELF" || start == [0x50, 0xed, 0x55, 0xba] {
            return Err(codes::NO_BINARY);
        }
        let text = image.text().ok_or(codes::INVALID_VALUE)?;
        let (loaded, words) = in_context(|machine, card| Ok(machine.load(card, &text)))?;
        // CU_JIT_INFO_LOG_BUFFER or CU_JIT_ERROR_LOG_BUFFER; the number after each is its size's.
        let buffer = if loaded.is_ok() { 3 } else { 5 };
        let count = count as usize;
        log(buffer, &words, (options.items(count), values.items(count)));
        module.put(handle(loaded?));
        Ok(())
    }

    fn cuModuleUnload(module: Handle) {
        in_context(|machine, _| match machine.has_module(number(module)?) {
            true => Ok(()),
            false => Err(codes::INVALID_HANDLE),
        })
    }

    fn cuModuleGetFunction(function: Out<Handle>, module: Handle, name: In) {
        let name = name.text().ok_or(codes::INVALID_VALUE)?;
        let kernel = in_context(|machine, _| machine.kernel(number(module)?, &name))?;
        function.put(handle(kernel));
        Ok(())
    }

    fn cuFuncGetAttribute(value: Out<c_int>, asked: c_uint, function: Handle) {
        let held = in_context(|machine, _| {
            let kernel = machine.kernels.get(number(function)?).ok_or(codes::INVALID_HANDLE)?;
            match asked {
                // MAX_THREADS_PER_BLOCK, SHARED_SIZE_BYTES
                0 => Ok(u64::from(kernel.signature.max_threads.unwrap_or(1024))),
                1 => Ok(kernel.signature.static_shared_bytes),
                _ => Err(codes::INVALID_VALUE),
            }
        })?;
        value.put(held as c_int);
        Ok(())
    }

    fn cuFuncSetAttribute(function: Handle, asked: c_uint, bytes: c_int) {
        in_context(|machine, _| {
            machine.kernels.get(number(function)?).ok_or(codes::INVALID_HANDLE)?;
            // MAX_DYNAMIC_SHARED_SIZE_BYTES
            match asked == 8 && (0..=64 << 10).contains(&bytes) {
                true => Ok(()),
                false => Err(codes::INVALID_VALUE),
            }
        })
    }

    fn cuFuncGetParamInfo(function: Handle, index: usize, offset: Out<usize>, size: Out<usize>) {
        let (at, bytes) = in_context(|machine, _| {
            let kernel = machine.kernels.get(number(function)?).ok_or(codes::INVALID_HANDLE)?;
            let sizes = kernel.signature.params.iter().map(|param| param.size as usize);
            let bytes = sizes.clone().nth(index).ok_or(codes::INVALID_VALUE)?;
            // Every parameter is as aligned as it is large.
            let at = sizes.take(index).fold(0, |at: usize, size| at.next_multiple_of(size.max(1)) + size);
            Ok((at.next_multiple_of(bytes.max(1)), bytes))
        })?;
        offset.put(at);
        size.put(bytes);
        Ok(())
    }

    fn cuMemAlloc_v2(address: Out<u64>, bytes: usize) {
        let made = on_card(|card| card.alloc(bytes as u64))?;
        address.put(made);
        Ok(())
    }

    fn cuMemFree_v2(address: u64) {
        on_card(|card| card.free(address))
    }

    fn cuMemHostAlloc(host: Out<*mut c_void>, bytes: usize, _flags: c_uint) {
        on_card(|_| Ok(()))?;
        let layout = Layout::from_size_align(bytes, 4096).map_err(|_| codes::INVALID_VALUE)?;
        if bytes == 0 {
            return Err(codes::INVALID_VALUE);
        }
        let made = page_locked(layout).ok_or(codes::OUT_OF_MEMORY)?;
        pinned(|held| _ = held.insert(made.addr(), layout));
        host.put(made);
        Ok(())
    }

    fn cuMemFreeHost(host: *mut c_void) {
        on_card(|_| Ok(()))?;
        let mut layout = None;
        pinned(|held| layout = held.remove(&host.addr()));
        free_page_locked(host, layout.ok_or(codes::INVALID_VALUE)?);
        Ok(())
    }

    fn cuMemcpyHtoDAsync_v2(to: u64, from: In, bytes: usize, _stream: Handle) {
        let from = from.bytes(bytes).ok_or(codes::INVALID_VALUE)?;
        on_card(|card| card.upload(to, from))
    }

    fn cuMemcpyDtoHAsync_v2(to: BytesOut, from: u64, bytes: usize, _stream: Handle) {
        let mut to = to;
        let to = to.bytes(bytes).ok_or(codes::INVALID_VALUE)?;
        on_card(|card| card.download(from, to))
    }

    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, _stream: Handle) {
        on_card(|card| card.copy(to, from, bytes as u64))
    }

    fn cuMemsetD8Async(to: u64, value: u8, count: usize, _stream: Handle) {
        on_card(|card| card.fill(to, &[value], count as u64))
    }

    fn cuMemsetD16Async(to: u64, value: u16, count: usize, _stream: Handle) {
        on_card(|card| card.fill(to, &value.to_le_bytes(), count as u64))
    }

    fn cuMemsetD32Async(to: u64, value: u32, count: usize, _stream: Handle) {
        on_card(|card| card.fill(to, &value.to_le_bytes(), count as u64))
    }

    fn cuStreamCreate(stream: Out<Handle>, _flags: c_uint) {
        on_card(|_| Ok(()))?;
        stream.put(handle(0));
        Ok(())
    }

    fn cuStreamSynchronize(stream: Handle) {
        on_card(|_| number(stream).map(drop))
    }

    fn cuStreamDestroy_v2(stream: Handle) {
        on_card(|_| number(stream).map(drop))
    }

    fn cuEventCreate(event: Out<Handle>, _flags: c_uint) {
        let made = in_context(|machine, _| {
            machine.events.push(None);
            Ok(machine.events.len() - 1)
        })?;
        event.put(handle(made));
        Ok(())
    }

    fn cuEventRecord(event: Handle, _stream: Handle) {
        in_context(|machine, _| {
            let held = machine.events.get_mut(number(event)?).ok_or(codes::INVALID_HANDLE)?;
            *held = Some(Instant::now());
            Ok(())
        })
    }

    fn cuEventSynchronize(event: Handle) {
        in_context(|machine, _| {
            machine.events.get(number(event)?).ok_or(codes::INVALID_HANDLE).map(drop)
        })
    }

    fn cuEventElapsedTime(ms: Out<f32>, start: Handle, end: Handle) {
        let elapsed = in_context(|machine, _| {
            let at = |event| {
                let held = machine.events.get(number(event)?).copied();
                held.flatten().ok_or(codes::INVALID_HANDLE)
            };
            let elapsed = at(end)?.saturating_duration_since(at(start)?);
            // Half a microsecond is what a card's events resolve.
            Ok((elapsed.as_secs_f32() * 1e3).max(0.0005))
        })?;
        ms.put(elapsed);
        Ok(())
    }

    fn cuEventDestroy_v2(event: Handle) {
        in_context(|machine, _| {
            machine.events.get(number(event)?).ok_or(codes::INVALID_HANDLE).map(drop)
        })
    }
}

exports! { before_launch;
    fn cuLaunchKernel(
        function: Handle,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared: c_uint,
        _stream: Handle,
        parameters: Array<In>,
        _extra: *const Handle,
    ) {
        let kernel = number(function)?;
        let signature = in_context(|machine, _| {
            let kernel = machine.kernels.get(kernel).ok_or(codes::INVALID_HANDLE)?;
            Ok(kernel.signature.clone())
        })?;
        injected("cuLaunchKernel", Some(&signature.name))?;
        let mut values = Vec::new();
        let given = parameters.items(signature.params.len());
        for (param, value) in signature.params.iter().zip(given) {
            let size = param.size as usize;
            if size > 8 {
                return Err(codes::NOT_SUPPORTED);
            }
            let mut bytes = [0; 8];
            bytes[..size].copy_from_slice(value.bytes(size).ok_or(codes::INVALID_VALUE)?);
            values.push(u64::from_le_bytes(bytes));
        }
        let shape = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let ran = match in_context(|machine, _| Ok(machine.launch(kernel, shape, shared, &values))) {
            // Injected to break the context in place of running: the next call tells.
            Err(_) => return Ok(()),
            Ok(ran) => ran,
        };
        ran.unwrap_or_else(|| hang())
    }
}

/// Page-locked memory by address.
fn pinned(act: impl FnOnce(&mut HashMap<usize, Layout>)) {
    static PINNED: LazyLock<Mutex<HashMap<usize, Layout>>> = LazyLock::new(Mutex::default);
    act(&mut PINNED.lock().unwrap_or_else(PoisonError::into_inner));
}

/// Writes the compiler's words into the buffer that option `buffer` names, where there is one; the option after it says
/// how much room there is.
fn log(buffer: c_uint, words: &str, (options, values): (&[c_uint], &[Handle])) {
    let value = |option| {
        let at = options.iter().position(|&held| held == option)?;
        values.get(at).copied()
    };
    if let (Some(to), Some(room)) = (value(buffer), value(buffer + 1)) {
        TextOut::of_value(to).put(room.addr(), words);
    }
}
