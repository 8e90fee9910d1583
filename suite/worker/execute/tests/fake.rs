//! A device in host memory whose kernels are named here.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::call::Function;
use crate::device::sim::Schedule;
use crate::device::{
    Access, Argument, BufferId, Device, DeviceInfo, Elapsed, Launch, Loaded, ModuleId, NativeCall,
    Stamp,
};
use crate::image::native::{About, Library};
use crate::image::{Code, Image, Signature};
use crate::outcome::{Fault, Finding, Reason};
use crate::plan::Signatures;
use crate::plan::fixture::{native, signature};
use crate::terms::{DeviceKind, FindingKind, ImageKind, ReasonKind};
use crate::worker::execute::Kernels;

/// Each launch takes a millisecond, each copy half of one, unless `stopped`.
pub struct Fake {
    info: DeviceInfo,
    /// 64-bit words, so that every element is aligned.
    buffers: Vec<(Vec<u64>, usize)>,
    now_ms: f64,
    stopped: bool,
    stamps: Vec<f64>,
    findings: Vec<Finding>,
    broken: bool,
    /// Counts launches, for a kernel that never does the same twice.
    launches: i32,
    schedule: Schedule,
    /// What the kernel `scheduled` does.
    acts: fn(&Schedule) -> Act,
    /// The schedules of its launches.
    pub seen: Rc<RefCell<Vec<Schedule>>>,
}

/// What a kernel may do under a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Right,
    LosesOne,
    Races,
    RacesAndLosesOne,
    Hangs,
    /// To launch at all.
    Refuses,
}

impl Fake {
    pub fn new(kind: DeviceKind) -> Self {
        Self {
            info: DeviceInfo {
                kind,
                name: "NVIDIA H200".into(),
                uuid: None,
                compute_capability: (9, 0),
                cuda_driver_version: None,
                total_memory_bytes: 1 << 30,
                l2_bytes: 64,
            },
            buffers: Vec::new(),
            now_ms: 0.0,
            stopped: false,
            stamps: Vec::new(),
            findings: Vec::new(),
            broken: false,
            launches: 0,
            schedule: Schedule::default(),
            acts: |_| Act::Right,
            seen: Rc::default(),
        }
    }

    /// A simulated device whose kernel `scheduled` is right, wrong or late as its schedule has it.
    pub fn scheduled(acts: fn(&Schedule) -> Act) -> Self {
        Self {
            acts,
            ..Self::new(DeviceKind::Sim)
        }
    }

    fn act(&mut self) -> Act {
        self.seen.borrow_mut().push(self.schedule);
        (self.acts)(&self.schedule)
    }

    /// A device whose clock stands still.
    pub fn stopped() -> Self {
        Self {
            stopped: true,
            ..Self::new(DeviceKind::Cuda)
        }
    }

    fn bytes(&mut self, buffer: BufferId) -> &mut [u8] {
        let (words, len) = &mut self.buffers[buffer.0];
        &mut bytemuck::cast_slice_mut(words)[..*len]
    }

    fn ints(&mut self, argument: &Argument) -> &mut [i32] {
        match argument {
            Argument::Pointer { buffer, offset } => {
                let bytes = &mut self.bytes(*buffer)[*offset as usize..];
                bytemuck::cast_slice_mut(bytes)
            }
            Argument::Scalar { .. } => panic!("not a pointer"),
        }
    }
}

impl Device for Fake {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn load(&mut self, image: &Image) -> Result<Loaded, Fault> {
        Ok(Loaded {
            module: ModuleId(0),
            jit_log: Some(format!("loaded {}", image.module)),
        })
    }

    fn alloc(&mut self, len: u64, _access: Access) -> Result<BufferId, Fault> {
        let len = len as usize;
        self.buffers.push((vec![0; len.div_ceil(8)], len));
        Ok(BufferId(self.buffers.len() - 1))
    }

    fn free_all(&mut self) {
        self.buffers.clear();
        self.stamps.clear();
    }

