//! A device that is host memory and a list of calls.
//!
//! Owns: what the session's tests look at. Stamps are numbered; `between` tells their numbers.
//!
//! ```text
//! fake.log: ["load m", "upload input", "poison out[0..+16]", "add", "finish", "findings", "read out[0..+16]"]
//! ```

use crate::device::{
    Access, Argument, BufferId, Device, DeviceInfo, Elapsed, Launch, Loaded, ModuleId, NativeCall,
    Stamp,
};
use crate::image::Image;
use crate::outcome::{Fault, Finding};
use crate::terms::DeviceKind;

/// Logs every call that has an order. `add` adds to a buffer's first element; `break` gives the fault.
pub(super) struct Fake {
    info: DeviceInfo,
    buffers: Vec<Vec<u64>>,
    lens: Vec<usize>,
    pub access: Vec<Access>,
    names: Vec<String>,
    pub log: Vec<String>,
    pub findings: Vec<Finding>,
    pub fault: Option<Fault>,
    stamps: usize,
    pub freed: usize,
}

impl Fake {
    pub fn new(kind: DeviceKind) -> Self {
        Self {
            info: DeviceInfo {
                kind,
                name: "fake".into(),
                uuid: None,
                compute_capability: (7, 5),
                cuda_driver_version: None,
                total_memory_bytes: 1 << 30,
                l2_bytes: 1 << 20,
            },
            buffers: vec![],
            lens: vec![],
            access: vec![],
            names: vec![],
            log: vec![],
            findings: vec![],
            fault: None,
            stamps: 0,
            freed: 0,
        }
    }

    fn bytes(&mut self, buffer: BufferId) -> &mut [u8] {
        let len = self.lens[buffer.0];
        &mut bytemuck::cast_slice_mut(&mut self.buffers[buffer.0])[..len]
    }

    fn word(&mut self, buffer: BufferId) -> &mut i32 {
        &mut bytemuck::cast_slice_mut(&mut self.buffers[buffer.0])[0]
    }
}

impl Device for Fake {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn load(&mut self, image: &Image) -> Result<Loaded, Fault> {
        self.log.push(format!("load {}", image.module));
        Ok(Loaded {
            module: ModuleId(7),
            jit_log: Some(format!("log of {}", image.module)),
        })
    }

    fn alloc(&mut self, len: u64, access: Access) -> Result<BufferId, Fault> {
        self.buffers
            .push(vec![0x5555_5555_5555_5555; len.div_ceil(8) as usize]);
        self.lens.push(len as usize);
        self.access.push(access);
        self.names.push(String::new());
        Ok(BufferId(self.buffers.len() - 1))
    }

    fn name_buffer(&mut self, buffer: BufferId, name: &str) {
        self.names[buffer.0] = name.into();
    }

    fn free_all(&mut self) {
        self.freed += 1;
    }

    fn upload(&mut self, to: BufferId, offset: u64, bytes: &[u8]) -> Result<(), Fault> {
        self.log.push(format!("upload {}", self.names[to.0]));
        self.bytes(to)[offset as usize..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn fill(&mut self, to: BufferId, offset: u64, len: u64, pattern: &[u8]) -> Result<(), Fault> {
        self.log
            .push(format!("fill {}[{offset}..+{len}]", self.names[to.0]));
        let bytes = &mut self.bytes(to)[offset as usize..][..len as usize];
        for chunk in bytes.chunks_mut(pattern.len()) {
            chunk.copy_from_slice(&pattern[..chunk.len()]);
        }
        Ok(())
    }

    fn poison(&mut self, to: BufferId, offset: u64, len: u64, pattern: &[u8]) -> Result<(), Fault> {
        self.fill(to, offset, len, pattern)?;
        self.log.pop();
        self.log
            .push(format!("poison {}[{offset}..+{len}]", self.names[to.0]));
        Ok(())
    }

    fn copy(&mut self, from: (BufferId, u64), to: (BufferId, u64), len: u64) -> Result<(), Fault> {
        self.log.push(format!(
            "copy {} → {}",
            self.names[from.0.0], self.names[to.0.0]
        ));
        let bytes = self.bytes(from.0)[from.1 as usize..][..len as usize].to_vec();
        self.bytes(to.0)[to.1 as usize..][..len as usize].copy_from_slice(&bytes);
        Ok(())
    }

    fn launch(&mut self, launch: &Launch<'_>) -> Result<(), Fault> {
        self.log.push(launch.kernel.to_owned());
        assert_eq!(launch.module, ModuleId(7));
        if let (Some(fault), "break") = (&self.fault, launch.kernel) {
            return Err(fault.clone());
        }
        if let [
            Argument::Pointer { buffer, .. },
            Argument::Scalar { bytes, size: 4 },
        ] = launch.args
        {
            *self.word(*buffer) += i32::from(bytes[0]);
        }
        Ok(())
    }

    /// `lib` wants 100 bytes an element.
    fn native_scratch(&mut self, call: &NativeCall<'_>) -> Result<u64, Fault> {
        self.log.push(format!("ask {}", call.name));
        match call.args {
            [_, Argument::Scalar { bytes, .. }] => Ok(100 * u64::from_le_bytes(*bytes)),
            _ => panic!("{call:?}"),
        }
    }

    /// Adds the number of elements.
    fn call_native(&mut self, call: &NativeCall<'_>, scratch: BufferId) -> Result<(), Fault> {
        let len = self.lens[scratch.0];
        self.log.push(format!("{} with {len} bytes", call.name));
        if let [
            Argument::Pointer { buffer, .. },
            Argument::Scalar { bytes, .. },
        ] = call.args
        {
            *self.word(*buffer) += i32::from(bytes[0]);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Fault> {
        self.log.push("finish".into());
        Ok(())
    }

    fn take_findings(&mut self) -> Result<Vec<Finding>, Fault> {
        self.log.push("findings".into());
        Ok(self.findings.clone())
    }

    fn download(&mut self, from: BufferId, offset: u64, len: u64) -> Result<&[u8], Fault> {
        self.log
            .push(format!("read {}[{offset}..+{len}]", self.names[from.0]));
        Ok(&self.bytes(from)[offset as usize..][..len as usize])
    }

    fn stamp(&mut self) -> Result<Stamp, Fault> {
        self.log.push("stamp".into());
        self.stamps += 1;
        Ok(Stamp(self.stamps - 1))
    }

    fn between(&mut self, start: Stamp, end: Stamp) -> Result<Elapsed, Fault> {
        Ok(match self.info.kind {
            DeviceKind::Cuda => Elapsed::Milliseconds((start.0 * 10 + end.0) as f64),
            DeviceKind::Sim => Elapsed::Instructions(640),
        })
    }
}
