//! House rules a compiler does not know, checked over every file of the repository. Each rule also proves on made-up text
//! that it can fail; forbidden text is put together from pieces there, so that this test does not find itself.

mod circles;
mod comments;
mod docs;
mod features;
mod files;
mod layers;
mod names;
mod sizes;
mod supply;
mod words;
