/*
 * Weights of libtorch in a file, shared by torch_weights.c (the file and its blocks),
 * torch_schedule.c and torch_stream.c (which pages are in memory).
 */
#ifndef DJLPLAN_TORCH_WEIGHTS_H
#define DJLPLAN_TORCH_WEIGHTS_H

#include "djlplan.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* A range of whole pages of the file and of the mapping. */
struct piece {
    int64_t offset;
    int64_t bytes;
    bool pinned;       /* stays in memory between runs of the schedule */
    bool copied;       /* is currently a private copy in memory, not pages of the file */
    uint64_t checksum; /* of the copy when it was read */
};

/* A block that the engine allocated. */
struct weight_block {
    int64_t offset;
    int64_t bytes;
    bool alive;
};

/* An action on a piece, which runs after `after` steps have finished. */
struct action {
    int piece;
    enum djlplan_action kind;
    int after;
};

/* Immutable except for its holders. */
struct djlplan_schedule {
    atomic_int holders; /* the caller and the weights that use it */
    int steps;
    int64_t *
        bytes; /* by step: bytes of the allocation that begins it; the first step begins without one */
    int *needs; /* by step: the number of actions that must be done before it runs */
    int actions;
    struct action *action;
};

/* An observation of a watched run. */
struct touch {
    int32_t step;
    int32_t piece;
    int32_t pages; /* pages in memory */
};

/*
 * The state of pages in memory. The lock of the weights guards all fields that are not marked
 * otherwise.
 */
struct stream {
    enum { STREAM_IDLE, STREAM_LAZY, STREAM_WATCHED, STREAM_SCHEDULED } mode;
    bool direct;
    struct djlplan_schedule *schedule; /* of the current or last run, or NULL */
    int step;  /* the current step, which is also the number of finished ones */
    int next;  /* index of the next action; the schedule's count if there is none */
    bool busy; /* the loader runs an action, without the lock */
    bool stops, runs;
    int failed; /* errno of the first load that failed in this run */
    int64_t waited_nanos;
    pthread_t loader;
    pthread_cond_t wake, done;
    /* the following belongs to a watched run */
    int64_t *steps; /* bytes and nanoseconds of each step */
    struct touch *touches;
    int step_count, step_capacity, touch_count, touch_capacity;
    bool incomplete;
    int64_t since; /* when the step began */
};

struct djlplan_weights {
    char *base;
    int64_t capacity;
    int file, direct_file;
    pthread_mutex_t lock; /* guards what follows */
    int holders;          /* the caller, a run, and each block in use */
    int problem;          /* errno, or 0 */
    int64_t used;
    struct weight_block *blocks; /* in the order of their offsets */
    int block_count, block_capacity;
    bool loading;
    pthread_t sweeper;
    struct piece *pieces;
    int piece_count;
    struct stream stream;
};

enum { WEIGHTS_PAGE = 4096 };

/* torch_weights.c: starts a thread that handles no signals. Returns 0 or errno. */
int djlplan_weights_start(pthread_t *thread, void *(*runs)(void *),
                          struct djlplan_weights *weights);

/* torch_weights.c: the weights that this thread loads or whose prediction it runs. */
extern _Thread_local struct djlplan_weights *djlplan_weights_current;

/*
 * Allocates a block among the weights that this thread loads. Returns NULL if it is too small, or
 * loading has ended.
 */
void *djlplan_weights_allocate(struct djlplan_weights *weights, size_t bytes);
/* Frees a block that lies in the mapping of weights. Thread-safe. */
void djlplan_weights_free(struct djlplan_weights *weights, const void *block);
/* Drops a hold. The caller has the lock, which this function releases. */
void djlplan_weights_release(struct djlplan_weights *weights);

/*
 * torch_stream.c: begins the next step at an allocation of the thread that streams the weights.
 * Returns whether they are streamed.
 */
bool djlplan_stream_notice(struct djlplan_weights *weights, size_t bytes);

#endif
