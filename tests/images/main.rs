//! Photos from uploaded files, and rejected files, all generated here.

mod colours;
mod kinds;
mod mutations;
mod refusals;
mod rests;
mod sizes;
mod support;
mod truncation;
mod upright;
