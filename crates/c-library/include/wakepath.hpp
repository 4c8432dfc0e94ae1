// wakepath.h for C++17: a type for each policy, so that a deadline loop can't carry a FIFO priority, and
// loops that give themselves up. Everything is inline; link libwakepath.

#ifndef WAKEPATH_HPP
#define WAKEPATH_HPP

#include "wakepath.h"

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace wakepath {

/// What can't be had, in one line.
class Error : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// CPUs of a thread; none: wherever it may run.
using Cpus = std::vector<std::uint16_t>;

struct Other {
    std::int8_t nice = 0;
    Cpus cpus = {};
};
struct Fifo {
    std::uint8_t priority;
    Cpus cpus = {};
};
struct RoundRobin {
    std::uint8_t priority;
    Cpus cpus = {};
};
/// Runs on its whole root domain: it has no CPUs.
struct Deadline {
    std::chrono::nanoseconds runtime;
    std::chrono::nanoseconds deadline;
    std::chrono::nanoseconds period;
};

namespace detail {
/// The shortfalls, one a line; throws where there was an error.
inline std::string shortfalls(std::int32_t answer, const char *said) {
    if (answer < 0) {
        throw Error(said);
    }
    return said;
}
}  // namespace detail

/// Prepares the calling thread: memory, CPUs, timer slack, policy last, each read back. Returns what a loop
/// can live with, one shortfall a line; throws Error when the policy or the CPUs can't be had.
inline std::string prepare(const Other &how) {
    char said[1024] = "";
    return detail::shortfalls(
        wakepath_prepare_other(how.nice, how.cpus.data(), how.cpus.size(), said, sizeof said), said);
}
inline std::string prepare(const Fifo &how) {
    char said[1024] = "";
    return detail::shortfalls(
        wakepath_prepare_fifo(how.priority, how.cpus.data(), how.cpus.size(), said, sizeof said), said);
}
inline std::string prepare(const RoundRobin &how) {
    char said[1024] = "";
    return detail::shortfalls(
        wakepath_prepare_rr(how.priority, how.cpus.data(), how.cpus.size(), said, sizeof said), said);
}
inline std::string prepare(const Deadline &how) {
    char said[1024] = "";
    const auto ns = [](std::chrono::nanoseconds time) { return static_cast<std::uint64_t>(time.count()); };
    return detail::shortfalls(
        wakepath_prepare_deadline(ns(how.runtime), ns(how.deadline), ns(how.period), said, sizeof said), said);
}

/// A periodic loop of the thread that makes it.
class Loop {
public:
    Loop(const std::string &name, std::chrono::nanoseconds period) {
        char why[256] = "";
        loop_ = wakepath_loop_create(name.c_str(), static_cast<std::uint64_t>(period.count()), why, sizeof why);
        if (loop_ == nullptr) {
            throw Error(why);
        }
    }
    ~Loop() { wakepath_loop_destroy(loop_); }
    Loop(const Loop &) = delete;
    Loop &operator=(const Loop &) = delete;
    Loop(Loop &&other) noexcept : loop_(std::exchange(other.loop_, nullptr)) {}
    Loop &operator=(Loop &&other) noexcept {
        std::swap(loop_, other.loop_);
        return *this;
    }

    /// Waits for the next due time; none when the recording is over.
    std::optional<wakepath_cycle> wait() {
        wakepath_cycle cycle{};
        return wakepath_loop_wait(loop_, &cycle) ? std::optional(cycle) : std::nullopt;
    }
    /// Ends the cycle.
    void finish() { wakepath_loop_finish(loop_); }
    /// Calls `step` with each cycle until the recording is over; for ever without a recorder.
    template <typename Step>
    void run(Step step) {
        while (const auto cycle = wait()) {
            step(*cycle);
            finish();
        }
    }
    /// A part of the cycle that is timed from now on; before the first cycle.
    std::uint32_t section(const std::string &name, std::chrono::nanoseconds budget = {}) {
        return wakepath_loop_section(loop_, name.c_str(), static_cast<std::uint64_t>(budget.count()));
    }
    /// Times a section for as long as it lives.
    class Timed {
    public:
        ~Timed() { wakepath_section_end(loop_, section_); }
        Timed(const Timed &) = delete;
        Timed &operator=(const Timed &) = delete;

    private:
        friend class Loop;
        Timed(wakepath_loop *loop, std::uint32_t section) : loop_(loop), section_(section) {
            wakepath_section_begin(loop_, section_);
        }
        wakepath_loop *loop_;
        std::uint32_t section_;
    };
    [[nodiscard]] Timed timed(std::uint32_t section) { return Timed(loop_, section); }
    std::uint64_t skipped() const { return wakepath_loop_skipped(loop_); }
    bool is_recorded() const { return wakepath_loop_is_recorded(loop_); }

private:
    wakepath_loop *loop_ = nullptr;
};

}  // namespace wakepath

#endif
