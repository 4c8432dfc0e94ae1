// wakepath.h for C++17: a type for each policy, so that a deadline loop can't carry a FIFO priority, and
// loops that give themselves up. Everything is inline; link libwakepath.

#ifndef WAKEPATH_HPP
#define WAKEPATH_HPP

#include "wakepath.h"

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace wakepath {

/// Something isn't available; the reason in one line.
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
/// On EVL, the core of Xenomai 4.
struct EvlFifo {
    std::uint8_t priority;
    Cpus cpus = {};
};
/// On Cobalt, the core of Xenomai 3.
struct CobaltFifo {
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
inline std::string prepare(const EvlFifo &how) {
    char said[1024] = "";
    return detail::shortfalls(
        wakepath_prepare_evl_fifo(how.priority, how.cpus.data(), how.cpus.size(), said, sizeof said), said);
}
inline std::string prepare(const CobaltFifo &how) {
    char said[1024] = "";
    return detail::shortfalls(
        wakepath_prepare_cobalt_fifo(how.priority, how.cpus.data(), how.cpus.size(), said, sizeof said), said);
}
inline std::string prepare(const Deadline &how) {
    char said[1024] = "";
    const auto ns = [](std::chrono::nanoseconds time) { return static_cast<std::uint64_t>(time.count()); };
    return detail::shortfalls(
        wakepath_prepare_deadline(ns(how.runtime), ns(how.deadline), ns(how.period), said, sizeof said), said);
}

/// A recorder beside this program, in the field: where it writes, and the options of `wakepath record --service`.
/// Empty ones, and 0, are left to it.
struct Service {
    std::string directory;
    std::string criterion = {};
    std::string keep = {};
    std::string metrics = {};
    std::uint16_t worst = 0;
    bool trace = false;
    bool trust_directory = false;
    std::string recorder = {};
    std::vector<std::string> more = {};
};

/// Starts it, first of all in main; true when it is there now, false where somebody records this program already. Throws
/// Error where nobody does; the loops run all the same.
inline bool record(const Service &service) {
    std::vector<std::string> words;
    const auto add = [&words](const char *option, const std::string &value) {
        if (!value.empty()) {
            words.insert(words.end(), {option, value});
        }
    };
    add("--criterion", service.criterion);
    add("--keep", service.keep);
    add("--metrics", service.metrics);
    add("--worst", service.worst == 0 ? std::string() : std::to_string(service.worst));
    add("--recorder", service.recorder);
    if (service.trace) {
        words.emplace_back("--trace");
    }
    if (service.trust_directory) {
        words.emplace_back("--trust-directory");
    }
    words.insert(words.end(), service.more.begin(), service.more.end());
    std::vector<const char *> options;
    for (const auto &word : words) {
        options.push_back(word.c_str());
    }
    char said[1024] = "";
    const auto answer =
        wakepath_record_service(service.directory.c_str(), options.data(), options.size(), said, sizeof said);
    if (answer < 0) {
        throw Error(said);
    }
    return answer == 0;
}

/// What a loop does when the work of a cycle runs into the next due time: goes on at the next one in the future, runs
/// the cycles one after the other until it has caught up, or ends. A driven loop has none: its clock says what is next.
enum class Overrun : std::uint32_t {
    Skip = WAKEPATH_OVERRUN_SKIP,
    CatchUp = WAKEPATH_OVERRUN_CATCH_UP,
    Stop = WAKEPATH_OVERRUN_STOP,
};

/// A periodic loop of the thread that makes it.
class Loop {
public:
    Loop(const std::string &name, std::chrono::nanoseconds period, Overrun overrun = Overrun::Skip) {
        char why[256] = "";
        loop_ = wakepath_loop_create_with(name.c_str(), static_cast<std::uint64_t>(period.count()),
                                          static_cast<std::uint32_t>(overrun), why, sizeof why);
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

    /// Waits for the next due time; none when the recording is over, or an overrun has stopped it.
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
        /// It ends and this one begins, at the same instant: one reading of the clock instead of two.
        void next(std::uint32_t section) {
            wakepath_section_switch(loop_, section_, section);
            section_ = section;
        }

    private:
        friend class Loop;
        Timed(wakepath_loop *loop, std::uint32_t section) : loop_(loop), section_(section) {
            wakepath_section_begin(loop_, section_);
        }
        wakepath_loop *loop_;
        std::uint32_t section_;
    };
    [[nodiscard]] Timed timed(std::uint32_t section) { return Timed(loop_, section); }
    /// A loop whose cycles somebody else's clock begins, each between begin() and finish().
    static Loop driven(const std::string &name, std::chrono::nanoseconds period) {
        char why[256] = "";
        const auto ns = static_cast<std::uint64_t>(period.count());
        wakepath_loop *const loop = wakepath_loop_create_driven(name.c_str(), ns, why, sizeof why);
        if (loop == nullptr) {
            throw Error(why);
        }
        return Loop(loop);
    }
    /// Begins a cycle of a driven loop that was due at this instant on CLOCK_MONOTONIC; without one its due time is
    /// estimated. None when the recording is over.
    std::optional<wakepath_cycle> begin(std::optional<std::chrono::nanoseconds> due = std::nullopt) {
        wakepath_cycle cycle{};
        const auto ns = due ? static_cast<std::uint64_t>(due->count()) : WAKEPATH_ESTIMATED;
        return wakepath_loop_begin(loop_, ns, &cycle) ? std::optional(cycle) : std::nullopt;
    }
    /// A line of the loop's log: loop.log("height {:.2f} of {}", height, "roll"). The format is a literal; see
    /// wakepath_log.
    template <std::size_t Bytes, typename... Arguments>
    void log(const char (&format)[Bytes], const Arguments &...arguments) {
        static_assert(sizeof...(Arguments) <= 8, "a line has 8 arguments at most");
        const std::uint64_t known = wakepath_log_format_braces(loop_, format, Bytes - 1);
        if (known == WAKEPATH_NO_FORMAT) {
            return;
        }
        std::uint64_t codes = 0;
        unsigned shift = 16;
        ((codes |= code<Arguments>() << shift, shift += 4), ...);
        const wakepath_argument copied[] = {argument(arguments)..., wakepath_argument{}};
        wakepath_log_arguments(loop_, known | codes, copied);
    }
    /// A value of this cycle; the name is a literal.
    template <std::size_t Bytes>
    void value(const char (&name)[Bytes], double value) {
        wakepath_value_named(loop_, name, Bytes - 1, value);
    }
    std::uint64_t skipped() const { return wakepath_loop_skipped(loop_); }
    bool is_recorded() const { return wakepath_loop_is_recorded(loop_); }

private:
    explicit Loop(wakepath_loop *loop) : loop_(loop) {}

    /// How an argument travels; see wakepath.h.
    template <typename Argument>
    static constexpr std::uint64_t code() {
        using Plain = std::decay_t<Argument>;
        if constexpr (std::is_floating_point_v<Plain>) {
            return 7;
        } else if constexpr (std::is_same_v<Plain, bool> || std::is_convertible_v<const Argument &, const char *> ||
                             std::is_same_v<Plain, std::string>) {
            return 8;
        } else if constexpr (std::is_pointer_v<Plain>) {
            return 9;
        } else {
            static_assert(std::is_integral_v<Plain> || std::is_enum_v<Plain>,
                          "a line takes numbers, texts and pointers");
            return std::is_unsigned_v<Plain> ? 6 : 5;
        }
    }
    template <typename Argument>
    static wakepath_argument argument(const Argument &from) {
        using Plain = std::decay_t<Argument>;
        wakepath_argument to{};
        if constexpr (std::is_floating_point_v<Plain>) {
            to.real = static_cast<double>(from);
        } else if constexpr (std::is_same_v<Plain, bool>) {
            to.text = from ? "true" : "false";
        } else if constexpr (std::is_convertible_v<const Argument &, const char *>) {
            to.text = from;
        } else if constexpr (std::is_same_v<Plain, std::string>) {
            to.text = from.c_str();
        } else if constexpr (std::is_pointer_v<Plain>) {
            to.natural = reinterpret_cast<std::uintptr_t>(from);
        } else if constexpr (std::is_unsigned_v<Plain>) {
            to.natural = from;
        } else {
            to.integer = static_cast<std::int64_t>(from);
        }
        return to;
    }

    wakepath_loop *loop_ = nullptr;
};

}  // namespace wakepath

#endif
