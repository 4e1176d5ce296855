//! The command line itself: its help and errors, the settings, and completions.

mod completions;
mod config;
mod help;
