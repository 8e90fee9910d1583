//! A folder with a suite of its own, and the binary run in it.

use std::fs::{self, OpenOptions};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use cuda_gates::archive::Store;
use cuda_gates::report::record::Report;
use tempfile::TempDir;

use super::binary::{Ran, prepare};

/// Right and wrong gates over the repository's kernels: many short cases.
pub const SUITE: &str = r#"
version: 1
suite: mine
title: Many short cases
kernels: [compaction.cu]
axes: {n: [7, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 300, 511, 512, 513, 1000, 1023, 1024, 1025]}
inputs: {input: {type: i32, generator: survivors, seed: 12345, keep: 128, len: n}}
buffers: {out: {type: i32, len: n}, rank: {type: i32, len: n}}
pipelines:
  copied: [{kernel: copy, grid: 4, block: 64, args: [input, out, n]}]
  marked: [{kernel: mark_nonzero, grid: 4, block: 64, args: [input, rank, n]}]
  marked_short: [{kernel: mark_nonzero, grid: 4, block: 64, args: [input, rank, n - 1]}]
gates:
  by_reference: {run: copied, check: exact, got: out, want: {copy: input}}
  by_script:
    run: marked
    check: exact
    got: rank
    want:
      script: |
        let flags = [];
        for value in input { flags.push(if value != 0 { 1 } else { 0 }); }
        flags
  wrong: {run: marked_short, check: exact, got: rank, want: {map: nonzero}}
  on_a_card: {run: copied, check: exact, got: out, want: {copy: input}, devices: [cuda]}
"#;

pub struct Place {
    folder: TempDir,
}

impl Place {
    pub fn new(suite: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("specs")).unwrap();
        fs::write(folder.path().join("specs/mine.yaml"), suite).unwrap();
        Self { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn reports(&self) -> PathBuf {
        self.path("reports")
    }

    /// The binary in this folder, on the simulated device, silent.
    pub fn command(&self) -> Command {
        let mut command = self.prepared(Command::new(env!("CARGO_BIN_EXE_cuda-gates")));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn prepared(&self, mut command: Command) -> Command {
        prepare(&mut command, self.folder.path());
        command.env("CUDA_GATES_DEVICE", "sim");
        command.env("HOME", self.folder.path());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.run_command(Command::new(env!("CARGO_BIN_EXE_cuda-gates")), arguments)
    }

    pub fn run_command(&self, command: Command, arguments: &[&str]) -> Ran {
        Ran::of(self.prepared(command).args(arguments).output().unwrap())
    }

    pub fn newest(&self) -> Report {
        Store::open(self.reports()).newest().unwrap().report
    }

    /// Bytes of the results of the newest run.
    pub fn run_bytes(&self) -> u64 {
        let run = Store::open(self.reports()).newest().unwrap().path;
        fs::metadata(run.join("results.jsonl")).unwrap().len()
    }

    /// Cases of the suite: four gates for each length.
    pub fn cases(&self) -> usize {
        4 * 21
    }

    /// A run as it is where it was killed after so many results; its id.
    pub fn died_after(&self, results: usize) -> String {
        self.died(&[], results)
    }

    /// The same of a run with these arguments.
    pub fn died(&self, arguments: &[&str], results: usize) -> String {
        self.run(arguments).ends(1);
        let run = Store::open(self.reports()).newest().unwrap().path;
        for file in ["report.json", "junit.xml", "summary.md"] {
            fs::remove_file(run.join(file)).unwrap();
        }
        let path = run.join("results.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        let kept = text
            .lines()
            .take(results)
            .map(|line| line.len() + 1)
            .sum::<usize>();
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(kept as u64).unwrap();
        run.file_name().unwrap().to_str().unwrap().to_owned()
    }
}
