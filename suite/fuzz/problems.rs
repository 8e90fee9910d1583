//! What every loader owes to whoever wrote a text that it refuses.

use cuda_gates::spec::SpecErrors;

/// There are words, and places inside the text.
pub fn are_told(errors: &SpecErrors, data: &[u8]) {
    assert!(!errors.0.is_empty(), "nothing read, and no word why");
    let lines = String::from_utf8_lossy(data).lines().count().max(1);
    for problem in &errors.0 {
        assert!(!problem.message.is_empty());
        if let Some(place) = problem.place {
            let inside = (1..=lines).contains(&place.line) && place.column >= 1;
            assert!(inside, "{problem} of {lines} lines");
        }
    }
    assert!(!errors.render().is_empty());
}
