/* Arenas and places in them, shared by arena.c, sessions and runs. */
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

/* Kernels read at most this many bytes past the end of a block. */
enum { DJLPLAN_SPARE_BYTES = 4096 };

static inline int64_t djlplan_align(int64_t bytes) {
    return (bytes + DJLPLAN_ALIGNMENT - 1) / DJLPLAN_ALIGNMENT * DJLPLAN_ALIGNMENT;
}

static inline bool djlplan_place_aligned(struct place place) {
    return place.offset >= 0 && place.offset % DJLPLAN_ALIGNMENT == 0;
}

/* Returns whether an aligned place ends within an arena of this size. */
static inline bool djlplan_place_within(struct place place, int64_t arena_bytes) {
    return place.bytes >= 0 && place.bytes <= arena_bytes &&
           place.offset <= arena_bytes - place.bytes;
}

struct djlplan_run;
struct djlplan_weights;

/* The content and size of an arena. Its lock guards all fields that are not marked otherwise. */
struct djlplan_arena {
    char *base;            /* does not change */
    size_t reserved_bytes; /* reserved addresses, in whole chunks; does not change */
    size_t most_bytes;     /* the size to which it may grow; does not change */
    pthread_mutex_t lock;
    size_t bytes;         /* accessible, in whole pages */
    size_t touched_bytes; /* end of what was used or mapped since memory was last returned */
    struct djlplan_blocks blocks;
    struct djlplan_run *run; /* the run that uses it now, or NULL */
    bool given_up;           /* it is freed when its last block and keeper are gone */
    int keepers;             /* callers that may place blocks here without a run */
    struct djlplan_weights
        *weights; /* weights in this arena, or NULL; set before the first block */
};

/* Returns the arena that contains an address, NULL for other memory. Thread-safe. */
struct djlplan_arena *djlplan_arena_of(const void *address);
/* Occupies a place if it is free and accessible. The caller holds the arena's lock. */
bool djlplan_arena_claim(struct djlplan_arena *arena, struct djlplan_block block);
/*
 * Occupies the lowest free place of this size, growing the arena if necessary and possible, and
 * writes it to the block. Returns false if there is no room. The caller holds the arena's lock.
 */
bool djlplan_arena_fit(struct djlplan_arena *arena, int64_t bytes, struct djlplan_block *block);
/* Grows the arena to this size if possible. The caller holds the arena's lock. */
bool djlplan_arena_ensure(struct djlplan_arena *arena, int64_t bytes);
/*
 * Releases the lock. Frees the arena, and returns true, if it was given up and has no keepers and
 * no blocks.
 */
bool djlplan_arena_leave(struct djlplan_arena *arena);

#endif
