/* Arenas: what arena.c hands out and replay.c places blocks in. */
#ifndef DJLPLAN_ARENA_H
#define DJLPLAN_ARENA_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Blocks start at multiples of this and are accounted for in units of it. */
#define DJLPLAN_GRANULE 64
/* One bit per granule: what a word of 64 bits covers, a page of the usual size. */
#define DJLPLAN_WORD_BYTES (64 * DJLPLAN_GRANULE)

struct djlplan_torch_run;

struct djlplan_arena {
    char *base;
    size_t bytes;
    size_t chunks;
    uint64_t *used;                          /* the granules in use; made by the first replay */
    _Atomic(struct djlplan_torch_run *) run; /* whose blocks these are */
};

/* The arena that an address lies in, NULL for any other memory. */
struct djlplan_arena *djlplan_arena_of(const void *address);
/* Takes a range, if all of it is free; gives it back. Not thread-safe. */
int djlplan_arena_claim(struct djlplan_arena *arena, size_t offset, size_t bytes);
void djlplan_arena_release(struct djlplan_arena *arena, size_t offset, size_t bytes);
/* Gives the pages that no block lies in back to the system. */
void djlplan_arena_trim(struct djlplan_arena *arena);

#endif