    fn upload(&mut self, to: BufferId, offset: u64, bytes: &[u8]) -> Result<(), Fault> {
        self.bytes(to)[offset as usize..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn fill(&mut self, to: BufferId, offset: u64, len: u64, pattern: &[u8]) -> Result<(), Fault> {
        let bytes = &mut self.bytes(to)[offset as usize..][..len as usize];
        for (byte, value) in bytes.iter_mut().zip(pattern.iter().cycle()) {
            *byte = *value;
        }
        Ok(())
    }

    fn poison(&mut self, to: BufferId, offset: u64, len: u64, pattern: &[u8]) -> Result<(), Fault> {
        self.fill(to, offset, len, pattern)
    }

    fn copy(&mut self, from: (BufferId, u64), to: (BufferId, u64), len: u64) -> Result<(), Fault> {
        let bytes = self.bytes(from.0)[from.1 as usize..][..len as usize].to_vec();
        self.now_ms += if self.stopped { 0.0 } else { 0.5 };
        self.upload(to.0, to.1, &bytes)
    }

    fn launch(&mut self, launch: &Launch<'_>) -> Result<(), Fault> {
        self.now_ms += if self.stopped { 0.0 } else { 1.0 };
        self.launches += 1;
        let args = launch.args;
        let act = match launch.kernel {
            "scheduled" => self.act(),
            "compact_loses_one" => Act::LosesOne,
            _ => Act::Right,
        };
        if matches!(act, Act::Races | Act::RacesAndLosesOne) {
            let race = Finding::new(FindingKind::Race, "between two threads");
            self.findings.push(race);
        }
        match launch.kernel {
            "scheduled" if act == Act::Refuses => return Err(Fault::setup("no such shape")),
            "scheduled" if act == Act::Hangs => return Err(Fault::hang("it does not end")),
            "compact" | "compact_loses_one" | "scheduled" => {
                let mut kept: Vec<i32> = self.ints(&args[0]).to_vec();
                kept.retain(|v| *v != 0);
                let loses_one = matches!(act, Act::LosesOne | Act::RacesAndLosesOne);
                kept.truncate(kept.len() - usize::from(loses_one));
                self.ints(&args[1])[..kept.len()].copy_from_slice(&kept);
                self.ints(&args[2])[0] = kept.len() as i32;
            }
            "reverse" => {
                let mut all = self.ints(&args[0]).to_vec();
                all.reverse();
                self.ints(&args[1])[..all.len()].copy_from_slice(&all);
            }
            "random" => self.ints(&args[0])[0] = self.launches,
            "idle" => {}
            "outside" => self
                .findings
                .push(Finding::new(FindingKind::OutOfBounds, "address 4")),
            "breaks" => self.broken = true,
            "refused" => return Err(Fault::setup("no such shape")),
            other => panic!("no kernel `{other}`"),
        }
        Ok(())
    }

    fn open_native(&mut self, library: &Library) -> Result<(), Fault> {
        match library.path.ends_with("foreign") {
            false => Ok(()),
            true => Err(Fault {
                reason: Reason::new(ReasonKind::BuiltWithout, "no code for this card"),
                sticky: false,
            }),
        }
    }

    fn native_scratch(&mut self, _call: &NativeCall<'_>) -> Result<u64, Fault> {
        Ok(1)
    }

    /// `lib_reverse`, in two milliseconds.
    fn call_native(&mut self, call: &NativeCall<'_>, _scratch: BufferId) -> Result<(), Fault> {
        self.now_ms += 2.0;
        let mut all = self.ints(&call.args[0]).to_vec();
        all.reverse();
        self.ints(&call.args[1])[..all.len()].copy_from_slice(&all);
        Ok(())
    }

    fn set_schedule(&mut self, schedule: Schedule) -> Result<(), Fault> {
        match self.info.kind {
            DeviceKind::Sim => self.schedule = schedule,
            DeviceKind::Cuda => return Err(Fault::setup("schedules as it likes")),
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Fault> {
        match self.broken {
            true => Err(Fault::kernel("illegal address")),
            false => Ok(()),
        }
    }

    fn take_findings(&mut self) -> Result<Vec<Finding>, Fault> {
        Ok(std::mem::take(&mut self.findings))
    }

    fn download(&mut self, from: BufferId, offset: u64, len: u64) -> Result<&[u8], Fault> {
        Ok(&self.bytes(from)[offset as usize..][..len as usize])
    }

    fn stamp(&mut self) -> Result<Stamp, Fault> {
        self.stamps.push(self.now_ms);
        Ok(Stamp(self.stamps.len() - 1))
    }

    fn between(&mut self, start: Stamp, end: Stamp) -> Result<Elapsed, Fault> {
        let ms = self.stamps[end.0] - self.stamps[start.0];
        Ok(match self.info.kind {
            DeviceKind::Cuda => Elapsed::Milliseconds(ms),
            DeviceKind::Sim => Elapsed::Instructions((ms * 100.0) as u64),
        })
    }
}

/// The fake device's kernels, all in the module `first`.
pub struct FakeKernels;

impl Signatures for FakeKernels {
    fn kernel(&self, modules: &[String], name: &str) -> Result<(usize, Signature), Fault> {
        let letters = match name {
            "compact" | "compact_loses_one" | "scheduled" => "ppp",
            "reverse" => "pp",
            "idle" => "",
            "random" | "outside" | "breaks" | "refused" => "p",
            _ => return Err(Fault::setup(format!("no kernel `{name}` in {modules:?}"))),
        };
        Ok((0, signature(name, letters)))
    }

    fn native(&self, name: &str) -> Result<Function, Fault> {
        native(name)
    }
}

/// The same, and a native library, which the fake device opens where its name is not `foreign`.
pub struct WithLibrary(pub &'static str);

impl Signatures for WithLibrary {
    fn kernel(&self, modules: &[String], name: &str) -> Result<(usize, Signature), Fault> {
        FakeKernels.kernel(modules, name)
    }

    fn native(&self, name: &str) -> Result<Function, Fault> {
        native(name)
    }
}

impl Kernels for WithLibrary {
    fn image(
        &self,
        module: &str,
        kind: ImageKind,
        compute_capability: (u32, u32),
    ) -> Result<Image, Fault> {
        FakeKernels.image(module, kind, compute_capability)
    }

    fn library(&self) -> Result<Library, Reason> {
        Ok(Library {
            path: self.0.into(),
            sha256: "ab".into(),
            about: About {
                sources_sha256: "cd".into(),
                compiler: "nvcc 13.0.88".into(),
                architectures: vec![(9, 0)],
            },
            functions: Vec::new(),
        })
    }
}

impl Kernels for FakeKernels {
    fn image(
        &self,
        module: &str,
        kind: ImageKind,
        (major, minor): (u32, u32),
    ) -> Result<Image, Fault> {
        if kind == ImageKind::Nvrtc {
            let reason = Reason::new(ReasonKind::BuiltWithout, "no NVRTC");
            let sticky = false;
            return Err(Fault { reason, sticky });
        }
        Ok(Image {
            kind,
            module: module.into(),
            code: Code::Ptx(Arc::from("")),
            sha256: "00".into(),
            compiler: format!("fake {major}.{minor}"),
        })
    }
}
