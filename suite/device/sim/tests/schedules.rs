//! What a schedule's text says, and which schedules an exploration takes.

use super::super::{BlockOrder, Policy, Schedule, ScheduleError};

#[test]
fn text_and_schedule_are_one() {
    for number in 0..64 {
        let schedule = Schedule::nth(1, number);
        assert_eq!(schedule.to_string().parse(), Ok(schedule));
    }
    let all: Schedule = "pct:7,reversed,resident=2,apart,switches=13"
        .parse()
        .expect("every part is known");
    let want = Schedule {
        policy: Policy::Pct { seed: 7 },
        order: Some(BlockOrder::Reversed),
        resident: Some(2),
        apart: true,
        switches: Some(13),
    };
    assert_eq!(all, want);
}

#[test]
fn what_is_no_schedule_names_its_part() {
    for (text, part) in [
        ("", ""),
        ("random", "random"),
        ("random:-1", "random:-1"),
        ("fair,resident=0", "resident=0"),
        ("fair,apart=1", "apart=1"),
        ("fair,apart=", "apart="),
        ("fair,,apart", ""),
        ("pct:1,switches=", "switches="),
        ("pct:1,switches=4294967296", "switches=4294967296"),
    ] {
        let error = text.parse::<Schedule>().expect_err(text);
        let part = part.to_owned();
        assert_eq!(error, ScheduleError::Unknown { part }, "{text}");
    }
    for (text, part, before) in [
        ("fair,forward,reversed", "reversed", "forward"),
        ("fair,switches=0,apart,apart", "apart", "apart"),
        ("pct:3,resident=1,resident=2", "resident=2", "resident=1"),
    ] {
        let error = text.parse::<Schedule>().expect_err(text).to_string();
        let words =
            format!("`{part}` comes after `{before}` in one schedule: leave one of them out");
        assert_eq!(error, words, "{text}");
    }
}

#[test]
fn an_exploration_starts_fair_and_repeats_nothing() {
    assert_eq!(Schedule::nth(5, 0), Schedule::default());
    let all: std::collections::HashSet<_> = (0..1000).map(|n| Schedule::nth(5, n)).collect();
    assert!(all.len() > 990, "{} differ", all.len());
    assert_ne!(Schedule::nth(5, 3), Schedule::nth(6, 3));
}
