/* Runs inferences of sessions that load their constants during the inference. */
#define _GNU_SOURCE
#include "tflite_session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Restores the constants' addresses, because the engine may read constants between inferences. */
static void restore(struct djlplan_tflite_session *session) {
    const struct streaming *streaming = &session->streaming;
    for (int i = streaming->count - 1; i >= 0; i--) {
        session->context->tensors[streaming->bindings[i].tensor].data = streaming->original[i];
    }
}

int djlplan_tflite_invoke_streamed(struct djlplan_tflite_session *session) {
    struct djlplan_stream *stream = session->streaming.stream;
    if (stream == NULL) {
        snprintf(session->error, sizeof session->error, "no stream was given");
        return DJLPLAN_MISMATCH;
    }
    const char *problem = djlplan_stream_begin(stream);
    if (problem != NULL) {
        snprintf(session->error, sizeof session->error, "%s", problem);
        return DJLPLAN_ENGINE_ERROR;
    }
    int status = djlplan_tflite_invoke(session, djlplan_stream_arena(stream),
                                       djlplan_stream_arena_bytes(stream));
    problem = djlplan_stream_end(stream);
    restore(session);
    if (problem != NULL) {
        snprintf(session->error, sizeof session->error, "%s", problem);
        return DJLPLAN_ENGINE_ERROR;
    }
    return status;
}

int djlplan_tflite_invoke_capturing(struct djlplan_tflite_session *session, const char *path,
                                    const int64_t *offsets) {
    session->streaming.capture_file = open(path, O_WRONLY | O_CLOEXEC);
    if (session->streaming.capture_file < 0) {
        snprintf(session->error, sizeof session->error, "%s: %s", path, strerror(errno));
        return DJLPLAN_ENGINE_ERROR;
    }
    session->streaming.capture_offsets = offsets;
    int status = djlplan_tflite_invoke_streamed(session);
    session->streaming.capture_offsets = NULL;
    close(session->streaming.capture_file);
    return status;
}
