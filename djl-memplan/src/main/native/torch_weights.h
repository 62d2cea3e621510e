/*
 * Weights of libtorch in a file: what torch_weights.c (the file and its blocks), torch_schedule.c
 * and torch_stream.c (which of its pages are in memory) share.
 */
#ifndef DJLPLAN_TORCH_WEIGHTS_H
#define DJLPLAN_TORCH_WEIGHTS_H

#include "djlplan.h"

#include <pthread.h>
#include <stdbool.h>

/* A run of whole pages of the file, and of the mapping. */
struct piece {
    int64_t offset;
    int64_t bytes;
    bool pinned;       /* it stays between runs of the schedule */
    bool copied;       /* it is a copy in memory of its own now, not pages of the file */
    uint64_t checksum; /* of the copy as it was read */
};

/* A block that the engine has. */
struct weight_block {
    int64_t offset;
    int64_t bytes;
    bool alive;
};

/* What becomes of a piece, when so many steps have finished. */
struct action {
    int piece;
    enum djlplan_action kind;
    int after;
};

/* Does not change, but for its holders, which the lock of all schedules guards. */
struct djlplan_schedule {
    int holders;
    int steps;
    int64_t *bytes; /* of the allocation that begins a step; the first step begins with none */
    int *needs;     /* how many actions are to be carried out before a step runs */
    int actions;
    struct action *action;
};

/* What was seen of a run. */
struct touch {
    int32_t step;
    int32_t piece;
    int32_t pages; /* that were in memory */
};

/* The pages in memory. Guarded by the lock of the weights, but for what says otherwise. */
struct stream {
    enum { STREAM_IDLE, STREAM_LAZY, STREAM_WATCHED, STREAM_SCHEDULED } mode;
    bool direct;
    struct djlplan_schedule *schedule; /* of this run or the last, NULL for none */
    int step;                          /* the one that runs; also how many have finished */
    int next;                          /* action, the schedule's count when there is none */
    bool busy;                         /* the loader carries it out, without the lock */
    bool stops, runs;
    int failed; /* errno of the first load that failed in this run */
    int64_t waited_nanos;
    int64_t loaded_bytes;
    pthread_t loader;
    pthread_cond_t wake, done;
    /* of a watched run */
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

/* torch_weights.c: those that this thread loads, or that its run streams. */
extern _Thread_local struct djlplan_weights *djlplan_weights_current;

/*
 * Takes an allocation of the thread that loads the weights. Returns its place among them, NULL if
 * it is too small, or loading has ended.
 */
void *djlplan_weights_allocate(struct djlplan_weights *weights, size_t bytes);
/* Frees a block that lies in the mapping of weights. Thread-safe. */
void djlplan_weights_free(struct djlplan_weights *weights, const void *block);
/* Gives a hold back; the caller has the lock, and no longer afterwards. */
void djlplan_weights_release(struct djlplan_weights *weights);

/* torch_schedule.c. Thread-safe. */
void djlplan_schedule_hold(struct djlplan_schedule *schedule);

/*
 * torch_stream.c: an allocation of the thread that streams the weights begins the next step.
 * Returns whether they are streamed.
 */
bool djlplan_stream_notice(struct djlplan_weights *weights, size_t bytes);

#endif
