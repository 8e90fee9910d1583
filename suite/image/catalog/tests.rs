use std::fs;

use tempfile::TempDir;

use super::*;
use crate::image::{Param, ParamClass};
use crate::terms::ReasonKind;

const OURS: &str = "extern \"C\" __global__ void ours() {}\n";
const PTX: &str = ".version 7.8\n.target sm_75\n.address_size 64\n";

fn folder_of(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(path, text).expect("a file");
    }
    dir
}

fn open(dir: &TempDir) -> Catalog {
    Catalog::open(Some(dir.path())).expect("a readable folder")
}

fn manifest_of(module: &str, source: &str, ptx: &str) -> String {
    let mut manifest = Manifest::default();
    let entry = Entry {
        source_sha256: text_sha256(source),
        ptx_sha256: text_sha256(ptx),
        compiler: "NVRTC 11.8".to_owned(),
        options: Vec::new(),
        isa: "7.8".to_owned(),
        target: "sm_75".to_owned(),
    };
    manifest.modules.insert(module.to_owned(), entry);
    manifest.to_text()
}

/// The message of a setup fault that names the mend.
fn stale(catalog: &Catalog, module: &str) -> String {
    let fault = catalog
        .image(module, ImageKind::Jit, (7, 5))
        .expect_err("no PTX to use");
    assert_eq!(fault.reason.kind, ReasonKind::Setup);
    assert!(!fault.sticky, "other cases go on");
    let message = fault.reason.message;
    assert!(message.contains("cuda-gates kernels build"), "{message}");
    let signatures = catalog
        .signatures(module)
        .expect_err("no PTX to read them from");
    assert_eq!(signatures.reason.message, message);
    message
}

#[test]
fn every_embedded_module_has_ptx_for_old_drivers() {
    let catalog = Catalog::embedded();
    let modules: Vec<&str> = catalog.modules().collect();
    assert!(modules.contains(&"compaction") && modules.contains(&"faulty/scan"));
    for module in modules {
        let image = catalog
            .image(module, ImageKind::Jit, (9, 0))
            .expect("committed PTX");
        let Code::Ptx(text) = &image.code else {
            panic!("{module}: jit is PTX");
        };
        assert!(text.contains("\n.version 7.8\n.target sm_75\n"), "{module}");
        assert!(
            !text.contains("\"/"),
            "{module}: a folder of the machine that built it"
        );
        assert_eq!(image.sha256, sha256_hex(text.as_bytes()));
        assert_eq!(
            (image.module.as_str(), image.compiler.as_str()),
            (module, "NVRTC 11.8")
        );
    }
}

#[test]
fn an_unknown_module_is_a_setup_fault() {
    let fault = Catalog::embedded()
        .image("none", ImageKind::Sass, (9, 0))
        .expect_err("there is none");
    assert_eq!(fault.reason.kind, ReasonKind::Setup);
    assert!(fault.reason.message.contains("kernels/none.cu"));
}

#[test]
fn a_changed_source_makes_embedded_ptx_and_native_code_stale() {
    let catalog = open(&folder_of(&[("compaction.cu", OURS)]));
    assert_eq!(catalog.source("compaction"), Some(OURS));
    assert!(stale(&catalog, "compaction").contains("compaction.cu has changed"));
    let sass = catalog
        .image("compaction", ImageKind::Sass, (9, 0))
        .expect_err("not of this source");
    assert_eq!(sass.reason.kind, ReasonKind::BuiltWithout);
    let other = catalog.image("faulty/scan", ImageKind::Jit, (9, 0));
    assert!(other.is_ok(), "other modules are as embedded");
}

#[test]
fn the_same_source_with_other_line_endings_uses_the_embedded_ptx() {
    let source = Catalog::embedded()
        .source("compaction")
        .expect("embedded")
        .replace('\n', "\r\n");
    let catalog = open(&folder_of(&[("compaction.cu", &source)]));
    assert!(catalog.image("compaction", ImageKind::Jit, (7, 5)).is_ok());
}

#[test]
fn a_new_module_needs_ptx_and_no_rebuild() {
    let bare = open(&folder_of(&[("mine/ours.cu", OURS)]));
    assert!(bare.modules().any(|module| module == "mine/ours"));
    assert!(stale(&bare, "mine/ours").contains("mine/ours.cu has no PTX"));

    let manifest = manifest_of("mine/ours", OURS, PTX);
    let built = open(&folder_of(&[
        ("mine/ours.cu", OURS),
        ("ptx/mine/ours.ptx", PTX),
        ("ptx/manifest.json", &manifest),
    ]));
    let image = built
        .image("mine/ours", ImageKind::Jit, (7, 5))
        .expect("its PTX");
    assert!(matches!(&image.code, Code::Ptx(text) if **text == *PTX));
}

#[test]
fn the_folders_ptx_wins_over_the_embedded_one() {
    let manifest = manifest_of("compaction", OURS, PTX);
    let catalog = open(&folder_of(&[
        ("compaction.cu", OURS),
        ("ptx/compaction.ptx", PTX),
        ("ptx/manifest.json", &manifest),
    ]));
    let image = catalog
        .image("compaction", ImageKind::Jit, (7, 5))
        .expect("its PTX");
    assert_eq!(image.sha256, sha256_hex(PTX.as_bytes()));
    assert!(
        catalog.image("elementwise", ImageKind::Jit, (7, 5)).is_ok(),
        "a manifest that does not list a module leaves it alone"
    );
}

