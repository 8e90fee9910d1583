//! Pointers that come from outside, as types whose methods keep to what the headers promise.
//!
//! Owns: every `unsafe` of this library. Only callers from outside make these values, by passing a pointer to an
//! exported function, and what cuda.h and nvml.h say of that parameter is their promise. A null output is not written.

use std::alloc::{Layout, alloc, dealloc};
use std::ffi::{CStr, c_char, c_void};
use std::slice;

/// Where one value goes.
#[repr(transparent)]
pub(super) struct Out<T>(*mut T);

impl<T> Out<T> {
    pub(super) fn put(&self, value: T) {
        if !self.0.is_null() {
            // SAFETY: not null, so it is valid for the write of a `T`: the header's promise.
            unsafe { self.0.write(value) };
        }
    }
}

impl Out<u32> {
    /// A number that is read before it is written: how much room the caller has.
    pub(super) fn held(&self) -> u32 {
        match self.0.is_null() {
            true => 0,
            // SAFETY: not null, so it is valid for a read: the header's promise for such a parameter.
            false => unsafe { self.0.read() },
        }
    }
}

impl Out<u64> {
    /// Zeros, where several numbers go.
    pub(super) fn fill(&self, count: usize) {
        if !self.0.is_null() {
            // SAFETY: not null, and `count` items long by the header's promise.
            unsafe { self.0.write_bytes(0, count) };
        }
    }
}

/// Where a text goes.
#[repr(transparent)]
pub(super) struct TextOut(*mut c_char);

impl TextOut {
    /// From a value of a list of options, which the header says to be a text's room.
    pub(super) fn of_value(value: *mut c_void) -> Self {
        Self(value.cast())
    }

    /// Writes the text and a NUL, cut to `room` bytes.
    pub(super) fn put(&self, room: usize, text: &str) {
        if self.0.is_null() || room == 0 {
            return;
        }
        let len = text.len().min(room - 1);
        // SAFETY: not null, and `room` bytes long by the header's promise; the text lies elsewhere.
        unsafe {
            self.0.copy_from_nonoverlapping(text.as_ptr().cast(), len);
            self.0.add(len).write(0);
        }
    }
}

/// A NUL-terminated text, or memory to read.
#[repr(transparent)]
pub(super) struct In(*const c_void);

impl In {
    pub(super) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    pub(super) fn text(&self) -> Option<String> {
        if self.is_null() {
            return None;
        }
        // SAFETY: not null, and NUL-terminated by the header's promise.
        let text = unsafe { CStr::from_ptr(self.0.cast()) };
        Some(text.to_string_lossy().into_owned())
    }

    pub(super) fn bytes(&self, len: usize) -> Option<&[u8]> {
        if self.is_null() {
            return None;
        }
        // SAFETY: not null, and readable for `len` bytes by the header's promise, for as long as the call.
        Some(unsafe { slice::from_raw_parts(self.0.cast(), len) })
    }
}

/// Memory to write.
#[repr(transparent)]
pub(super) struct BytesOut(*mut c_void);

impl BytesOut {
    pub(super) fn bytes(&mut self, len: usize) -> Option<&mut [u8]> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: not null, and writable for `len` bytes by the header's promise, for as long as the call; page-locked
        // memory that nobody has written holds zeros.
        Some(unsafe { slice::from_raw_parts_mut(self.0.cast(), len) })
    }
}

/// An array.
#[repr(transparent)]
pub(super) struct Array<T>(*const T);

impl<T> Array<T> {
    pub(super) fn items(&self, len: usize) -> &[T] {
        match self.0.is_null() {
            true => &[],
            // SAFETY: not null, and `len` items long by the header's promise, for as long as the call.
            false => unsafe { slice::from_raw_parts(self.0, len) },
        }
    }
}

/// Page-aligned host memory that holds zeros; none where there is no more. Its address names it.
pub(super) fn page_locked(layout: Layout) -> Option<*mut c_void> {
    assert!(layout.size() > 0, "the caller refuses none");
    // SAFETY: the layout's size is not 0.
    let made = unsafe { alloc(layout) };
    if made.is_null() {
        return None;
    }
    // SAFETY: just allocated, of this size.
    unsafe { made.write_bytes(0, layout.size()) };
    Some(made.cast())
}

/// Frees it. `layout` is what was given for this address, once: the caller keeps a list.
pub(super) fn free_page_locked(host: *mut c_void, layout: Layout) {
    // SAFETY: from `page_locked` with this layout, and taken off the caller's list.
    unsafe { dealloc(host.cast(), layout) };
}
