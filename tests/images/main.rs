//! Photos made of uploaded files, and files that are refused. The files are made here.

mod colours;
mod kinds;
mod mutations;
mod refusals;
mod rests;
mod sizes;
mod support;
mod truncation;
mod upright;
