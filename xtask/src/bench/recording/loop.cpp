// A loop of 1 kHz that logs a line with three numbers in each cycle, by the way that is named: what the call costs it,
// and how late it wakes. Arguments: WAY CYCLES RESULTS [LOG]. It prints nothing while the loop runs.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>
#include <wakepath.hpp>
#ifdef WITH_SPDLOG
#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#endif

#ifdef WITH_QUILL
#include <quill/Backend.h>
#include <quill/Frontend.h>
#include <quill/LogMacros.h>
#include <quill/Logger.h>
#include <quill/sinks/FileSink.h>
#endif

using namespace std::chrono_literals;

static std::uint64_t now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1000000000u + static_cast<std::uint64_t>(t.tv_nsec);
}

// The median, the 99.9th and the 99.99th percentile, the largest.
static void told(FILE *to, std::vector<std::uint64_t> &all) {
    std::sort(all.begin(), all.end());
    const auto at = [&](double share) { return all[static_cast<std::size_t>(static_cast<double>(all.size() - 1) * share)]; };
    std::fprintf(to, " %llu %llu %llu %llu", static_cast<unsigned long long>(at(0.5)),
                 static_cast<unsigned long long>(at(0.999)), static_cast<unsigned long long>(at(0.9999)), static_cast<unsigned long long>(all.back()));
}

int main(int count, char **arguments) {
    if (count < 4) return 64;
    const std::string way = arguments[1];
    const std::uint64_t cycles = std::strtoull(arguments[2], nullptr, 10);
    std::vector<std::uint64_t> calls, latencies;
    calls.reserve(cycles);
    latencies.reserve(cycles);
#ifdef WITH_SPDLOG
    std::shared_ptr<spdlog::async_logger> logger;
    if (way == "spdlog") {
        // One thread and the queue as it comes; a full one drops the oldest instead of stopping the loop.
        spdlog::init_thread_pool(8192, 1);
        auto file = std::make_shared<spdlog::sinks::basic_file_sink_mt>(arguments[4], true);
        logger = std::make_shared<spdlog::async_logger>("loop", file, spdlog::thread_pool(),
                                                        spdlog::async_overflow_policy::overrun_oldest);
        // Without it, what the disk refuses would go to standard error.
        logger->set_error_handler([](const std::string &) {});
        logger->flush_on(spdlog::level::err);
    }
#endif
#ifdef WITH_QUILL
    quill::Logger *quill_logger = nullptr;
    if (way == "quill") {
        // As it comes, but for what the disk refuses.
        quill::BackendOptions options;
        options.error_notifier = [](const std::string &) {};
        quill::Backend::start(options);
        quill::FileSinkConfig file;
        file.set_open_mode('w');
        auto sink = quill::Frontend::create_or_get_sink<quill::FileSink>(arguments[4], file, quill::FileEventNotifier{});
        quill_logger = quill::Frontend::create_or_get_logger("loop", std::move(sink));
        quill::Frontend::preallocate();
    }
#endif
    std::uint64_t clocks[1001];
    for (auto &instant : clocks) instant = now();
    for (int i = 0; i < 1000; i++) clocks[i] = clocks[i + 1] - clocks[i];
    std::nth_element(clocks, clocks + 500, clocks + 1000);
    const std::uint64_t clock = clocks[500];
    std::string fell_short;
    try {
        fell_short = wakepath::prepare(wakepath::Fifo{80, {}});
    } catch (const wakepath::Error &error) {
        fell_short = error.what();
    }
    wakepath::Loop loop("bench", 1ms);
    for (std::uint64_t done = 0; done < cycles; done++) {
        const auto cycle = loop.wait();
        if (!cycle) break;
        const std::uint64_t before = now();
        if (way == "wakepath") {
            loop.log("cycle {} at {} of {:.3f}", cycle->cycle, before, 0.5);
#ifdef WITH_SPDLOG
        } else if (way == "spdlog") {
            logger->info("cycle {} at {} of {:.3f}", cycle->cycle, before, 0.5);
#endif
#ifdef WITH_QUILL
        } else if (way == "quill") {
            LOG_INFO(quill_logger, "cycle {} at {} of {:.3f}", cycle->cycle, before, 0.5);
#endif
        }
        const std::uint64_t took = now() - before;
        calls.push_back(took - std::min(clock, took));
        latencies.push_back(cycle->wake_ns - cycle->due_ns);
        loop.finish();
    }
    if (FILE *to = std::fopen(arguments[3], "w")) {
        std::fprintf(to, "%zu %llu", calls.size(), static_cast<unsigned long long>(loop.skipped()));
        told(to, calls);
        told(to, latencies);
        std::fprintf(to, "\n%s\n", fell_short.c_str());
        std::fclose(to);
    }
    std::_Exit(0);   // a logger whose disk stands still would be waited for
}
