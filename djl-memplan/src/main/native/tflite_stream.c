/* Loads the constants of a session during an inference: binds their places, and waits for loads. */
#define _GNU_SOURCE
#include "files.h"
#include "lists.h"
#include "tflite_session.h"

#include <stdio.h>
#include <string.h>

/* TfLiteBuiltinOperator; the operand that is the filter */
enum { CONV_2D = 3, FILTER = 1 };

void djlplan_tflite_session_stream(struct djlplan_tflite_session *session) {
    session->streaming.wanted = true;
}

/* ---- what kernels derive from constants ------------------------------------------------ */

/*
 * A convolution on several threads makes a transposed copy of its filter in its first inference,
 * and no longer reads the filter afterwards.
 */
static bool is_derived(const TfLiteContext *context, const TfLiteNode *node, int32_t code,
                       int32_t id) {
    if (code != CONV_2D || node->inputs->size <= FILTER || node->inputs->data[FILTER] < 0) {
        return false;
    }
    const TfLiteTensor *tensor = &context->tensors[id];
    const TfLiteTensor *filter = &context->tensors[node->inputs->data[FILTER]];
    return tensor->allocation_type == kTfLiteArenaRwPersistent &&
           filter->allocation_type == kTfLiteMmapRo && tensor->bytes == filter->bytes &&
           tensor->type == filter->type;
}

bool djlplan_tflite_take_derived(struct djlplan_tflite_session *session, const struct node *known) {
    const TfLiteNode *node = known->node;
    TfLiteContext *context = session->graph.context;
    for (int i = 0; i < node->temporaries->size; i++) {
        int32_t id = node->temporaries->data[i];
        if (id < 0 || (size_t)id >= context->tensors_size ||
            !is_derived(context, node, known->builtin_code, id)) {
            continue;
        }
        const struct derived *all = session->streaming.derived;
        int count = session->streaming.derived_count, at = 0;
        while (at < count && all[at].tensor != id) at++;
        if (at == count) {
            if (!djlplan_list_ensure(&session->streaming.derived, count,
                                     &session->streaming.derived_capacity, sizeof *all)) {
                return false;
            }
            session->streaming.derived_count++;
        }
        session->streaming.derived[at] =
            (struct derived){.step = (int32_t)(known - session->graph.nodes),
                             .tensor = id,
                             .constant = node->inputs->data[FILTER]};
        context->tensors[id].allocation_type = kTfLiteCustom;
        context->tensors[id].data = NULL;
    }
    return true;
}

bool djlplan_tflite_is_derived(const struct djlplan_tflite_session *session, int32_t tensor) {
    for (int i = 0; i < session->streaming.derived_count; i++) {
        if (session->streaming.derived[i].tensor == tensor) return true;
    }
    return false;
}

int64_t djlplan_tflite_derived(const struct djlplan_tflite_session *session, int32_t *out,
                               int64_t capacity) {
    int64_t count = 0;
    for (int i = 0; i < session->streaming.derived_count; i++) {
        const struct derived *derived = &session->streaming.derived[i];
        const int32_t values[] = {derived->step, derived->tensor, derived->constant};
        for (int j = 0; j < 3; j++, count++) {
            if (count < capacity) out[count] = values[j];
        }
    }
    return count;
}

/* ---- bindings -------------------------------------------------------------------------- */

static void forget_bindings(struct streaming *streaming) {
    free(streaming->bindings);
    free(streaming->first);
    free(streaming->elided);
    free(streaming->original);
    *streaming = (struct streaming){.wanted = streaming->wanted,
                                    .derived = streaming->derived,
                                    .derived_count = streaming->derived_count,
                                    .derived_capacity = streaming->derived_capacity};
}

void djlplan_tflite_forget_streaming(struct djlplan_tflite_session *session) {
    forget_bindings(&session->streaming);
    free(session->streaming.derived);
}

static bool holds(const struct djlplan_tflite_session *session,
                  const struct djlplan_binding *binding, int64_t arena_bytes) {
    const TfLiteContext *context = session->graph.context;
    if (binding->step < 0 || binding->step >= session->graph.node_count || binding->tensor < 0 ||
        (size_t)binding->tensor >= context->tensors_size) {
        return false;
    }
    const TfLiteTensor *tensor = &context->tensors[binding->tensor];
    bool streamed =
        tensor->allocation_type == kTfLiteMmapRo ||
        (djlplan_tflite_is_ours(tensor) && djlplan_tflite_is_derived(session, binding->tensor));
    struct place place = {binding->place, (int64_t)tensor->bytes};
    return streamed && binding->place >= 0 && djlplan_place_within(place, arena_bytes);
}

