// SPDX-License-Identifier: BSD-3-Clause
// Threads for the short tasks inside one call of a solver: some ten microseconds each, again and
// again. They wait for the next round by spinning, since to be woken up takes longer than a task;
// after a while they sleep all the same, and where there are fewer cores than threads they yield.
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

class Team {
  public:
    // The calling thread is one of them.
    explicit Team(int n_threads) {
        for (int i = 1; i < n_threads; ++i) threads_.emplace_back([this] { serve(); });
    }
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;
    ~Team() {
        task_ = nullptr;
        begin_round();
        for (std::thread& thread : threads_) thread.join();
    }

    // Runs task(0), ..., task(count - 1), in any order and in all threads.
    void run(std::int32_t count, const std::function<void(std::int32_t)>& task) {
        if (threads_.empty() || count < 2) {
            for (std::int32_t i = 0; i < count; ++i) task(i);
            return;
        }
        task_ = &task;
        count_ = count;
        next_.store(0, std::memory_order_relaxed);
        busy_.store(static_cast<int>(threads_.size()), std::memory_order_relaxed);
        begin_round();
        work();
        while (busy_.load(std::memory_order_acquire) > 0) pause();
        if (const std::exception_ptr error = std::exchange(error_, nullptr))
            std::rethrow_exception(error);
    }

  private:
    static constexpr int spins_before_yield = 4000, yields_before_sleep = 200;

    static void pause() {
#if defined(__x86_64__) && defined(__GNUC__)
        __builtin_ia32_pause();
#endif
    }

    void begin_round() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            round_.fetch_add(1, std::memory_order_release);
        }
        if (!threads_.empty()) wake_.notify_all();
    }

    void wait_for_round_after(std::uint32_t seen) {
        for (int i = 0; i < spins_before_yield; ++i, pause())
            if (round_.load(std::memory_order_acquire) != seen) return;
        for (int i = 0; i < yields_before_sleep; ++i, std::this_thread::yield())
            if (round_.load(std::memory_order_acquire) != seen) return;
        std::unique_lock<std::mutex> lock(mutex_);
        wake_.wait(lock, [&] { return round_.load(std::memory_order_acquire) != seen; });
    }

    void serve() {
        for (std::uint32_t seen = 0;; ++seen) {
            wait_for_round_after(seen);
            if (!task_) return;
            work();
            busy_.fetch_sub(1, std::memory_order_release);
        }
    }

    void work() {
        try {
            for (std::int32_t i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < count_;)
                (*task_)(i);
        } catch (...) {
            const std::lock_guard<std::mutex> lock(mutex_);
            error_ = std::current_exception();
        }
    }

    std::vector<std::thread> threads_;
    std::atomic<std::uint32_t> round_{0};
    std::atomic<std::int32_t> next_{0};
    std::atomic<int> busy_{0};
    std::int32_t count_ = 0;
    const std::function<void(std::int32_t)>* task_ = nullptr;
    std::exception_ptr error_;
    std::mutex mutex_;
    std::condition_variable wake_;
};

}  // namespace budgetsvm
