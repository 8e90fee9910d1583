//! Identity without a card; with one when CUDA_GATES_TEST_GPU=1.

use super::*;
use nvml_wrapper::error::NvmlError;

fn on_a_card() -> bool {
    std::env::var("CUDA_GATES_TEST_GPU").as_deref() == Ok("1")
}

#[test]
fn without_nvml_every_field_says_why() {
    if nvml::session().is_ok() {
        println!("left out: this machine has NVML");
        return;
    }
    let identity = read(Some("GPU-0"));
    let names = |fields: &BTreeMap<String, Field>| fields.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&identity.fields), card::FIELDS);
    assert_eq!(names(&identity.live), card::LIVE);
    let why = identity.fault.unwrap();
    assert_eq!(why.kind, crate::terms::ReasonKind::Environment);
    for field in identity.fields.values().chain(identity.live.values()) {
        assert_eq!(field, &Field::Unavailable(why.message.clone()));
    }
    let mut watch = HealthWatch::start(None);
    assert_eq!(watch.unavailable(), Some(why.message.as_str()));
    assert_eq!(watch.xid_events(0), Err(why.message));
}

#[test]
fn a_mismatch_after_an_update_is_the_environments() {
    let words = nvml::words(&NvmlError::LibRmVersionMismatch);
    assert!(
        words.starts_with("environment: ") && words.ends_with("reboot after the driver update"),
        "{words}"
    );
    assert_eq!(
        nvml::field::<u32>(Err(NvmlError::NotSupported)),
        Field::Unavailable("not supported by this card or driver".to_owned())
    );
    assert_eq!(
        nvml::field::<u32>(Err(NvmlError::UnexpectedVariant(77))),
        Field::Unavailable("a value newer than this program: 77".to_owned())
    );
    assert_eq!(nvml::field(Ok(5_u32)), Field::Value(5.into()));
}

#[test]
fn the_kernel_drivers_version_is_found_in_both_of_its_forms() {
    for (line, version) in [
        (
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023",
            Some("535.104.05"),
        ),
        (
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (dvs@x)",
            Some("580.159.04"),
        ),
        ("NVRM version: something else", None),
        ("GCC version:  gcc version 12.2.0", None),
    ] {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("driver/nvidia");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(
            folder.join("version"),
            format!("{line}\nGCC version:  gcc version 12.2.0\n"),
        )
        .unwrap();
        assert_eq!(
            kernel_driver_version(root.path()).as_deref(),
            version,
            "{line}"
        );
    }
    assert_eq!(kernel_driver_version(Path::new("/nowhere")), None);
}

#[test]
fn a_cards_identity_is_that_of_the_cuda_device() {
    if !on_a_card() {
        println!("left out: CUDA_GATES_TEST_GPU=1 runs this on a card");
        return;
    }
    for info in crate::device::cuda::enumerate().unwrap() {
        let uuid = info.uuid.as_deref();
        let identity = read(uuid);
        println!("{identity:#?}\n{:#?}\n{:#?}", host(), toolchain());
        assert_eq!(identity.fault, None);
        assert_eq!(
            identity.fields["name"],
            Field::Value(info.name.as_str().into())
        );
        assert_eq!(identity.fields["uuid"], Field::Value(uuid.into()));
        let (major, minor) = info.compute_capability;
        assert_eq!(
            identity.fields["compute_capability"],
            Field::Value(format!("{major}.{minor}").into())
        );
        assert_eq!(
            identity.driver_version,
            kernel_driver_version(Path::new("/proc"))
        );
        println!("Xid: {:?}", HealthWatch::start(uuid).xid_events(0));
    }
    let absent = read(Some("GPU-00000000-0000-0000-0000-000000000000"));
    assert!(
        matches!(&absent.fields["name"], Field::Unavailable(why) if why.starts_with("no card GPU-0"))
    );
    assert!(absent.driver_version.is_some());
}
