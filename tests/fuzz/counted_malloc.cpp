// Counts the memory that a process holds by malloc, and the most that it has held, whoever asked
// for it: Python, NumPy or C++. Preloaded (LD_PRELOAD) it takes the place of malloc; glibc, which
// alone has these names, does the work.

#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

extern "C" {

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* memory);

static std::atomic<int64_t> held{0};
static std::atomic<int64_t> most{0};

// Threads may ask at the same time.
static void* taken(void* memory) {
    if (memory == nullptr) return memory;
    const auto size = static_cast<int64_t>(malloc_usable_size(memory));
    const int64_t now = held.fetch_add(size, std::memory_order_relaxed) + size;
    int64_t before = most.load(std::memory_order_relaxed);
    while (now > before && !most.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
    }
    return memory;
}

static void given_back(size_t size) {
    held.fetch_sub(static_cast<int64_t>(size), std::memory_order_relaxed);
}

void* malloc(size_t size) { return taken(__libc_malloc(size)); }

void* calloc(size_t count, size_t size) { return taken(__libc_calloc(count, size)); }

void* realloc(void* memory, size_t size) {
    const size_t before = malloc_usable_size(memory);
    void* const found = __libc_realloc(memory, size);
    // Without success the old memory stays; of size 0, there is none in the end, as was asked for.
    if (found != nullptr || size == 0) given_back(before);
    return taken(found);
}

void free(void* memory) {
    given_back(malloc_usable_size(memory));
    __libc_free(memory);
}

void* memalign(size_t alignment, size_t size) { return taken(__libc_memalign(alignment, size)); }

void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void** memory, size_t alignment, size_t size) {
    if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
    void* const found = memalign(alignment, size);
    if (found == nullptr) return ENOMEM;
    *memory = found;
    return 0;
}

// Counts anew from what is held now.
int64_t counted_malloc_begin() {
    const int64_t now = held.load(std::memory_order_relaxed);
    most.store(now, std::memory_order_relaxed);
    return now;
}

int64_t counted_malloc_most() { return most.load(std::memory_order_relaxed); }
}
