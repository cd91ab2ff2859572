// SPDX-License-Identifier: BSD-3-Clause
// Threads for the short tasks inside one call of a solver: some ten microseconds each, again and
// again. They wait for the next round by spinning, since to be woken up takes as long as a task;
// soon they yield, and then sleep. The caller works, too, and waits for nobody who has not begun a
// task: where there are fewer free cores than threads it does all by itself.
//
// The team lives as long as the call: nothing is left running that a fork() of the process would
// lose, and starting it costs a small part of a call.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace budgetsvm {

class ThreadTeam {
  public:
    // Task i of a round is task(i); the calling thread is one of the team.
    ThreadTeam(int n_threads, std::function<void(std::int32_t)> task) : task_(std::move(task)) {
        for (int i = 1; i < n_threads; ++i) threads_.emplace_back([this] { serve(); });
    }
    ThreadTeam(const ThreadTeam&) = delete;
    ThreadTeam& operator=(const ThreadTeam&) = delete;
    ~ThreadTeam() {
        stop_.store(true);
        wake();
        for (std::thread& thread : threads_) thread.join();
    }

    // Runs tasks 0, ..., count - 1, in any order and in all threads.
    void run(std::int32_t count) {
        if (threads_.empty() || count < 2) {
            for (std::int32_t i = 0; i < count; ++i) task_(i);
            return;
        }
        done_.store(0);
        ++round_;
        open_.store(Ticket{round_, static_cast<std::uint16_t>(count), 0}.packed());
        if (sleepers_.load() > 0) wake();
        while (work()) {
        }
        for (int spins = 0; done_.load() < count; ++spins) pause(spins);
        if (const std::exception_ptr error = std::exchange(error_, nullptr))
            std::rethrow_exception(error);
    }

  private:
    static constexpr int most_spins = 1000, most_yields = 50;

    // The tasks of a round that nobody has taken yet: next, ..., count - 1. In one word, so that to
    // take one and to see that its round is not over is one step.
    struct Ticket {
        std::uint32_t round;
        std::uint16_t count, next;

        static Ticket of(std::uint64_t word) {
            return {static_cast<std::uint32_t>(word >> 32), static_cast<std::uint16_t>(word >> 16),
                    static_cast<std::uint16_t>(word)};
        }
        std::uint64_t packed() const {
            return static_cast<std::uint64_t>(round) << 32 |
                   static_cast<std::uint64_t>(count) << 16 | next;
        }
        bool left() const { return next < count; }
    };

    static void pause(int spins) {
        if (spins > most_spins) return std::this_thread::yield();
#if defined(__x86_64__) && defined(__GNUC__)
        __builtin_ia32_pause();
#endif
    }

    // Take a task and do it. Returns false if there is none.
    bool work() {
        std::uint64_t word = open_.load();
        Ticket ticket;
        do {
            ticket = Ticket::of(word);
            if (!ticket.left()) return false;
        } while (!open_.compare_exchange_weak(word, word + 1));
        try {
            task_(ticket.next);
        } catch (...) {
            const std::lock_guard<std::mutex> lock(mutex_);
            error_ = std::current_exception();
        }
        done_.fetch_add(1);
        return true;
    }

    bool called() const { return stop_.load() || Ticket::of(open_.load()).left(); }

    void serve() {
        while (!stop_.load()) {
            if (work()) continue;
            for (int i = 0; i < most_spins + most_yields && !called(); ++i) pause(i);
            if (!called()) sleep();
        }
    }

    void sleep() {
        std::unique_lock<std::mutex> lock(mutex_);
        sleepers_.fetch_add(1);
        wake_.wait(lock, [this] { return called(); });
        sleepers_.fetch_sub(1);
    }

    void wake() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
        }  // nobody is between check and sleep
        wake_.notify_all();
    }

    const std::function<void(std::int32_t)> task_;
    std::atomic<std::uint64_t> open_{0};
    std::atomic<std::int32_t> done_{0};
    std::atomic<int> sleepers_{0};
    std::atomic<bool> stop_{false};
    std::uint32_t round_ = 0;
    std::exception_ptr error_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::vector<std::thread> threads_;  // last: they use the others
};

}  // namespace budgetsvm
