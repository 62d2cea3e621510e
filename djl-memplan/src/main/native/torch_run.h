/* What torch.c, record.c, large.c and replay.c share. */
#ifndef DJLPLAN_TORCH_RUN_H
#define DJLPLAN_TORCH_RUN_H

#include "djlplan.h"
#include "torch_abi.h"

#include <pthread.h>

struct djlplan_arena;

/* The logarithm of RECORD_BUCKETS; tests take fewer. */
#ifndef RECORD_BUCKET_BITS
#define RECORD_BUCKET_BITS 12
#endif

enum {
    RECORD_BUCKETS = 1 << RECORD_BUCKET_BITS,
    DJLPLAN_TORCH_ALIGNMENT = 64,
    DJLPLAN_TORCH_PRIORITY = 127
};

/* One recorded allocation. */
struct event {
    int64_t bytes;
    int64_t allocated;
    int64_t freed;
    const void *address;
    int next; /* in the chain of its bucket, −1 at the end */
};

/* Where one or more allocations of a plan lie. */
struct place {
    int64_t offset;
    int resident; /* number of the allocation that is there now, −1 for none; in runs only */
};

struct djlplan_torch_plan {
    int holders; /* the caller and every run */
    int count;
    int64_t *bytes;
    int *place; /* of every allocation, −1 for those left to the engine */
    int places;
    struct place *sorted; /* by offset */
    int64_t arena_bytes;
};

struct djlplan_torch_run {
    int recording;
    /* recording */
    pthread_t thread;
    struct event *events;
    int count, capacity, incomplete;
    int64_t clock, paused_at; /* −1 until then */
    int *buckets; /* RECORD_BUCKETS chains by address */
    struct djlplan_torch_run *next_recording;
    /* replay */
    pthread_mutex_t lock;
    struct djlplan_torch_plan *plan;
    struct djlplan_arena *arena;
    struct place *places;
    int next; /* number of the next allocation, the plan's count when it has no more */
    int diverged, finished;
    int64_t counters[DJLPLAN_COUNTERS];
};

/* The engine's allocator, and ours, which frees blocks of either. */
torch_data_ptr djlplan_torch_engine_allocate(size_t bytes);
void djlplan_torch_free(void *block);

/* record.c */
torch_data_ptr djlplan_record_allocate(struct djlplan_torch_run *run, size_t bytes);
void djlplan_record_free(const void *block);
void djlplan_record_pause(struct djlplan_torch_run *run);
struct djlplan_torch_run *djlplan_record_begin(void);
void djlplan_record_finish(struct djlplan_torch_run *run);

/* large.c; NULL for a block that is not large, or if it cannot be mapped */
void *djlplan_large_allocate(size_t bytes);
/* Returns 0 if the block is none of these. */
int djlplan_large_free(void *address);

/* replay.c */
torch_data_ptr djlplan_replay_allocate(struct djlplan_torch_run *run, size_t bytes);
/* Returns 0 if the block lies in no arena. */
int djlplan_replay_free(void *block);
/* How many blocks of the arena are in use. */
int64_t djlplan_replay_alive(struct djlplan_torch_run *run);
struct djlplan_torch_run *djlplan_replay_begin(struct djlplan_torch_plan *plan, void *arena);
void djlplan_replay_finish(struct djlplan_torch_run *run, int64_t *counters, int32_t *alive,
                           int capacity);

#endif
