//! A device with buffers and launches in few words, for kernels under many schedules.

use crate::device::sim::{Schedule, SimDevice};
use crate::device::{Access, Argument, BufferId, Device, Launch};
use crate::outcome::Fault;

/// A device, with what its launches need.
pub struct Bench {
    pub device: SimDevice,
    schedule: Schedule,
}

/// A number as an argument.
pub fn word(value: usize) -> Argument {
    Argument::Scalar {
        bytes: (value as u64).to_le_bytes(),
        size: 4,
    }
}

pub fn part(buffer: BufferId, words: usize) -> Argument {
    Argument::Pointer {
        buffer,
        offset: 4 * words as u64,
    }
}

impl Bench {
    pub fn new(schedule: Schedule) -> Self {
        let mut device = SimDevice::new().with_budget(1 << 26);
        device.set_schedule(schedule);
        Self { device, schedule }
    }

    /// For kernels that race so that the order of their threads shows.
    pub fn undetected(schedule: Schedule) -> Self {
        let mut bench = Self::new(schedule);
        bench.device.set_detectors(false);
        bench
    }

    pub fn buffer(&mut self, values: &[u32]) -> BufferId {
        let bytes = 4 * values.len() as u64;
        let buffer = self.device.alloc(bytes, Access::ReadWrite).unwrap();
        let values = bytemuck::cast_slice(values);
        self.device.upload(buffer, 0, values).unwrap();
        buffer
    }

    pub fn zeros(&mut self, words: usize) -> BufferId {
        self.buffer(&vec![0; words])
    }

    /// Words nobody has written.
    pub fn output(&mut self, words: usize) -> BufferId {
        let bytes = 4 * words as u64;
        self.device.alloc(bytes, Access::ReadWrite).unwrap()
    }

    pub fn try_launch(
        &mut self,
        text: &str,
        kernel: &str,
        (grid, block, shared): (usize, u32, usize),
        args: &[Argument],
    ) -> Result<(), Fault> {
        let module = self.device.load(&super::image(text))?.module;
        self.device.launch(&Launch {
            module,
            kernel,
            grid: [grid as u32, 1, 1],
            block: [block, 1, 1],
            shared: shared as u32,
            args,
        })
    }

    /// Launches, and nothing is found.
    pub fn launch(
        &mut self,
        text: &str,
        kernel: &str,
        shape: (usize, u32, usize),
        args: &[Argument],
    ) {
        let schedule = self.schedule;
        self.try_launch(text, kernel, shape, args)
            .unwrap_or_else(|e| panic!("{schedule}: {e}"));
        let findings = self.device.take_findings().unwrap();
        assert_eq!(findings, [], "{schedule}: {kernel}");
    }

    pub fn words(&mut self, buffer: BufferId, len: usize) -> Vec<u32> {
        bytemuck::cast_slice(self.device.download(buffer, 0, 4 * len as u64).unwrap()).to_vec()
    }
}

pub fn numbers(len: usize) -> Vec<u32> {
    let mut state = 12_345_u32;
    let next = |_| {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        state >> 9
    };
    (0..len).map(next).collect()
}

pub fn exclusive_scan(values: &[u32]) -> Vec<u32> {
    let mut sum = 0_u32;
    let before = |value: &u32| {
        let before = sum;
        sum = sum.wrapping_add(*value);
        before
    };
    values.iter().map(before).collect()
}

/// Thirty of an exploration, and lanes apart in the fair order.
pub fn schedules() -> impl Iterator<Item = Schedule> {
    let apart = Schedule {
        apart: true,
        ..Schedule::default()
    };
    (0..30)
        .map(|number| Schedule::nth(1, number))
        .chain([apart])
}
