/*
 * Arenas in one reserved range of addresses.
 *
 *   region   |chunk 0|chunk 1|chunk 2|chunk 3| …        2 MiB each, PROT_NONE until used
 *   owner[]      A       A      NULL     B              A: an arena of up to 4 MiB
 *
 * owner[] is read without a lock: an entry changes only while its arena holds no block.
 */
#define _GNU_SOURCE
#include "arena.h"

#include "djlplan.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHUNK ((size_t)2 << 20)
#define MOST_CHUNKS 32768 /* 64 GiB of addresses, not of memory */
#define LEAST_CHUNKS 512

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(char *) region; /* NULL until reserved */
static size_t region_chunks;   /* set before region */
static _Atomic(struct djlplan_arena *) owner[MOST_CHUNKS];

/* Reserves the range at the first call; less of it where the address space is limited. */
static void reserve(void) {
    for (size_t chunks = MOST_CHUNKS; region == NULL && chunks >= LEAST_CHUNKS; chunks /= 2) {
        char *start = mmap(NULL, (chunks + 1) * CHUNK, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (start == MAP_FAILED) continue;
        region_chunks = chunks;
        region = (char *)(((uintptr_t)start + CHUNK - 1) & ~(uintptr_t)(CHUNK - 1));
    }
}

static size_t chunks_for(size_t bytes) { return (bytes + CHUNK - 1) / CHUNK; }

/* The first free range of `count` chunks, region_chunks if there is none. */
static size_t find_chunks(size_t count) {
    size_t run = 0;
    for (size_t i = 0; i < region_chunks; i++) {
        run = atomic_load(&owner[i]) == NULL ? run + 1 : 0;
        if (run == count) return i + 1 - count;
    }
    return region_chunks;
}

static void set_owner(size_t first, size_t count, struct djlplan_arena *arena) {
    for (size_t i = first; i < first + count; i++) atomic_store(&owner[i], arena);
}

/* The caller holds the lock. */
static void *create_in_region(size_t bytes, int huge_pages) {
    size_t count = chunks_for(bytes);
    size_t first = find_chunks(count);
    if (first == region_chunks) return NULL;
    struct djlplan_arena *arena = calloc(1, sizeof *arena);
    if (arena == NULL) return NULL;
    arena->base = region + first * CHUNK;
    arena->bytes = bytes;
    arena->chunks = count;
    if (mprotect(arena->base, bytes, PROT_READ | PROT_WRITE) != 0) {
        free(arena);
        return NULL;
    }
    if (huge_pages) madvise(arena->base, count * CHUNK, MADV_HUGEPAGE);
    set_owner(first, count, arena);
    return arena->base;
}

void *djlplan_arena_create(int64_t bytes, int huge_pages) {
    if (bytes <= 0) return NULL;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t rounded = ((size_t)bytes + page - 1) / page * page;
    pthread_mutex_lock(&lock);
    reserve();
    void *arena = region == NULL ? NULL : create_in_region(rounded, huge_pages);
    pthread_mutex_unlock(&lock);
    if (arena != NULL) return arena;
    arena = mmap(NULL, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return arena == MAP_FAILED ? NULL : arena;
}

struct djlplan_arena *djlplan_arena_of(const void *address) {
    uintptr_t start = (uintptr_t)atomic_load_explicit(&region, memory_order_acquire);
    uintptr_t distance = (uintptr_t)address - start; /* of a lower address: beyond any chunk */
    if (start == 0 || distance / CHUNK >= region_chunks) return NULL;
    return atomic_load_explicit(&owner[distance / CHUNK], memory_order_acquire);
}

void djlplan_arena_free(void *address, int64_t bytes) {
    if (address == NULL) return;
    pthread_mutex_lock(&lock);
    struct djlplan_arena *arena = djlplan_arena_of(address);
    if (arena == NULL) {
        munmap(address, (size_t)bytes);
    } else {
        set_owner((size_t)(arena->base - region) / CHUNK, arena->chunks, NULL);
        /* Mapped anew rather than unmapped: the range stays ours. */
        mmap(arena->base, arena->chunks * CHUNK, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
        free(arena->used);
        free(arena);
    }
    pthread_mutex_unlock(&lock);
}

/* The bits of one word that belong to the granules first … last − 1. */
static uint64_t mask(size_t word, size_t first, size_t last) {
    uint64_t bits = ~(uint64_t)0;
    if (word == first / 64) bits &= ~(uint64_t)0 << (first % 64);
    if (word == (last - 1) / 64) bits &= ~(uint64_t)0 >> (63 - (last - 1) % 64);
    return bits;
}

int djlplan_arena_claim(struct djlplan_arena *arena, size_t offset, size_t bytes) {
    if (arena->used == NULL) {
        arena->used = calloc(arena->bytes / DJLPLAN_WORD_BYTES + 1, sizeof *arena->used);
        if (arena->used == NULL) return 0;
    }
    size_t first = offset / DJLPLAN_GRANULE;
    size_t last = (offset + bytes + DJLPLAN_GRANULE - 1) / DJLPLAN_GRANULE;
    for (size_t word = first / 64; word <= (last - 1) / 64; word++) {
        if (arena->used[word] & mask(word, first, last)) return 0;
    }
    for (size_t word = first / 64; word <= (last - 1) / 64; word++) {
        arena->used[word] |= mask(word, first, last);
    }
    return 1;
}

void djlplan_arena_release(struct djlplan_arena *arena, size_t offset, size_t bytes) {
    size_t first = offset / DJLPLAN_GRANULE;
    size_t last = (offset + bytes + DJLPLAN_GRANULE - 1) / DJLPLAN_GRANULE;
    for (size_t word = first / 64; word <= (last - 1) / 64; word++) {
        arena->used[word] &= ~mask(word, first, last);
    }
}

void djlplan_arena_trim(struct djlplan_arena *arena) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t words = arena->bytes / DJLPLAN_WORD_BYTES;
    for (size_t word = 0; word < words; word++) {
        size_t first = word;
        while (word < words && arena->used[word] == 0) word++;
        /* Whole pages only, where they are larger than a word covers: the system rounds up. */
        size_t from = (first * DJLPLAN_WORD_BYTES + page - 1) / page * page;
        size_t to = word * DJLPLAN_WORD_BYTES / page * page;
        if (to > from) madvise(arena->base + from, to - from, MADV_DONTNEED);
    }
}
