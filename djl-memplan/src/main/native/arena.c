/*
 * Arenas, and a table that maps the address of a block to its arena.
 *
 *   address   47 … 34 | 33 … 21 | 20 … 0
 *             table   | entry   | in a chunk of 2 MiB
 *
 * An arena is a mapping of whole chunks. An arena that may grow reserves addresses for its maximum
 * size, which are inaccessible until it grows; if addresses are limited (RLIMIT_AS) it reserves fewer.
 *
 * Entries are read without a lock, because an entry changes only while its chunk holds no block.
 * Tables are created when the first arena lies in their range, and stay.
 */
#define _GNU_SOURCE
#include "arena.h"

#include "pages.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHUNK ((size_t)2 << 20)
#define TABLES ((size_t)1 << 14)
#define ENTRIES ((size_t)1 << 13)
_Static_assert((TABLES * ENTRIES * CHUNK) == (size_t)1 << 48, "not all addresses have an entry");

/* The smallest step by which an arena grows, and the largest range that is returned at once. */
#define STEP ((size_t)256 << 10)
#define SLICE ((size_t)1 << 20)

/*
 * A growing arena leaves this much memory to the rest of the process, because the JVM dies without
 * memory.
 */
#define LEFT_TO_OTHERS ((size_t)16 << 20)

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

static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

/*
 * Maps whole chunks without access: one more than needed, for the alignment; then unmaps the rest.
 */