#[test]
fn ptx_changed_by_hand_or_listed_nowhere_is_not_used() {
    let changed = folder_of(&[("ptx/compaction.ptx", PTX)]);
    assert!(stale(&open(&changed), "compaction").contains("changed after"));
    let unlisted = folder_of(&[("ours.cu", OURS), ("ptx/ours.ptx", PTX)]);
    assert!(stale(&open(&unlisted), "ours").contains("no manifest lists"));
}

#[test]
fn a_broken_manifest_stops_the_modules_beside_it_only() {
    let catalog = open(&folder_of(&[("ours.cu", OURS), ("ptx/manifest.json", "{")]));
    assert!(stale(&catalog, "ours").contains("ptx/manifest.json"));
    assert!(catalog.image("compaction", ImageKind::Jit, (7, 5)).is_ok());
}

#[test]
fn a_folder_that_cannot_be_read_is_named() {
    let error = Catalog::open(Some("/nowhere/kernels".as_ref())).expect_err("it is not there");
    assert!(error.to_string().starts_with("/nowhere/kernels: "));
    assert!(Catalog::open(None).is_ok());
}

#[test]
fn nvrtc_compiles_now_or_says_why_not() {
    match Catalog::embedded().image("elementwise", ImageKind::Nvrtc, (9, 0)) {
        Ok(image) => {
            assert!(image.compiler.starts_with("NVRTC "), "{}", image.compiler);
            assert!(matches!(&image.code, Code::Ptx(text) if text.contains(".entry iota")));
        }
        Err(fault) => {
            assert_eq!(fault.reason.kind, ReasonKind::BuiltWithout);
            assert!(fault.reason.message.starts_with("NVRTC: "));
        }
    }
}

#[test]
fn signatures_come_from_the_committed_ptx() {
    let catalog = Catalog::embedded();
    let signature = |module: &str, kernel: &str| {
        let all = catalog.signatures(module).expect("fresh PTX");
        let found = all.into_iter().find(|signature| signature.name == kernel);
        found.expect("the module has that kernel")
    };
    let integer = |size| Param {
        size,
        class: ParamClass::Integer,
    };
    let scan = signature("compaction", "scan_tiles");
    assert_eq!(
        scan.params,
        [integer(8), integer(8), integer(8), integer(4)]
    );
    assert_eq!(scan.static_shared_bytes, 2 * 256 * 4);
    assert_eq!(scan.max_threads, Some(256));
    assert!(!scan.dynamic_shared);
    let saxpy = signature("elementwise", "saxpy");
    assert_eq!(saxpy.params[0].class, ParamClass::Float);
    let names: Vec<String> = catalog
        .signatures("compaction")
        .expect("fresh PTX")
        .into_iter()
        .map(|signature| signature.name)
        .collect();
    assert_eq!(
        names,
        [
            "mark_nonzero",
            "mark_even",
            "scan_tiles",
            "add_carry",
            "scatter",
            "scatter_partition",
            "zero_count",
            "compact_atomic",
            "copy"
        ]
    );
}

#[test]
fn every_embedded_kernel_has_a_name_of_its_own() {
    let catalog = Catalog::embedded();
    let mut names: Vec<String> = catalog
        .modules()
        .flat_map(|module| catalog.signatures(module).expect("fresh PTX"))
        .map(|signature| signature.name)
        .collect();
    let all = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), all, "specs name kernels without their module");
}

#[test]
fn ptx_that_cannot_be_read_is_a_setup_fault_with_its_line() {
    let text = ".version 7.8\n.target sm_75\n.address_size 64\n}\n";
    let manifest = manifest_of("ours", OURS, text);
    let catalog = open(&folder_of(&[
        ("ours.cu", OURS),
        ("ptx/ours.ptx", text),
        ("ptx/manifest.json", &manifest),
    ]));
    let fault = catalog.signatures("ours").expect_err("a stray brace");
    assert_eq!(fault.reason.kind, ReasonKind::Setup);
    let message = fault.reason.message;
    assert!(
        message.starts_with("kernels/ptx/ours.ptx: line 4: "),
        "{message}"
    );
}

/// The smallest folder with each of the files, as a pipe, as a device, and as what is no text.
#[test]
fn kernels_that_are_no_files_or_no_text_are_refused() {
    let manifest = manifest_of("ours", OURS, PTX);
    let files = [
        ("ours.cu", OURS),
        ("ptx/ours.ptx", PTX),
        ("ptx/manifest.json", &manifest),
    ];
    for (name, _) in files {
        let dir = folder_of(&files);
        let path = dir.path().join(name);
        let told = || {
            let catalog = Catalog::open(Some(dir.path()));
            let told = catalog.expect_err(name).to_string();
            assert!(told.starts_with(&path.display().to_string()), "{told}");
            told
        };
        fs::remove_file(&path).expect("a file");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.expect("mkfifo").success());
        assert!(told().contains("not a regular file"), "{}", told());
        fs::remove_file(&path).expect("a pipe");
        std::os::unix::fs::symlink("/dev/zero", &path).expect("a link");
        assert!(told().contains("not a regular file"), "{}", told());
        fs::remove_file(&path).expect("a link");
        fs::write(&path, b".v\xff").expect("a file");
        let mend = match name {
            "ptx/ours.ptx" => "remove it, and `cuda-gates kernels build` makes it",
            _ => "save it as UTF-8",
        };
        let words = format!("it is no UTF-8 from byte 2 on: {mend}");
        assert!(told().contains(&words), "{}", told());
    }
}
