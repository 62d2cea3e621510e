/* Arenas and places in them: what arena.c hands out, and where sessions and runs lay things. */
#ifndef DJLPLAN_ARENA_H
#define DJLPLAN_ARENA_H

#include "djlplan.h"
#include "first_fit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A range of an arena, in bytes. */
struct place {
    int64_t offset;
    int64_t bytes;
};

/* Kernels that read past the end of a block read no further than this, in bytes. */
enum { DJLPLAN_SPARE_BYTES = 4096 };

static inline int64_t djlplan_align(int64_t bytes) {
    return (bytes + DJLPLAN_ALIGNMENT - 1) / DJLPLAN_ALIGNMENT * DJLPLAN_ALIGNMENT;
}

static inline bool djlplan_place_aligned(struct place place) {
    return place.offset >= 0 && place.offset % DJLPLAN_ALIGNMENT == 0;
}

/* Whether an aligned place ends within an arena of this size. */
static inline bool djlplan_place_within(struct place place, int64_t arena_bytes) {
    return place.bytes >= 0 && place.bytes <= arena_bytes &&
           place.offset <= arena_bytes - place.bytes;
}

struct djlplan_torch_run;
struct djlplan_weights;

/* What lies in an arena, and how far it reaches: guarded by its lock, but for what says otherwise. */
struct djlplan_arena {
    char *base;            /* does not change */
    size_t reserved_bytes; /* of addresses, whole chunks; does not change */
    size_t most_bytes;     /* that it may grow to; does not change */
    pthread_mutex_t lock;
    size_t bytes;         /* that can be touched: whole pages */
    size_t touched_bytes; /* up to where anything was since memory was given back */
    struct djlplan_blocks blocks;
    struct djlplan_torch_run *runs;  /* that place blocks here, the latest one first */
    bool given_up;                   /* it is freed with its last block and keeper */
    int keepers;                     /* who may still place blocks here without a run of its own */
    struct djlplan_weights *weights; /* that lie here, NULL for none; set before a block does */
};

/* The arena that an address lies in, NULL for any other memory. Thread-safe. */
struct djlplan_arena *djlplan_arena_of(const void *address);
/* Takes a place, if all of it is free and can be touched. The caller holds the arena's lock. */
bool djlplan_arena_claim(struct djlplan_arena *arena, struct djlplan_block block);
/*
 * Takes the lowest place with room for so many bytes, which it writes to the block; the arena grows
 * for it if it can. Returns false if there is no room. The caller holds the arena's lock.
 */
bool djlplan_arena_fit(struct djlplan_arena *arena, int64_t bytes, struct djlplan_block *block);
/* Makes it as large, if it can. The caller holds the arena's lock. */
bool djlplan_arena_ensure(struct djlplan_arena *arena, int64_t bytes);
/*
 * Gives the lock back. Frees the arena if it was given up, nobody keeps it, and no block is in use
 * any more; and says so.
 */
bool djlplan_arena_leave(struct djlplan_arena *arena);

#endif
