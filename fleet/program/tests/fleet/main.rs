//! The program as users start it, on boards that are network namespaces with an sshd each.

mod archived;
mod boards;
mod booted;
mod bucket;
mod failing;
mod interrupted;
mod night;
mod places;
mod restricted;
mod scheduled;
mod served;
mod usage;
mod world;

wakepath_test_program::program![
    archived::TESTS,
    boards::TESTS,
    booted::TESTS,
    bucket::TESTS,
    failing::TESTS,
    interrupted::TESTS,
    night::TESTS,
    places::TESTS,
    restricted::TESTS,
    scheduled::TESTS,
    served::TESTS,
    usage::TESTS,
];
