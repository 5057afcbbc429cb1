//! Photos made of uploaded files, and files that are refused. The files are made here.

mod colours;
mod kinds;
mod mutations;
mod rests;
mod refusals;
mod sizes;
mod support;
mod truncation;
mod upright;
