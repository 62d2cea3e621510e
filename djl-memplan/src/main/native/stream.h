/* A stream of weights as those who run steps see it: tflite_*.c. */
#ifndef DJLPLAN_STREAM_H
#define DJLPLAN_STREAM_H

#include "djlplan.h"

#include <stdbool.h>

/* The time of a clock that only goes forward. */
int64_t djlplan_now_nanos(void);

/* The arena that the schedule asked for. */
char *djlplan_stream_arena(const struct djlplan_stream *stream);
int64_t djlplan_stream_arena_bytes(const struct djlplan_stream *stream);
/* The number of steps in the schedule; −1 for none. */
int djlplan_stream_steps(const struct djlplan_stream *stream);

/* An inference begins, with no step finished. Returns the problem, NULL when there is none. */
const char *djlplan_stream_begin(struct djlplan_stream *stream);
/* Waits until all that a step reads is in its place; false if it cannot be. */
bool djlplan_stream_await(struct djlplan_stream *stream, int step);
/* A step will read nothing any more. */
void djlplan_stream_finished(struct djlplan_stream *stream, int step);
/*
 * The inference ended, perhaps before its last step. Waits until nothing is loaded any more.
 * Returns why something could not be, NULL if all could.
 */
const char *djlplan_stream_end(struct djlplan_stream *stream);

#endif
