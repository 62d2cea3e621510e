/*
 * Large blocks of recorded runs, each a mapping of its own: what is freed is the system's again at
 * once, where the C library would keep it, and keep it in pieces. So a first prediction, whose
 * allocations no plan knows yet, needs no more memory than what is alive in it.
 */
#define _GNU_SOURCE
#include "torch_run.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

/* From the size on that the C library maps as long as it has not learnt to keep such blocks. */
enum { LARGE_BYTES = 128 << 10, PAGE_MASK = 4095, LARGE_BUCKETS = 64 };

/* A large block in use. */

struct large {
    void *address;
    size_t bytes;
    struct large *next;
};

static pthread_mutex_t large_lock = PTHREAD_MUTEX_INITIALIZER;
static struct large *buckets[LARGE_BUCKETS]; /* guarded by large_lock */
static atomic_int count; /* of them; read without the lock, to free without it if there are none */

static struct large **bucket(const void *address) {
    uint64_t hash = ((uint64_t)(uintptr_t)address >> 12) * UINT64_C(0x9E3779B97F4A7C15);
    return &buckets[hash % LARGE_BUCKETS];
}

void *djlplan_large_allocate(size_t bytes) {
    if (bytes < LARGE_BYTES || bytes > SIZE_MAX / 2) return NULL;
    struct large *block = malloc(sizeof *block);
    if (block == NULL) return NULL;
    block->bytes = (bytes + PAGE_MASK) & ~(size_t)PAGE_MASK;
    block->address =
        mmap(NULL, block->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block->address == MAP_FAILED) {
        free(block);
        return NULL;
    }
    pthread_mutex_lock(&large_lock);
    struct large **head = bucket(block->address);
    block->next = *head;
    *head = block;
    atomic_fetch_add(&count, 1);
    pthread_mutex_unlock(&large_lock);
    return block->address;
}

bool djlplan_large_free(void *address) {
    if (((uintptr_t)address & PAGE_MASK) != 0 ||
        atomic_load_explicit(&count, memory_order_relaxed) == 0) {
        return false;
    }
    pthread_mutex_lock(&large_lock);
    struct large **link = bucket(address);
    while (*link != NULL && (*link)->address != address) link = &(*link)->next;
    struct large *found = *link;
    if (found != NULL) {
        *link = found->next;
        atomic_fetch_sub(&count, 1);
    }
    pthread_mutex_unlock(&large_lock);
    if (found == NULL) return false;
    munmap(found->address, found->bytes);
    free(found);
    return true;
}
