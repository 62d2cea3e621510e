/*
 * Runs and plans of libtorch's allocations: what torch.c (the allocator), torch_plan.c,
 * torch_escapes.c, torch_run.c, torch_names.c and torch_shapes.c share; and runs without plans of
 * ONNX Runtime (ort.c).
 */
#ifndef DJLPLAN_TORCH_RUN_H
#define DJLPLAN_TORCH_RUN_H

#include "arena.h"
#include "torch_abi.h"
#include "torch_weights.h"

#include <pthread.h>
#include <stdatomic.h>

/* Does not change, but for its holders. */
struct djlplan_torch_plan {
    int holders; /* the caller and every run; guarded by the lock of all plans */
    int count;
    struct place *allocations; /* offset −1: not in the run's arena */
    int64_t arena_bytes;
};

/* One allocation that is noted. */
struct event {
    int64_t bytes;
    int64_t allocated;
    int64_t freed; /* −1: not yet, or nobody knows when */
};

/* Guarded by the lock of its arena, but for what does not change. */
struct djlplan_torch_run {
    pthread_t thread;                      /* whose allocations these are; does not change */
    struct djlplan_arena *arena;           /* does not change */
    struct djlplan_torch_run *earlier;     /* of the same arena, NULL for none */
    struct djlplan_torch_plan *plan;       /* NULL for none; does not change */
    struct djlplan_torch_escapes *escapes; /* NULL for none; does not change */
    bool logged;                           /* does not change */
    uint32_t id;                           /* of its blocks; does not change */
    int next;                              /* number of the next allocation */
    bool diverged, paused;
    uint32_t structure; /* a hash of the order of allocations and frees until now */
    int64_t counters[DJLPLAN_COUNTERS];
    int64_t bytes; /* of its blocks in use */
    struct event *events; /* of a run that is logged, as many as `next` */
    int event_capacity;
    bool incomplete;
    int64_t clock, paused_at;
};

/* torch_run.c: frees a block of the engine's allocator or of ours. Thread-safe. */
void djlplan_torch_free(void *block);

static inline torch_data_ptr djlplan_torch_block(void *address) {
    return (torch_data_ptr){address, djlplan_torch_free, address, TORCH_DEVICE_CPU, TORCH_NO_INDEX};
}

/* torch_names.c: whether allocations are noted with their operators, and notes one. */
extern atomic_bool djlplan_names_kept;
void djlplan_names_note(size_t bytes, const void *block);

/*
 * torch_shapes.c: asks libtorch, whose operators are observed already, about a tensor that is known.
 * Without that no tensor is visited; visits those with a block of their own that an operator, which
 * ends, returns. No tensor is visited if the function is NULL.
 */
void djlplan_shapes_find(void);
void djlplan_shapes_visit(const void *function,
                          void (*visit)(const void *block, torch_sizes sizes));

/* torch_plan.c. Thread-safe. */
void djlplan_plan_hold(struct djlplan_torch_plan *plan);

/* torch_escapes.c: allocations by the structure that they come after. Thread-safe. */
void djlplan_escapes_hold(struct djlplan_torch_escapes *escapes);
bool djlplan_escapes_has(const struct djlplan_torch_escapes *escapes, uint32_t structure);
void djlplan_escapes_add(struct djlplan_torch_escapes *escapes, uint32_t structure);
/* A place that no prediction takes, and the block there; NULL if the engine is to serve it. */
char *djlplan_escapes_place(struct djlplan_torch_escapes *escapes, size_t bytes,
                            struct djlplan_block *block);

/* torch_run.c */
struct djlplan_torch_run *djlplan_run_begin(struct djlplan_torch_plan *plan, void *arena,
                                            struct djlplan_torch_escapes *escapes, int logged);
/* The place of the next allocation, NULL if it is the engine's. */
void *djlplan_run_place(struct djlplan_torch_run *run, size_t bytes);
torch_data_ptr djlplan_run_allocate(struct djlplan_torch_run *run, size_t bytes);
/* Whether the block lay in an arena; then it is freed. Thread-safe. */
bool djlplan_run_free(void *block);
/* Returns whether no block of the run is in use. */
bool djlplan_run_pause(struct djlplan_torch_run *run);

#endif
