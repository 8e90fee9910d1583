//! Mutation of whole suites, small ones.
