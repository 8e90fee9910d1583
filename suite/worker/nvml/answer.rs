//! The process that asks NVML, and may hang or die of it.

use std::{io, process};

use super::super::protocol;
use super::super::serve::connect;
use super::{ARGUMENT, Answer, Question};
use crate::identity::{self, HealthWatch};

const UNWATCHED: &str = "no card is watched";

/// Whether this worker was started to ask NVML.
pub(in crate::worker) fn is_asked_for() -> bool {
    std::env::args_os()
        .nth(2)
        .is_some_and(|argument| argument == ARGUMENT)
}

/// The main function of a worker that asks NVML. Ends with the process, or with the one that started it.
pub(in crate::worker) fn answer() -> ! {
    let code = match answer_until_bye() {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("{error}");
            1
        }
    };
    process::exit(code)
}

fn answer_until_bye() -> io::Result<()> {
    let (questions, mut answers) = connect(Question::Bye)?;
    let mut watch = None;
    while let Ok(question) = questions.recv() {
        let Some(answer) = answer_to(question, &mut watch) else {
            break;
        };
        protocol::send(&mut answers, &answer)?;
    }
    Ok(())
}

/// None to a goodbye.
fn answer_to(question: Question, watch: &mut Option<HealthWatch>) -> Option<Answer> {
    Some(match question {
        Question::Identity { uuid } => Answer::Identity(identity::read(uuid.as_deref())),
        Question::Watch { uuid } => {
            let begun = watch.insert(HealthWatch::start(uuid.as_deref()));
            let unavailable = begun.unavailable().map(str::to_owned);
            Answer::Watching { unavailable }
        }
        Question::Read => Answer::Reading(match watch {
            Some(watch) => watch.read(),
            None => identity::unread(UNWATCHED),
        }),
        Question::Xid { wait_ms } => Answer::Xid(match watch {
            Some(watch) => watch.xid_events(wait_ms),
            None => Err(UNWATCHED.to_owned()),
        }),
        Question::Bye => return None,
    })
}
