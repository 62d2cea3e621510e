/*
 * Records which allocations outlive predictions, as hashes of the allocations and frees before
 * them, in a table that is read without a lock. It has room for the outputs of many structures. If
 * it is full, further outputs stay in arenas, which is correct but takes memory.
 *
 * Large escaping allocations get a separate arena. The C library would return the pages of such a
 * block to the system when it is freed, because no block of a prediction lies behind it. That is
 * right for a state that a model replaces in each prediction: if it grows, each one is larger than
 * the holes that earlier ones left in an arena. So the engine allocates it.
 */
#include "run.h"

#include <stdlib.h>

enum { ENTRIES = 1024, MOST = 512 };

/* The C library keeps smaller blocks for reuse. */
enum { MANY_BYTES = 64 << 10 };

struct djlplan_escapes {
    atomic_int holders;          /* the caller and every run */
    struct djlplan_arena *arena; /* NULL for none; does not change */
    pthread_mutex_t lock;
    int count;                        /* guarded by the lock */
    _Atomic(uint32_t) table[ENTRIES]; /* 0: free; written under the lock */
    atomic_bool left[ENTRIES];        /* whether the engine allocates what escapes */
};

static void keep(struct djlplan_arena *arena, int more) {
    if (arena == NULL) return;
    pthread_mutex_lock(&arena->lock);
    arena->keepers += more;
    djlplan_arena_leave(arena);
}

struct djlplan_escapes *djlplan_escapes_create(void *arena) {
    struct djlplan_escapes *escapes = calloc(1, sizeof *escapes);
    if (escapes == NULL) return NULL;
    atomic_store(&escapes->holders, 1);
    pthread_mutex_init(&escapes->lock, NULL);
    escapes->arena = djlplan_arena_of(arena);
    keep(escapes->arena, 1);
    return escapes;
}

void djlplan_escapes_delete(struct djlplan_escapes *escapes) {
    if (atomic_fetch_sub(&escapes->holders, 1) > 1) return;
    keep(escapes->arena, -1);
    pthread_mutex_destroy(&escapes->lock);
    free(escapes);
}

void djlplan_escapes_hold(struct djlplan_escapes *escapes) {
    atomic_fetch_add(&escapes->holders, 1);
}

/* Returns the index of a structure, or of the free entry where it would be stored. */
static int find(const struct djlplan_escapes *escapes, uint32_t structure) {
    int index = (int)(structure % ENTRIES);
    for (;;) {
        uint32_t there = atomic_load_explicit(&escapes->table[index], memory_order_relaxed);
        if (there == 0 || there == structure) return index;
        index = (index + 1) % ENTRIES;
    }
}

bool djlplan_escapes_has(const struct djlplan_escapes *escapes, uint32_t structure) {
    int index = find(escapes, structure);
    return atomic_load_explicit(&escapes->table[index], memory_order_relaxed) == structure;
}

void djlplan_escapes_add(struct djlplan_escapes *escapes, uint32_t structure) {
    pthread_mutex_lock(&escapes->lock);
    int index = find(escapes, structure);
    if (escapes->table[index] == 0 && escapes->count < MOST) {
        atomic_store(&escapes->table[index], structure);
        escapes->count++;
    }
    pthread_mutex_unlock(&escapes->lock);
}

void djlplan_escapes_leave(struct djlplan_escapes *escapes, uint32_t structure) {
    if (structure != 0 && djlplan_escapes_has(escapes, structure)) {
        atomic_store(&escapes->left[find(escapes, structure)], true);
    }
}

char *djlplan_escapes_place(struct djlplan_escapes *escapes, size_t bytes,
                            struct djlplan_block *block) {
    struct djlplan_arena *arena = escapes->arena;
    if (arena == NULL || bytes < MANY_BYTES || bytes > INT64_MAX / 2) return NULL;
    if (atomic_load(&escapes->left[find(escapes, block->structure)])) return NULL;
    pthread_mutex_lock(&arena->lock);
    bool fits = djlplan_arena_fit(arena, (int64_t)bytes, block);
    pthread_mutex_unlock(&arena->lock);
    return fits ? arena->base + block->offset : NULL;
}
