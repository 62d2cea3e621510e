/*
 * Runs and plans of allocations. Shared by the files for libtorch (torch.c, the allocator;
 * torch_plan.c, torch_escapes.c, torch_run.c, torch_names.c, torch_shapes.c) and by ort.c, whose
 * runs for ONNX Runtime have no plan.
 */
#ifndef DJLPLAN_TORCH_RUN_H
#define DJLPLAN_TORCH_RUN_H

#include "arena.h"
#include "torch_abi.h"
#include "torch_weights.h"

#include <pthread.h>
#include <stdatomic.h>

/* Immutable except for its holders. */
struct djlplan_torch_plan {
    int holders; /* the caller and every run; guarded by the lock of all plans */
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
struct djlplan_torch_run {
    pthread_t thread;                      /* the thread that allocates; does not change */
    struct djlplan_arena *arena;           /* does not change */
    struct djlplan_torch_run *earlier;     /* the previous run of the same arena, or NULL */
    struct djlplan_torch_plan *plan;       /* NULL for none; does not change */
    struct djlplan_torch_escapes *escapes; /* NULL for none; does not change */
    bool logged;                           /* does not change */
    uint32_t id;                           /* marks its blocks; does not change */
    int next;                              /* number of the next allocation */
    bool diverged, paused;
    uint32_t structure; /* a hash of the order of allocations and frees so far */
    int64_t counters[DJLPLAN_COUNTERS];
    int64_t bytes; /* total size of its blocks in use */
    struct event *events; /* recorded allocations, `next` of them */
    int event_capacity;
    bool incomplete;
    int64_t clock, paused_at;
};

/* torch_run.c: frees a block of the engine's allocator or of an arena. Thread-safe. */
void djlplan_torch_free(void *block);

static inline torch_data_ptr djlplan_torch_block(void *address) {
    return (torch_data_ptr){address, djlplan_torch_free, address, TORCH_DEVICE_CPU, TORCH_NO_INDEX};
}

/*
 * torch_names.c: whether the operators of allocations are recorded; and a function that records
 * one.
 */
extern atomic_bool djlplan_names_kept;
void djlplan_names_note(size_t bytes, const void *block);

/*
 * torch_shapes.c: _find learns the layout of tensors by asking libtorch about a known tensor, while
 * operators are observed. _visit visits the tensors that an ending operator returns, if each has a
 * block of its own; without a successful _find, or if the function is NULL, it visits none.
 */
void djlplan_shapes_find(void);
void djlplan_shapes_visit(const void *function,
                          void (*visit)(const void *block, torch_sizes sizes));

/* torch_plan.c. Thread-safe. */
void djlplan_plan_hold(struct djlplan_torch_plan *plan);

/* torch_escapes.c: the structures after which an allocation escapes. Thread-safe. */
void djlplan_escapes_hold(struct djlplan_torch_escapes *escapes);
bool djlplan_escapes_has(const struct djlplan_torch_escapes *escapes, uint32_t structure);
void djlplan_escapes_add(struct djlplan_torch_escapes *escapes, uint32_t structure);
/*
 * Returns a place outside the predictions' arenas, and its block; NULL if the engine must allocate
 * it.
 */
char *djlplan_escapes_place(struct djlplan_torch_escapes *escapes, size_t bytes,
                            struct djlplan_block *block);

/* torch_run.c */
struct djlplan_torch_run *djlplan_run_begin(struct djlplan_torch_plan *plan, void *arena,
                                            struct djlplan_torch_escapes *escapes, int logged);
/* Returns the place of the next allocation, NULL if the engine must allocate it. */
void *djlplan_run_place(struct djlplan_torch_run *run, size_t bytes);
torch_data_ptr djlplan_run_allocate(struct djlplan_torch_run *run, size_t bytes);
/* Frees the block and returns true if it lies in an arena. Thread-safe. */
bool djlplan_run_free(void *block);
/* Returns true if no block of the run is in use. */
bool djlplan_run_pause(struct djlplan_torch_run *run);

#endif
