//! Several workers behind one door, and what goes wrong with those that are at no case.

use super::*;

pub(super) fn side_by_side() {
    let pool = Pool::new(launch(Address::Sim, 20_000), 3);
    let processes = thread::scope(|scope| {
        let trial = || process_of(&pool.run("sleep:400"));
        let trials: Vec<_> = (0..6).map(|_| scope.spawn(trial)).collect();
        let processes: Vec<u64> = trials.into_iter().map(|t| t.join().unwrap()).collect();
        processes
    });
    let mut distinct = processes;
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 3);
    let work = pool.work();
    assert!(work >= Duration::from_millis(800), "{work:?}");
    assert_eq!(pool.close(), [""; 0]);
    assert!(!distinct.contains(&process_of(&pool.run("pass"))));
}

pub(super) fn told_by_the_pool() {
    let died = "the worker died while it closed the device: ";
    for (act, told) in [
        ("pass", ""),
        ("at close:a call gave 700", "a call gave 700"),
        (
            "at close:abort",
            &format!("{died}signal 6 (SIGABRT); its last words: double free"),
        ),
        ("at close:exit", &format!("{died}exit code 0")),
        (
            "at close:hang",
            "the worker did not close the device within 5 s; it was killed",
        ),
        (
            "die later",
            "the worker died between two cases: exit code 0",
        ),
    ] {
        let pool = Pool::new(launch(Address::Sim, 1_000), 1);
        process_of(&pool.run(act));
        thread::sleep(Duration::from_millis(300));
        let told: Vec<&str> = Some(told)
            .into_iter()
            .filter(|told| !told.is_empty())
            .collect();
        assert_eq!(pool.close(), told, "{act}");
        assert_eq!(pool.close(), [""; 0], "once");
    }
    let pool = Pool::new(launch(Address::Sim, 20_000), 1);
    process_of(&pool.run("at close:garbage"));
    let told = pool.close();
    let words = "the worker sent what is no answer while it closed the device: `0x7f3a garbage`";
    assert!(told[0].starts_with(words), "{told:?}");
    // A lost device was told by its case.
    process_of(&pool.run("at close:abort"));
    process_of(&pool.run("lose"));
    assert_eq!(pool.close(), [""; 0]);
    // One that died, and was replaced.
    process_of(&pool.run("die later"));
    thread::sleep(Duration::from_millis(300));
    process_of(&pool.run("pass"));
    assert_eq!(pool.close().len(), 1);
}

pub(super) fn pool_remembers() {
    let pool = Pool::new(launch(Address::Ordinal(7), 20_000), 2);
    let first = pool.open().unwrap_err();
    assert_eq!(fault_of(pool.run("pass")), first);
    assert_eq!(fault_of(pool.run("pass")), first);
    assert!(pool.device().is_none());
}
