//! How a run ends: its skips, its rules, its report and its verdict.

use std::collections::{BTreeMap, HashSet};
use std::sync::PoisonError;
use std::time::Duration;

use super::{Begun, Ended, Session, milliseconds, uuid_of};
use crate::archive;
use crate::expr::Engine;
use crate::identity::Field;
use crate::report::record::{CaseRecord, RunProblem, RunRecord};
use crate::report::{Facts, tables};
use crate::runner::rules::{self, Whole};
use crate::runner::tables::Columns;
use crate::runner::verdict::Verdict;
use crate::runner::waiving;

/// Of a card, by their names.
type Fields = BTreeMap<String, Field>;

impl Session {
    /// Ends the workers, reads the device's identity again, writes the report and gives the verdict.
    pub(in crate::runner) fn finish(&self) -> Ended {
        let work = self.parts.pool.work();
        let wrong = self.parts.pool.close();
        let skipped: Vec<CaseRecord> = self
            .parts
            .cases
            .iter()
            .filter(|planned| !self.done.contains(&planned.case.id))
            .filter_map(|planned| Some(self.skip(&planned.case, planned.decided.as_ref()?)))
            .collect();
        match self.begun.get() {
            None => Ended {
                report: None,
                folder: None,
                verdict: Verdict::Nothing,
                trouble: None,
            },
            Some(Err((verdict, reason))) => Ended {
                report: None,
                folder: None,
                verdict: *verdict,
                trouble: Some(reason.message.clone()),
            },
            Some(Ok(begun)) => self.conclude(begun, skipped, work, wrong),
        }
    }

    /// `wrong`: with workers that were at no case.
    fn conclude(
        &self,
        begun: &Begun,
        skipped: Vec<CaseRecord>,
        work: Duration,
        wrong: Vec<String>,
    ) -> Ended {
        let Begun { recorder, .. } = begun;
        for record in skipped {
            recorder.record(record);
        }
        let (mut records, mut trouble) = recorder.take();
        let place = |id: &str| self.parts.cases.iter().position(|p| p.case.id == id);
        records.sort_by_cached_key(|record| place(&record.id));
        let folder = Some(recorder.path().to_owned());
        if self.parts.joined.is_some() {
            // With the report that others write it would be lost.
            trouble = trouble.or_else(|| wrong.first().cloned());
        }
        let verdict = match Verdict::of(&records) {
            Verdict::Passed if trouble.is_some() => Verdict::Failed,
            verdict => verdict,
        };
        if self.parts.joined.is_some() {
            return Ended {
                report: None,
                folder,
                verdict,
                trouble,
            };
        }
        let mut facts = self.finished(begun, work, &records);
        facts.run.problems.extend(rules::driver(wrong));
        let verdict = verdict.held_to(&facts.run.problems);
        let tables = tables::evaluate(&self.parts.suites, &records, &Columns(Engine::new()));
        let (report, written) = recorder.finish(facts.into_report(records, tables));
        if let Err(error) = written {
            trouble.get_or_insert(error.to_string());
        }
        Ended {
            verdict: match verdict {
                Verdict::Passed if trouble.is_some() => Verdict::Failed,
                verdict => verdict,
            },
            report: Some(report),
            folder,
            trouble,
        }
    }

    /// Holds a whole run to its rules; of a filtered one the waivers that waived are told, and what became of the card.
    /// Every run has one result of each of its cases.
    /// `then` and `now`: the card's identity at the run's start and at its end.
    fn rules(&self, facts: &mut Facts, (then, now): (&Fields, &Fields), records: &[CaseRecord]) {
        let parts = &self.parts;
        let whole = Whole {
            suites: &parts.suites,
            waivers: &parts.waivers,
            cases: &parts.cases,
            records,
            kind: parts.chosen.kind(),
            device: waiving::on(&facts.device),
            today: waiving::day(&facts.run.started),
        };
        let mut waivers = whole.waivers();
        let mut problems: Vec<RunProblem> = rules::results(&self.differing).collect();
        problems.extend(self.incomplete(&facts.run, records));
        match facts.run.complete && !parts.filtered {
            true => problems.extend(whole.problems(&waivers)),
            false => waivers.retain(|waiver| waiver.waived > 0),
        }
        // A machine that changes or breaks does so whatever was selected.
        problems.extend(rules::identity(then, now));
        problems.extend(rules::health(records, &facts.device.after));
        (facts.run.waivers, facts.run.problems) = (waivers, problems);
    }

    /// Selected cases that have no result.
    fn missing(&self, records: &[CaseRecord]) -> Vec<&str> {
        let there: HashSet<&str> = records.iter().map(|record| record.id.as_str()).collect();
        let selected = self.parts.cases.iter().map(|p| p.case.id.as_str());
        selected.filter(|id| !there.contains(id)).collect()
    }

    fn incomplete(&self, run: &RunRecord, records: &[CaseRecord]) -> Option<RunProblem> {
        let mend = match run.choices {
            Some(_) => format!("`cuda-gates run --resume {}` runs them", run.id),
            None => "run them again".to_owned(),
        };
        rules::without_result(&self.missing(records), &mend)
    }

    fn finished(&self, begun: &Begun, work: Duration, records: &[CaseRecord]) -> Facts {
        let mut facts = begun.facts.clone();
        let mut health = begun.health.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = health
            .take()
            .map(|monitor| monitor.finish(uuid_of(&facts.device)));
        let mut now = Fields::new();
        if let Some((identity, watched)) = ended {
            facts.device.after = identity.live;
            facts.device.after.extend(watched);
            now = identity.fields;
        }
        facts.run.id = begun.recorder.id().to_owned();
        facts.run.finished = Some(archive::now());
        facts.run.complete = self.missing(records).is_empty();
        // As they are written: of a run that was resumed the first is known in no other way.
        let then = begun.recorder.shown(&facts, facts.device.identity.clone());
        let now = begun.recorder.shown(&facts, now);
        self.rules(&mut facts, (&then, &now), records);
        facts.run.work_ms = milliseconds(work);
        facts.run.wall_ms = milliseconds(self.clock.elapsed());
        facts
    }
}
