/*
 * Arenas, and whose a block is by its address alone.
 *
 *   address   47 … 34 | 33 … 21 | 20 … 0
 *             table   | entry   | in a chunk of 2 MiB
 *
 * An arena is a mapping of whole chunks, as many as it needs. No addresses are reserved in advance,
 * so that a process whose addresses are limited (RLIMIT_AS) keeps them for others.
 *
 * Entries are read without a lock: one changes only while its arena holds no block. Tables are made
 * when the first arena comes to lie there, and stay.
 */
#define _GNU_SOURCE
#include "arena.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHUNK ((size_t)2 << 20)
#define TABLES ((size_t)1 << 14)
#define ENTRIES ((size_t)1 << 13)
_Static_assert((TABLES * ENTRIES * CHUNK) == (size_t)1 << 48, "not all addresses have an entry");

/* The record of granules in use has one bit for each, so one word for a page of the usual size. */
#define GRANULE ((size_t)DJLPLAN_ALIGNMENT)
#define WORD_BITS ((size_t)64)
#define WORD_BYTES (WORD_BITS * GRANULE)

struct table {
    _Atomic(struct djlplan_arena *) owner[ENTRIES]; /* written under arenas_lock */
};

static pthread_mutex_t arenas_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct table *) tables[TABLES]; /* written under arenas_lock */

static size_t chunk_of(const void *address) { return (size_t)((uintptr_t)address / CHUNK); }

/* Makes the tables for a range of chunks. The caller holds arenas_lock. */
static bool ensure_tables(size_t first, size_t count) {
    if (first + count > TABLES * ENTRIES) return false;
    for (size_t i = first / ENTRIES; i <= (first + count - 1) / ENTRIES; i++) {
        if (tables[i] == NULL) tables[i] = calloc(1, sizeof(struct table));
        if (tables[i] == NULL) return false;
    }
    return true;
}

/* The caller holds arenas_lock. */
static void set_owner(size_t first, size_t count, struct djlplan_arena *arena) {
    for (size_t i = first; i < first + count; i++) {
        atomic_store(&atomic_load(&tables[i / ENTRIES])->owner[i % ENTRIES], arena);
    }
}

/* Maps whole chunks that cannot be touched yet: one more than needed, which is cut off again. */
static char *map_chunks(size_t count) {
    size_t bytes = count * CHUNK;
    char *mapped =
        mmap(NULL, bytes + CHUNK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return NULL;
    size_t before = (CHUNK - (uintptr_t)mapped % CHUNK) % CHUNK;
    if (before > 0) munmap(mapped, before);
    munmap(mapped + before + bytes, CHUNK - before);
    return mapped + before;
}

/* Gives an arena its memory. The caller holds arenas_lock. */
static bool take_over(struct djlplan_arena *arena, size_t bytes) {
    arena->bytes = bytes;
    arena->chunks = (bytes + CHUNK - 1) / CHUNK;
    arena->base = map_chunks(arena->chunks);
    if (arena->base == NULL) return false;
    size_t first = chunk_of(arena->base);
    if (!ensure_tables(first, arena->chunks) ||
        mprotect(arena->base, bytes, PROT_READ | PROT_WRITE) != 0) {
        munmap(arena->base, arena->chunks * CHUNK);
        return false;
    }
    set_owner(first, arena->chunks, arena);
    return true;
}

void *djlplan_arena_create(int64_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (bytes <= 0 || bytes > INT64_MAX - 2 * (int64_t)CHUNK) return NULL;
    struct djlplan_arena *arena = calloc(1, sizeof *arena);
    if (arena == NULL) return NULL;
    pthread_mutex_lock(&arenas_lock);
    bool taken = take_over(arena, ((size_t)bytes + page - 1) / page * page);
    pthread_mutex_unlock(&arenas_lock);
    if (!taken) {
        free(arena);
        return NULL;
    }
    return arena->base;
}

struct djlplan_arena *djlplan_arena_of(const void *address) {
    size_t chunk = chunk_of(address);
    if (chunk >= TABLES * ENTRIES) return NULL;
    struct table *table = atomic_load_explicit(&tables[chunk / ENTRIES], memory_order_acquire);
    return table == NULL
               ? NULL
               : atomic_load_explicit(&table->owner[chunk % ENTRIES], memory_order_acquire);
}

void djlplan_arena_free(void *address) {
    pthread_mutex_lock(&arenas_lock);
    struct djlplan_arena *arena = djlplan_arena_of(address);
    if (arena != NULL) {
        set_owner(chunk_of(arena->base), arena->chunks, NULL);
        munmap(arena->base, arena->chunks * CHUNK);
        free(arena->used);
        free(arena);
    }
    pthread_mutex_unlock(&arenas_lock);
}

/* A range of granules: first … last − 1. */
struct granules {
    size_t first, last;
};

static struct granules granules_of(struct place place) {
    return (struct granules){(size_t)place.offset / GRANULE,
                             ((size_t)(place.offset + place.bytes) + GRANULE - 1) / GRANULE};
}

/* The bits of one word that belong to the granules. */
static uint64_t mask(size_t word, struct granules range) {
    uint64_t bits = ~(uint64_t)0;
    if (word == range.first / WORD_BITS) bits &= ~(uint64_t)0 << (range.first % WORD_BITS);
    if (word == (range.last - 1) / WORD_BITS) {
        bits &= ~(uint64_t)0 >> (WORD_BITS - 1 - (range.last - 1) % WORD_BITS);
    }
    return bits;
}

bool djlplan_arena_claim(struct djlplan_arena *arena, struct place place) {
    if (arena->used == NULL) {
        arena->used = calloc(arena->bytes / WORD_BYTES + 1, sizeof *arena->used);
        if (arena->used == NULL) return false;
    }
    struct granules range = granules_of(place);
    size_t end = (range.last - 1) / WORD_BITS;
    for (size_t word = range.first / WORD_BITS; word <= end; word++) {
        if (arena->used[word] & mask(word, range)) return false;
    }
    for (size_t word = range.first / WORD_BITS; word <= end; word++) {
        arena->used[word] |= mask(word, range);
    }
    return true;
}

void djlplan_arena_release(struct djlplan_arena *arena, struct place place) {
    struct granules range = granules_of(place);
    size_t end = (range.last - 1) / WORD_BITS;
    for (size_t word = range.first / WORD_BITS; word <= end; word++) {
        arena->used[word] &= ~mask(word, range);
    }
}

void djlplan_arena_trim(struct djlplan_arena *arena) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t words = arena->bytes / WORD_BYTES;
    for (size_t word = 0; word < words; word++) {
        size_t first = word;
        while (word < words && arena->used[word] == 0) word++;
        /* Whole pages only, where they are larger than a word covers: the system rounds up. */
        size_t from = (first * WORD_BYTES + page - 1) / page * page;
        size_t to = word * WORD_BYTES / page * page;
        if (to > from) madvise(arena->base + from, to - from, MADV_DONTNEED);
    }
}
