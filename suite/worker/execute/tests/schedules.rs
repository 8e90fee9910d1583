//! One case under several schedules.

use std::rc::Rc;

use super::fake::Act;
use super::*;
use crate::device::sim::{BlockOrder, Policy};
use crate::report::record::ScheduledRecord;

/// A gate over the kernel `scheduled`, which must end as `expect` says.
fn scheduled_suite(expect: Expect) -> Suite {
    let steps = vec![kernel("scheduled", "1", "1", &["&input", "&out", "&count"])];
    let mut gate = gate(exact("run", "out", reference("compact", "nonzero")));
    gate.expect = expect;
    suite_of(5, "all", steps, gate)
}

/// The record of the case, and the schedules it ran under.
fn explored(
    expect: Expect,
    schedules: Schedules,
    acts: fn(&Schedule) -> Act,
) -> (CaseRecord, Vec<Schedule>) {
    let suite = scheduled_suite(expect);
    let device = Fake::scheduled(acts);
    let seen = Rc::clone(&device.seen);
    let mut executor = executor(device, &suite);
    executor.set_schedules(schedules);
    let record = executor.run(&suite.case("g"));
    let seen = seen.borrow().clone();
    (record, seen)
}

fn of(seed: u64, count: u32) -> Schedules {
    Schedules::explore(seed, count)
}

fn fail(kind: FindingKind) -> Expect {
    let (cuda, sim) = (kind, kind);
    Expect::Fail { cuda, sim }
}

fn reversed(schedule: &Schedule) -> bool {
    schedule.order == Some(BlockOrder::Reversed)
}

/// The first number of the seed's schedules that reverses the blocks.
fn first_reversed(seed: u64) -> u32 {
    let mut numbers = 0..;
    let first = numbers.find(|&number| reversed(&Schedule::nth(seed, number)));
    first.expect("one is reversed")
}

#[test]
fn a_case_that_is_right_under_all_passes_and_says_how_many_ran() {
    let (record, seen) = explored(Expect::Pass, of(7, 5), |_| Act::Right);
    assert_eq!(record.outcome, Outcome::Pass, "{record:?}");
    assert!(seen.iter().copied().eq(of(7, 5).each()));
    let scheduled = ScheduledRecord {
        schedule: Schedule::default(),
        ran: 5,
        of: 5,
        seed: Some(7),
        shrunk: None,
    };
    assert_eq!(record.scheduled, Some(scheduled));
}

#[test]
fn without_a_choice_the_fair_schedule_runs_once_and_nothing_is_said_of_it() {
    let (record, seen) = explored(Expect::Pass, Schedules::default(), |_| Act::Right);
    assert_eq!((record.outcome, record.scheduled), (Outcome::Pass, None));
    assert_eq!(seen, [Schedule::default()]);
}

#[test]
fn the_first_schedule_that_fails_decides_and_is_made_simpler() {
    let acts: fn(&Schedule) -> Act = |schedule| match reversed(schedule) {
        true => Act::LosesOne,
        false => Act::Right,
    };
    let (record, seen) = explored(Expect::Pass, of(3, 100), acts);
    assert_eq!(record.outcome, Outcome::Fail);
    assert_eq!(kinds(&record), [FindingKind::Unwritten]);
    let scheduled = record.scheduled.expect("it explores");
    let number = first_reversed(3);
    assert_eq!(scheduled.schedule, Schedule::nth(3, number));
    assert_eq!((scheduled.ran, scheduled.of), (number + 1, 100));
    let shrunk = scheduled.shrunk.expect("it is simpler");
    assert_eq!(shrunk.schedule.to_string(), "fair,reversed");
    assert_eq!(seen.len() as u32, scheduled.ran + shrunk.runs);
}

#[test]
fn a_simpler_schedule_that_fails_in_another_way_is_not_taken() {
    let acts: fn(&Schedule) -> Act = |schedule| match schedule.policy {
        Policy::Fair => Act::Hangs,
        _ if schedule.switches.is_none_or(|switches| switches >= 13) => Act::RacesAndLosesOne,
        _ => Act::LosesOne,
    };
    let seeded = Schedules::Explore {
        seed: 3,
        first: 1,
        count: 1,
    };
    let (record, _) = explored(Expect::Pass, seeded, acts);
    assert_eq!(record.outcome, Outcome::Fail);
    assert_eq!(kinds(&record), [FindingKind::Race, FindingKind::Unwritten]);
    let shrunk = record.scheduled.and_then(|scheduled| scheduled.shrunk);
    let shrunk = shrunk.expect("it is simpler").schedule;
    assert_eq!(shrunk.switches, Some(13));
    assert_eq!(
        (shrunk.apart, shrunk.resident, shrunk.order),
        (false, None, None)
    );
}

#[test]
fn a_hang_is_survived_and_made_simpler() {
    let acts: fn(&Schedule) -> Act = |schedule| match schedule.apart {
        true => Act::Hangs,
        false => Act::Right,
    };
    let (record, _) = explored(Expect::Pass, of(1, 9), acts);
    assert_eq!(record.outcome, Outcome::Error);
    assert_eq!(reason(&record).kind, ReasonKind::Hang);
    let scheduled = record.scheduled.expect("it explores");
    assert_eq!(scheduled.ran, 3);
    let shrunk = scheduled.shrunk.expect("it is simpler").schedule;
    assert_eq!(shrunk.to_string(), "fair,apart");
}

#[test]
fn one_schedule_is_replayed_and_left_as_it_is() {
    let only: Schedule = "pct:7,reversed,resident=2".parse().expect("a schedule");
    let acts: fn(&Schedule) -> Act = |_| Act::LosesOne;
    let (record, seen) = explored(Expect::Pass, Schedules::Only(only), acts);
    assert_eq!(seen, [only]);
    let scheduled = record.scheduled.expect("one was asked for");
    assert_eq!((scheduled.schedule, scheduled.shrunk), (only, None));
    assert_eq!((scheduled.ran, scheduled.of, scheduled.seed), (1, 1, None));
}