static char *map_chunks(size_t bytes) {
    char *mapped =
        mmap(NULL, bytes + CHUNK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return NULL;
    size_t before = (CHUNK - (uintptr_t)mapped % CHUNK) % CHUNK;
    if (before > 0) munmap(mapped, before);
    munmap(mapped + before + bytes, CHUNK - before);
    return mapped + before;
}

/* Reserves the wanted addresses; if addresses are limited, fewer, but at least the needed ones. */
static bool reserve(struct djlplan_arena *arena, size_t needed, size_t wanted) {
    for (;;) {
        arena->reserved_bytes = round_up(wanted, CHUNK);
        arena->base = map_chunks(arena->reserved_bytes);
        if (arena->base != NULL) return true;
        if (wanted <= needed) return false;
        wanted = wanted / 2 > needed ? wanted / 2 : needed;
    }
}

/*
 * Makes a range readable and writable. A growing arena may do so only if LEFT_TO_OTHERS more bytes
 * could be mapped.
 */
static bool allow(struct djlplan_arena *arena, size_t from, size_t to) {
    size_t behind = from == 0 ? 0 : arena->reserved_bytes - to;
    size_t others = behind < LEFT_TO_OTHERS ? behind : LEFT_TO_OTHERS;
    char *begin = arena->base + from, *end = arena->base + to;
    if (mprotect(begin, to - from + others, PROT_READ | PROT_WRITE) != 0) return false;
    return others == 0 || mprotect(end, others, PROT_NONE) == 0;
}

/* Makes the first bytes of an arena readable and writable. */
static bool grow(struct djlplan_arena *arena, size_t bytes) {
    if (bytes <= arena->bytes) return true;
    if (bytes > arena->most_bytes) return false;
    size_t first = chunk_of(arena->base) + (arena->bytes + CHUNK - 1) / CHUNK;
    size_t count = chunk_of(arena->base + bytes - 1) + 1 - first;
    pthread_mutex_lock(&arenas_lock);
    bool done = (count == 0 || ensure_tables(first, count)) && allow(arena, arena->bytes, bytes);
    if (done) {
        set_owner(first, count, arena);
        arena->bytes = bytes;
    }
    pthread_mutex_unlock(&arenas_lock);
    return done;
}

static void destroy(struct djlplan_arena *arena) {
    pthread_mutex_lock(&arenas_lock);
    set_owner(chunk_of(arena->base), (arena->bytes + CHUNK - 1) / CHUNK, NULL);
    munmap(arena->base, arena->reserved_bytes);
    pthread_mutex_unlock(&arenas_lock);
    djlplan_blocks_free(&arena->blocks);
    pthread_mutex_destroy(&arena->lock);
    free(arena);
}

void *djlplan_arena_create(int64_t bytes, int64_t most) {
    if (bytes <= 0 || bytes > INT64_MAX - 2 * (int64_t)CHUNK) return NULL;
    size_t needed = round_up((size_t)bytes, page_bytes());
    size_t wanted = most > bytes && most < INT64_MAX - 2 * (int64_t)CHUNK ? (size_t)most : needed;
    struct djlplan_arena *arena = calloc(1, sizeof *arena);
    if (arena == NULL) return NULL;
    if (!reserve(arena, needed, wanted)) {
        free(arena);
        return NULL;
    }
    arena->most_bytes = wanted > needed ? arena->reserved_bytes : needed;
    pthread_mutex_init(&arena->lock, NULL);
    if (!grow(arena, needed)) {
        destroy(arena);
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

bool djlplan_arena_ensure(struct djlplan_arena *arena, int64_t bytes) {
    return grow(arena, round_up((size_t)bytes, page_bytes()));
}

int64_t djlplan_arena_grow(void *address, int64_t bytes) {
    struct djlplan_arena *arena = djlplan_arena_of(address);
    if (arena == NULL || bytes < 0) return -1;
    pthread_mutex_lock(&arena->lock);
    int64_t grown = djlplan_arena_ensure(arena, bytes) ? (int64_t)arena->bytes : -1;
    pthread_mutex_unlock(&arena->lock);
    return grown;
}

void djlplan_arena_map(void *address, int64_t bytes) {
    struct djlplan_arena *arena = djlplan_arena_of(address);
    if (arena == NULL || bytes < 0) return;
    pthread_mutex_lock(&arena->lock);
    size_t from = round_up(arena->touched_bytes, page_bytes());
    size_t to = round_up((size_t)bytes, page_bytes());
    if (to > arena->bytes) to = arena->bytes;
    bool untouched = from < to;
    if (untouched) arena->touched_bytes = to;
    pthread_mutex_unlock(&arena->lock);
    if (untouched) djlplan_pages_map(arena->base + from, to - from);
}

int djlplan_arena_in_use(void *address) {
    struct djlplan_arena *arena = djlplan_arena_of(address);
    if (arena == NULL) return 0;
    pthread_mutex_lock(&arena->lock);
    int used = arena->blocks.count > 0;
    pthread_mutex_unlock(&arena->lock);
    return used;
}

bool djlplan_arena_claim(struct djlplan_arena *arena, struct djlplan_block block) {
    if (block.end > (int64_t)arena->bytes || !djlplan_blocks_add(&arena->blocks, block)) {
        return false;
    }
    if ((size_t)block.end > arena->touched_bytes) arena->touched_bytes = (size_t)block.end;
    return true;
}

bool djlplan_arena_fit(struct djlplan_arena *arena, int64_t bytes, struct djlplan_block *block) {
    if (bytes > (int64_t)arena->most_bytes) return false;
    block->offset = djlplan_blocks_find(&arena->blocks, djlplan_align(bytes));
    block->end = block->offset + djlplan_align(bytes);
    size_t needed = (size_t)block->end + DJLPLAN_SPARE_BYTES;
    if (needed > arena->bytes) {
        /*
         * Grows by a sixteenth more, because an arena that grows once will grow again, and
         * untouched pages take no memory.
         */
        size_t ample = round_up(needed + arena->bytes / 16, STEP);
        if (!grow(arena, ample < arena->most_bytes ? ample : arena->most_bytes) &&
            !grow(arena, round_up(needed, page_bytes())))
            return false;
    }
    return djlplan_arena_claim(arena, *block);
}

bool djlplan_arena_leave(struct djlplan_arena *arena) {
    bool last = arena->given_up && arena->keepers == 0 && arena->blocks.count == 0;
    pthread_mutex_unlock(&arena->lock);
    if (last) destroy(arena);
    return last;
}

/*
 * Occupies the highest free range of whole pages between two offsets, at most one slice, as a
 * block. The caller holds the lock.
 */
static bool claim_slice(struct djlplan_arena *arena, int64_t from, int64_t to,
                        struct djlplan_block *slice) {
    int64_t page = (int64_t)page_bytes();
    struct djlplan_block below;
    while (to > from) {
        bool any = djlplan_blocks_before(&arena->blocks, to, &below);
        int64_t floor = any && below.end > from ? below.end : from;
        int64_t end = to / page * page, begin = (floor + page - 1) / page * page;
        if (end > begin) {
            if (end - begin > (int64_t)SLICE) begin = end - (int64_t)SLICE;
            *slice = (struct djlplan_block){.offset = begin, .end = end};
            return djlplan_blocks_add(&arena->blocks, *slice);
        }
        to = any ? below.offset : from;
    }
    return false;
}

/*
 * Returns to the system the highest slice of pages without blocks between two offsets. The result
 * is the slice's offset, -1 if there is none. The caller holds the lock, which is released
 * meanwhile.
 */
static int64_t give_back(struct djlplan_arena *arena, int64_t keep, int64_t below) {
    struct djlplan_block slice, last;
    int64_t end = (int64_t)round_up(arena->touched_bytes, page_bytes());
    if (end > (int64_t)arena->bytes) end = (int64_t)arena->bytes;
    bool highest = end <= below;
    if (!highest) end = below;
    if (!claim_slice(arena, keep, end, &slice)) return -1;
    djlplan_blocks_before(&arena->blocks, INT64_MAX, &last);
    /* A block that is placed above meanwhile raises this again, even if it is freed at once. */
    if (highest && last.offset == slice.offset) arena->touched_bytes = (size_t)slice.offset;
    pthread_mutex_unlock(&arena->lock);
    madvise(arena->base + slice.offset, (size_t)(slice.end - slice.offset), MADV_DONTNEED);
    pthread_mutex_lock(&arena->lock);
    djlplan_blocks_remove(&arena->blocks, slice.offset, &slice);
    return slice.offset;
}

int64_t djlplan_arena_trim(void *address, int64_t keep, int64_t below) {
    struct djlplan_arena *arena = djlplan_arena_of(address);
    if (arena == NULL || keep < 0) return -1;
    pthread_mutex_lock(&arena->lock);
    int64_t slice = give_back(arena, keep, below);
    djlplan_arena_leave(arena);
    return slice;
}

void djlplan_arena_free(void *address) {
    struct djlplan_arena *arena = djlplan_arena_of(address);
    if (arena == NULL) return;
    pthread_mutex_lock(&arena->lock);
    arena->given_up = true;
    arena->run = NULL;
    int64_t below = INT64_MAX;
    while (below >= 0 && arena->blocks.count > 0) below = give_back(arena, 0, below);
    djlplan_arena_leave(arena);
}
