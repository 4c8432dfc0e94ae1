// Two loops of one program, 1 kHz and 100 Hz, each in its own thread, recorded by
// `wakepath record -- ./two_loops`.
//
//     c++ -std=c++17 -O2 two_loops.cpp -lwakepath -pthread -o two_loops

#include <wakepath.hpp>

#include <cmath>
#include <iostream>
#include <thread>

using namespace std::chrono_literals;

namespace {

void attitude() {
    const std::string shortfalls = wakepath::prepare(wakepath::Other{-5});
    if (!shortfalls.empty()) {
        std::cerr << shortfalls << '\n';
    }
    double angle = 0.5;
    wakepath::Loop loop("attitude", 1ms);
    const auto update = loop.section("update", 50us);
    const auto limit = loop.section("limit");
    loop.run([&](const wakepath_cycle &) {
        auto timed = loop.timed(update);
        angle -= 0.01 * std::sin(angle);
        timed.next(limit);   // one ends as the other begins
        angle = std::fmin(std::fmax(angle, -1.0), 1.0);
    });
}

void position() {
    wakepath::prepare(wakepath::Other{});
    double metres = 3.0;
    wakepath::Loop("position", 10ms).run([&](const wakepath_cycle &) { metres *= 0.99; });
}

}  // namespace

int main() {
    try {
        std::thread slow(position);
        attitude();
        slow.join();
    } catch (const wakepath::Error &error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
