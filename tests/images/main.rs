//! Photos made of uploaded files, and files that are refused. The files are made here.

mod colours;
mod foreign;
mod kinds;
mod mutations;
mod refusals;
mod sizes;
mod support;
mod tails;
mod truncation;
mod upright;