int djlplan_tflite_bind(struct djlplan_tflite_session *session, struct djlplan_stream *stream,
                        const struct djlplan_binding *bindings, int count, const uint8_t *elided) {
    struct streaming *streaming = &session->streaming;
    forget_bindings(streaming);
    bool fits = streaming->wanted && djlplan_stream_steps(stream) == session->graph.node_count;
    for (int i = 0; fits && i < count; i++) {
        fits = holds(session, &bindings[i], djlplan_stream_arena_bytes(stream)) &&
               (i == 0 || bindings[i - 1].step <= bindings[i].step);
    }
    if (!fits) {
        snprintf(session->error, sizeof session->error, "a binding does not fit the model");
        return DJLPLAN_MISMATCH;
    }
    streaming->bindings = djlplan_zeroed_plus_one(count, sizeof *bindings);
    streaming->original = djlplan_zeroed_plus_one(count, sizeof *streaming->original);
    streaming->first =
        djlplan_zeroed_plus_one(session->graph.node_count + 1, sizeof *streaming->first);
    streaming->elided =
        djlplan_zeroed_plus_one(session->graph.node_count, sizeof *streaming->elided);
    if (streaming->bindings == NULL || streaming->original == NULL || streaming->first == NULL ||
        streaming->elided == NULL) {
        forget_bindings(streaming);
        snprintf(session->error, sizeof session->error, "out of memory");
        return DJLPLAN_ENGINE_ERROR;
    }
    for (int i = 0; i < count; i++) {
        streaming->bindings[i] = bindings[i];
        streaming->original[i] = session->graph.context->tensors[bindings[i].tensor].data;
        streaming->first[bindings[i].step + 1]++;
    }
    for (int step = 0; step < session->graph.node_count; step++) {
        streaming->first[step + 1] += streaming->first[step];
        streaming->elided[step] = elided[step] != 0;
    }
    streaming->count = count;
    streaming->stream = stream;
    return DJLPLAN_OK;
}

/* ---- an inference ---------------------------------------------------------------------- */

/* Writes the tensor that a step's kernel derived from its constants. */
static bool capture(struct djlplan_tflite_session *session, int step) {
    const struct streaming *streaming = &session->streaming;
    for (int i = 0; i < streaming->derived_count; i++) {
        if (streaming->derived[i].step != step) continue;
        const TfLiteTensor *tensor = &session->graph.context->tensors[streaming->derived[i].tensor];
        int64_t offset = streaming->capture_offsets[i], bytes = (int64_t)tensor->bytes;
        if (!djlplan_files_write(streaming->capture_file, tensor->data, bytes, offset)) {
            snprintf(session->error, sizeof session->error, "weights cannot be written: %s",
                     strerror(errno));
            return false;
        }
        /* Starts the write to disk early, to limit the dirty pages in memory. */
        sync_file_range(streaming->capture_file, offset, bytes, SYNC_FILE_RANGE_WRITE);
    }
    return true;
}

TfLiteStatus djlplan_tflite_invoke_step(struct djlplan_tflite_session *session,
                                        struct node *known) {
    struct streaming *streaming = &session->streaming;
    int step = (int)(known - session->graph.nodes);
    known->nanos = 0;
    if (streaming->elided[step]) {
        djlplan_stream_finished(streaming->stream, step);
        return kTfLiteOk;
    }
    if (!djlplan_stream_await(streaming->stream, step)) return kTfLiteError;
    char *arena = djlplan_stream_arena(streaming->stream);
    for (int i = streaming->first[step]; i < streaming->first[step + 1]; i++) {
        session->graph.context->tensors[streaming->bindings[i].tensor].data =
            arena + streaming->bindings[i].place;
    }
    int64_t start = djlplan_now_nanos();
    TfLiteStatus status = known->invoke(session->graph.context, known->node);
    known->nanos = djlplan_now_nanos() - start;
    if (status == kTfLiteOk && streaming->capture_offsets != NULL && !capture(session, step)) {
        status = kTfLiteError;
    }
    djlplan_stream_finished(streaming->stream, step);
    return status;
}
