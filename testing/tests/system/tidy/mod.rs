//! House rules that a compiler does not know, checked in every file of the repository. Each rule also has a test with
//! invented text that shows that the rule can fail. That text is assembled from fragments, so that this test does not
//! find itself.

mod circles;
mod comments;
mod docs;
mod features;
mod files;
mod folders;
mod layers;
mod names;
mod sizes;
mod supply;
mod words;