#[test]
fn a_control_passes_if_one_schedule_shows_what_it_expects() {
    let acts: fn(&Schedule) -> Act = |schedule| match (schedule.policy, reversed(schedule)) {
        (Policy::Fair, _) => Act::Right,
        (_, true) => Act::LosesOne,
        (_, false) => Act::Races,
    };
    let (record, seen) = explored(fail(FindingKind::Unwritten), of(3, 20), acts);
    assert_eq!(record.outcome, Outcome::Pass, "{record:?}");
    assert_eq!(kinds(&record), [FindingKind::Unwritten]);
    let scheduled = record.scheduled.expect("it explores");
    assert_eq!(scheduled.schedule, Schedule::nth(3, first_reversed(3)));
    // All run: none may end in another way.
    assert_eq!(
        (scheduled.ran, seen.len(), scheduled.shrunk),
        (20, 20, None)
    );
}

#[test]
fn a_control_fails_if_no_schedule_shows_what_it_expects() {
    let (record, _) = explored(fail(FindingKind::Race), of(3, 4), |_| Act::Right);
    assert_eq!(record.outcome, Outcome::Fail);
    assert_eq!(record.findings[0].message, "expected race, found nothing");
    let acts: fn(&Schedule) -> Act = |schedule| match schedule.policy {
        Policy::Fair => Act::Right,
        _ => Act::LosesOne,
    };
    let (record, seen) = explored(fail(FindingKind::Race), of(3, 4), acts);
    assert_eq!(record.outcome, Outcome::Fail);
    let message = &record.findings[0].message;
    assert_eq!(message, "expected race, found unwritten");
    assert_eq!(seen.len(), 4);
}

#[test]
fn a_control_fails_if_some_schedule_ends_in_another_way() {
    let hangs: fn(&Schedule) -> Act = |schedule| match schedule.apart {
        true => Act::Hangs,
        false => Act::LosesOne,
    };
    let (record, _) = explored(fail(FindingKind::Unwritten), of(3, 4), hangs);
    assert_eq!(record.outcome, Outcome::Error);
    let kind = ReasonKind::Hang;
    let (record, _) = explored(Expect::Error { kind }, of(3, 4), hangs);
    assert_eq!(record.outcome, Outcome::Fail);
    let or_right: fn(&Schedule) -> Act = |schedule| match schedule.apart {
        true => Act::Hangs,
        false => Act::Right,
    };
    let (record, _) = explored(Expect::Error { kind }, of(3, 4), or_right);
    assert_eq!(record.outcome, Outcome::Pass, "{record:?}");
}

#[test]
fn a_card_refuses_schedules() {
    let suite = scheduled_suite(Expect::Pass);
    let mut executor = executor(Fake::new(DeviceKind::Cuda), &suite);
    let only = "random:7".parse().expect("a schedule");
    let record = executor.run_under(&suite.case("g"), only);
    assert_eq!(record.outcome, Outcome::Error);
    assert_eq!(reason(&record).kind, ReasonKind::Setup);
}

#[test]
fn a_run_under_a_schedule_leaves_no_trace_in_the_next() {
    let suite = scheduled_suite(Expect::Pass);
    let device = Fake::scheduled(|schedule| match schedule.policy {
        Policy::Fair => Act::Right,
        _ => Act::Hangs,
    });
    let mut executor = executor(device, &suite);
    let case = suite.case("g");
    let random = "random:7".parse().expect("a schedule");
    assert_eq!(executor.run_under(&case, random).outcome, Outcome::Error);
    assert_eq!(executor.run(&case).outcome, Outcome::Pass);
}

#[test]
fn what_is_told_is_every_run_and_the_failure_before_the_search() {
    let suite = scheduled_suite(Expect::Pass);
    let device = Fake::scheduled(|schedule| match schedule.apart {
        true => Act::LosesOne,
        false => Act::Right,
    });
    let seen = Rc::clone(&device.seen);
    let mut executor = executor(device, &suite);
    executor.set_schedules(of(1, 9));
    let mut told = Vec::new();
    let mut failed = Vec::new();
    let record = executor.run_telling(&suite.case("g"), &mut |progress| match progress {
        Progress::Begins(schedule) => told.push(schedule),
        Progress::Launches => panic!("no error is expected"),
        Progress::Failed(record) => failed.push((told.len(), record.clone())),
    });
    assert_eq!(told, *seen.borrow());
    let [(3, so_far)] = &failed[..] else {
        panic!("{failed:?}")
    };
    assert_eq!(so_far.findings, record.findings);
    assert!(record.scheduled.is_some_and(|s| s.shrunk.is_some()));
}

/// No schedule is at fault where a case cannot be set up under the fair one.
#[test]
fn a_refusal_names_a_schedule_only_where_it_depends_on_one() {
    let seeded = Schedules::Explore {
        seed: 3,
        first: 1,
        count: 1,
    };
    for schedules in [of(3, 30), seeded] {
        let (record, _) = explored(Expect::Pass, schedules, |_| Act::Refuses);
        assert_eq!(reason(&record).kind, ReasonKind::Setup);
        assert_eq!(record.scheduled, None);
    }
    let acts: fn(&Schedule) -> Act = |schedule| match reversed(schedule) {
        true => Act::Refuses,
        false => Act::Right,
    };
    let (record, _) = explored(Expect::Pass, of(3, 100), acts);
    let scheduled = record.scheduled.expect("it depends on one");
    assert_eq!(scheduled.schedule, Schedule::nth(3, first_reversed(3)));
}
