/* Arenas and places in them: what arena.c hands out, and where sessions and runs lay things. */
#ifndef DJLPLAN_ARENA_H
#define DJLPLAN_ARENA_H

#include "djlplan.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A range of an arena, in bytes. */
struct place {
    int64_t offset;
    int64_t bytes;
};

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

struct djlplan_arena {
    char *base;
    size_t bytes;   /* that can be touched: whole pages */
    size_t chunks;  /* of addresses */
    uint64_t *used; /* a bit for each granule, made by the first claim; guarded by the run's lock */
    _Atomic(struct djlplan_torch_run *) run; /* whose blocks these are, NULL for nobody's */
    struct djlplan_weights *weights; /* that lie here, NULL for none; set before a block does */
};

/* The arena that an address lies in, NULL for any other memory. Thread-safe. */
struct djlplan_arena *djlplan_arena_of(const void *address);
/* Takes a place, if all of it is free; gives it back. The caller holds the lock of the run. */
bool djlplan_arena_claim(struct djlplan_arena *arena, struct place place);
void djlplan_arena_release(struct djlplan_arena *arena, struct place place);
/* Gives pages without a block back to the system. The caller holds the lock of the run. */
void djlplan_arena_trim(struct djlplan_arena *arena);

#endif
