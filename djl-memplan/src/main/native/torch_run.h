/*
 * Runs and plans of libtorch's allocations: what torch.c (the allocator), torch_record.c,
 * torch_replay.c, torch_large.c, torch_names.c and torch_shapes.c share.
 */
#ifndef DJLPLAN_TORCH_RUN_H
#define DJLPLAN_TORCH_RUN_H

#include "arena.h"
#include "torch_abi.h"
#include "torch_weights.h"

#include <pthread.h>
#include <stdatomic.h>

/* The logarithm of RECORD_BUCKETS; tests take fewer. */
#ifndef RECORD_BUCKET_BITS
#define RECORD_BUCKET_BITS 12
#endif

enum { RECORD_BUCKETS = 1 << RECORD_BUCKET_BITS };

/* One recorded allocation. */
struct event {
    int64_t bytes;
    int64_t allocated;
    int64_t freed; /* −1: not yet, or nobody knows when */
    const void *address;
    int next; /* in the chain of its bucket, −1 at the end */
};

/* What is recorded: guarded by the lock of all recordings, but for what says otherwise. */
struct recording {
    pthread_t thread; /* whose allocations these are; does not change */
    struct event *events;
    int count, capacity;
    bool incomplete;
    int64_t clock;
    int64_t paused_at; /* −1 until then; does not change after */
    int *buckets;      /* RECORD_BUCKETS chains by address */
    struct djlplan_torch_run *next;
};

/* An allocation as planned; only its size counts for one that is left to the engine. */
struct planned_allocation {
    struct place place;
    int slot; /* its place among the plan's offsets, −1: left to the engine */
};

/* Does not change, but for its holders. */
struct djlplan_torch_plan {
    int holders; /* the caller and every run; guarded by the lock of all plans */
    int count;
    struct planned_allocation *allocations;
    int slots;
    int64_t *offsets; /* each once, ascending */
    int64_t arena_bytes;
};

/* What is placed: guarded by its own lock, but for what says otherwise. */
struct replay {
    pthread_mutex_t lock;
    struct djlplan_torch_plan *plan; /* does not change */
    struct djlplan_arena *arena;     /* does not change; its granules are guarded by this lock */
    bool at_most;   /* does not change: allocations may be smaller than planned */
    int *residents; /* for each slot the number of the allocation that lies there, −1 for none */
    int next;       /* number of the next allocation, the plan's count when it has no more */
    bool diverged, finished;
    int64_t counters[DJLPLAN_COUNTERS];
};

struct djlplan_torch_run {
    enum { RUN_RECORDS, RUN_REPLAYS } kind;
    union {
        struct recording recording;
        struct replay replay;
    };
};

/* torch.c: the engine's allocator, and ours, which frees blocks of either. Thread-safe. */
torch_data_ptr djlplan_torch_engine_allocate(size_t bytes);
void djlplan_torch_free(void *block);

static inline torch_data_ptr djlplan_torch_block(void *address) {
    return (torch_data_ptr){address, djlplan_torch_free, address, TORCH_DEVICE_CPU, TORCH_NO_INDEX};
}

/* torch_record.c */
struct djlplan_torch_run *djlplan_record_begin(void);
torch_data_ptr djlplan_record_allocate(struct djlplan_torch_run *run, size_t bytes);
/* Tells all recordings. Thread-safe. */
void djlplan_record_free(const void *block);
void djlplan_record_pause(struct djlplan_torch_run *run);
void djlplan_record_finish(struct djlplan_torch_run *run);

/* torch_large.c. Thread-safe. NULL for a block that is not large, or if it cannot be mapped. */
void *djlplan_large_allocate(size_t bytes);
/* Whether the block was one of these; then it is freed. */
bool djlplan_large_free(void *address);

/* torch_names.c: whether allocations are noted with their operators, and notes one. */
extern atomic_bool djlplan_names_kept;
void djlplan_names_note(size_t bytes, const void *block);

/*
 * torch_shapes.c: asks libtorch, whose operators are observed already, about a tensor that is known.
 * Without that no tensor is visited; visits those with a block of their own that an operator, which
 * ends, returns.
 */
void djlplan_shapes_find(void);
void djlplan_shapes_visit(const void *function,
                          void (*visit)(const void *block, torch_sizes sizes));

/* torch_replay.c */
struct djlplan_torch_run *djlplan_replay_begin(struct djlplan_torch_plan *plan, void *arena,
                                               bool at_most);
torch_data_ptr djlplan_replay_allocate(struct djlplan_torch_run *run, size_t bytes);
/* Whether the block lay in an arena; then it is freed. Thread-safe. */
bool djlplan_replay_free(void *block);
/* How many blocks of the arena are in use. */
int64_t djlplan_replay_alive(struct djlplan_torch_run *run);
void djlplan_replay_finish(struct djlplan_torch_run *run, int64_t *counters, int32_t *alive,
                           int capacity);

#endif
