/*
 * Runs of predictions, plans of their allocations, and allocations that outlive them. Shared by the
 * allocators of libtorch (torch.c) and of ONNX Runtime (ort.c), whose runs have no plan.
 */
#ifndef DJLPLAN_RUN_H
#define DJLPLAN_RUN_H

#include "arena.h"

#include <pthread.h>

/* Immutable except for its holders. */
struct djlplan_plan {
    atomic_int holders; /* the caller and every run */
    int count;
    struct place *allocations; /* offset −1: not in the run's arena */
    int64_t arena_bytes;
};

/* A recorded allocation. */
struct event {
    int64_t bytes;
    int64_t allocated;
    int64_t freed; /* −1: not freed yet, or at an unknown time */
};

/* The arena's lock guards all fields that are not marked as constant. */
struct djlplan_run {
    pthread_t thread;                /* the thread that allocates; does not change */
    struct djlplan_arena *arena;     /* does not change */
    struct djlplan_plan *plan;       /* NULL for none; does not change */
    struct djlplan_escapes *escapes; /* NULL for none; does not change */
    bool logged;                     /* does not change */
    uint32_t id;                     /* marks its blocks; does not change */
    int next;                        /* number of the next allocation */
    bool diverged, paused;
    uint32_t structure; /* a hash of the order of allocations and frees so far */
    int64_t counters[DJLPLAN_COUNTERS];
    int64_t bytes;         /* total size of its blocks in use */
    int64_t limit_bytes;   /* of what it needs */
    int64_t outside_bytes; /* total size of its allocations outside of the arena */
    int64_t needed_bytes;  /* what it needed most: up to the end of a block, and outside */
    bool refused; /* whether the last allocation exceeded the limit; only for the run's thread */
    struct event *events; /* recorded allocations, `next` of them */
    int event_capacity;
    bool incomplete;
    int64_t clock, paused_at;
};

/* escapes.c: the structures after which an allocation escapes. Thread-safe. */
void djlplan_escapes_hold(struct djlplan_escapes *escapes);
bool djlplan_escapes_has(const struct djlplan_escapes *escapes, uint32_t structure);
void djlplan_escapes_add(struct djlplan_escapes *escapes, uint32_t structure);
/* Leaves the escaping allocations after a structure to the engine, because they are a state. */
void djlplan_escapes_leave(struct djlplan_escapes *escapes, uint32_t structure);
/*
 * Returns a place outside the predictions' arenas for a block with a structure, and completes the
 * block; NULL if the engine must allocate it.
 */
char *djlplan_escapes_place(struct djlplan_escapes *escapes, size_t bytes,
                            struct djlplan_block *block);

/* run.c */
struct djlplan_run *djlplan_run_begin(struct djlplan_plan *plan, void *arena,
                                      struct djlplan_escapes *escapes, int logged);
/*
 * Returns the place of the next allocation; NULL if the engine must allocate it, or fail to, if the
 * run would exceed its limit (`refused`).
 */
void *djlplan_run_place(struct djlplan_run *run, size_t bytes);
/*
 * Frees the block and returns true if it lies in an arena. Thread-safe.
 *
 * A block that outlived its prediction and is freed during a later one is not an output but a state,
 * such as a cache that grows. `during` is the current run of this thread, or NULL.
 */
bool djlplan_run_free(void *block, const struct djlplan_run *during);
/* Returns true if no block of the run is in use. */
bool djlplan_run_pause(struct djlplan_run *run);

#endif
