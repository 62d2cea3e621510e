/* A stream of weights, for the files that run steps (tflite_*.c). */
#ifndef DJLPLAN_STREAM_H
#define DJLPLAN_STREAM_H

#include "djlplan.h"

#include <stdbool.h>

/* Returns the time of a monotonic clock. */
int64_t djlplan_now_nanos(void);

/* Returns the arena of the schedule. */
char *djlplan_stream_arena(const struct djlplan_stream *stream);
int64_t djlplan_stream_arena_bytes(const struct djlplan_stream *stream);
/* Returns the number of steps in the schedule; −1 without a schedule. */
int djlplan_stream_steps(const struct djlplan_stream *stream);

/* Begins an inference. Returns the problem, or NULL. */
const char *djlplan_stream_begin(struct djlplan_stream *stream);
/* Waits until everything that a step reads is loaded; false if that fails. */
bool djlplan_stream_await(struct djlplan_stream *stream, int step);
/* Reports that a step has finished reading. */
void djlplan_stream_finished(struct djlplan_stream *stream, int step);
/*
 * Ends an inference, possibly before its last step, and waits until no load is running. Returns why
 * a load failed, or NULL.
 */
const char *djlplan_stream_end(struct djlplan_stream *stream);

#endif
