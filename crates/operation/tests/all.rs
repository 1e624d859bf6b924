//! All of them in one program: to link one for each file takes longer than to compile them.

mod all_along;
mod captures;
mod files;
mod held_back;
mod hostile;
mod layers;
mod rings;
mod unrecorded;
mod untaken;
mod works;
mod writers;
