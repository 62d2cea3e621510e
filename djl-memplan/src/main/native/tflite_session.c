/* Sessions: TensorFlow Lite interpreters whose intermediate tensors are placed by the caller. */
#define _GNU_SOURCE
#include "tflite_session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void report(void *user_data, const char *format, va_list arguments) {
    struct djlplan_tflite_session *session = user_data;
    size_t used = strlen(session->error);
    if (used > 0 && used + 3 < sizeof session->error) {
        memcpy(session->error + used, "; ", 3);
        used += 2;
    }
    vsnprintf(session->error + used, sizeof session->error - used, format, arguments);
    /* Removes final line breaks, so that the message stays on one line. */
    for (size_t end = strlen(session->error); end > 0 && session->error[end - 1] == '\n'; end--) {
        session->error[end - 1] = '\0';
    }
}

/*
 * Compares a tensor, read by the layout of tflite_abi.h, with the results of the engine's
 * accessors.
 */
static bool layout_holds(const TfLiteTensor *tensor, const TfLiteContext *context) {
    ptrdiff_t index = tensor - context->tensors;
    return index >= 0 && (size_t)index < context->tensors_size &&
           (const char *)tensor == (const char *)&context->tensors[index] &&
           djlplan_tflite.TensorType(tensor) == tensor->type &&
           djlplan_tflite.TensorByteSize(tensor) == tensor->bytes &&
           djlplan_tflite.TensorName(tensor) == tensor->name &&
           djlplan_tflite.TensorData(tensor) == tensor->data && tensor->dims != NULL &&
           djlplan_tflite.TensorNumDims(tensor) == tensor->dims->size;
}

static bool layouts_hold(const struct djlplan_tflite_session *session) {
    for (int i = 0; i < djlplan_tflite.InterpreterGetInputTensorCount(session->interpreter); i++) {
        const TfLiteTensor *input =
            djlplan_tflite.InterpreterGetInputTensor(session->interpreter, i);
        if (!layout_holds(input, session->graph.context)) return false;
    }
    for (int i = 0; i < djlplan_tflite.InterpreterGetOutputTensorCount(session->interpreter); i++) {
        const TfLiteTensor *output =
            djlplan_tflite.InterpreterGetOutputTensor(session->interpreter, i);
        if (!layout_holds(output, session->graph.context)) return false;
    }
    return true;
}

static const char *build(struct djlplan_tflite_session *session, const void *model, int threads) {
    djlplan_packed_expect();
    void *options = djlplan_tflite.InterpreterOptionsCreate();
    if (options == NULL) return "out of memory";
    djlplan_tflite.InterpreterOptionsSetNumThreads(options, threads);
    djlplan_tflite.InterpreterOptionsSetErrorReporter(options, report, session);
    djlplan_tflite.InterpreterOptionsAddDelegate(options, &session->wrapper);
    djlplan_tflite_current = session;
    session->interpreter = djlplan_tflite.InterpreterCreate(model, options);
    djlplan_tflite_current = NULL;
    session->shapes_of = NULL;
    djlplan_tflite.InterpreterOptionsDelete(options);
    if (session->interpreter == NULL) {
        return session->error[0] ? session->error : "the engine could not build an interpreter";
    }
    if (session->graph.context == NULL) return "the engine did not prepare the delegate";
    if (djlplan_packed_missed()) return "packed weights are not those of the model";
    return layouts_hold(session) ? NULL : "the engine's structs are laid out unexpectedly";
}

/* Replaces a list by a sorted copy of another. */
static int copy(struct ids *ids, const int32_t *values, int count) {
    free(ids->values);
    ids->count = 0;
    ids->values = djlplan_zeroed_plus_one(count, sizeof *values);
    if (ids->values == NULL) return DJLPLAN_ENGINE_ERROR;
    if (count > 0) {
        memcpy(ids->values, values, (size_t)count * sizeof *values);
        qsort(ids->values, (size_t)count, sizeof *values, djlplan_compare_ids);
    }
    ids->count = count;
    return DJLPLAN_OK;
}

struct djlplan_tflite_session *djlplan_tflite_session_new(void) {
    struct djlplan_tflite_session *session = calloc(1, sizeof *session);
    if (session == NULL) return NULL;
    session->wrapper.data = session;
    session->wrapper.Prepare = djlplan_tflite_prepare;
    session->wrapper.flags = kTfLiteDelegateFlagsAllowDynamicTensors;
    return session;
}

int djlplan_tflite_session_plan(struct djlplan_tflite_session *session, const int32_t *ids,
                                int count) {
    session->temporaries = true;
    return copy(&session->wanted, ids, count);
}

static void forget_delegation(struct delegation *delegation) {
    free(delegation->constants);
    if (delegation->kind == DELEGATES_CHOSEN) {
        free(delegation->chosen.operators.values);
        free(delegation->chosen.shown);
    } else if (delegation->kind == DELEGATES_PREVIEW) {
        free(delegation->partitions.values);
    }
    *delegation = (struct delegation){.kind = DELEGATES_NOTHING};
}

int djlplan_tflite_session_delegate(struct djlplan_tflite_session *session, void *delegate,
                                    const int32_t *operators, int count) {
    forget_delegation(&session->delegation);
    session->delegation = (struct delegation){.kind = DELEGATES_CHOSEN, .real = delegate};
    session->wrapper.flags = session->delegation.real->flags;
    return copy(&session->delegation.chosen.operators, operators, count);
}

int djlplan_tflite_session_constants(struct djlplan_tflite_session *session, const int32_t *ids,
                                     void *const *data, int count) {
    struct delegation *delegation = &session->delegation;
    free(delegation->constants);
    delegation->constant_count = 0;
    delegation->constants = djlplan_zeroed_plus_one(count, sizeof *delegation->constants);
    if (delegation->constants == NULL) return DJLPLAN_ENGINE_ERROR;
    for (int i = 0; i < count; i++) {
        delegation->constants[i] = (struct constant){ids[i], data[i]};
    }
    delegation->constant_count = count;
    return DJLPLAN_OK;
}

void djlplan_tflite_session_shapes(struct djlplan_tflite_session *session,
                                   const struct djlplan_tflite_session *allocated) {
    session->shapes_of = allocated;
}

void djlplan_tflite_session_preview(struct djlplan_tflite_session *session, void *delegate) {
    forget_delegation(&session->delegation);
    session->delegation = (struct delegation){.kind = DELEGATES_PREVIEW, .real = delegate};
    session->wrapper.flags = session->delegation.real->flags;
}

void djlplan_tflite_session_time(struct djlplan_tflite_session *session) { session->timed = true; }

/*
 * Returns the status of a failure: DJLPLAN_UNSOUND if this library's checks caused it, otherwise
 * the engine's.
 */
static int failure(const struct djlplan_tflite_session *session) {
    return session->unsound ? DJLPLAN_UNSOUND : DJLPLAN_ENGINE_ERROR;
}

int djlplan_tflite_session_build(struct djlplan_tflite_session *session, const void *model,
                                 int threads) {
    const char *problem = build(session, model, threads);
    if (problem == NULL) return DJLPLAN_OK;
    if (problem != session->error) snprintf(session->error, sizeof session->error, "%s", problem);
    return djlplan_packed_missed() && !session->unsound ? DJLPLAN_MISMATCH : failure(session);
}

void djlplan_tflite_session_delete(struct djlplan_tflite_session *session) {
    /*
     * The interpreter goes first, because its kernels may access their delegate when they are
     * deleted.
     */
    if (session->interpreter != NULL) djlplan_tflite.InterpreterDelete(session->interpreter);
    forget_delegation(&session->delegation);
    free(session->wanted.values);
    free(session->plan.tensors);
    djlplan_tflite_forget_streaming(session);
    for (struct graph *graph = &session->graph, *next; graph != NULL; graph = next) {
        next = graph->next;
        free(graph->nodes);
        free(graph->by_address);
        if (graph != &session->graph) free(graph);
    }
    free(session);
}

const char *djlplan_tflite_error(const struct djlplan_tflite_session *session) {
    return session->error;
}

/* Calls a function of the engine with this session as the thread's current one. */
static int enter(struct djlplan_tflite_session *session, TfLiteStatus (*function)(void *)) {
    session->error[0] = '\0';
    session->unsound = false;
    djlplan_tflite_current = session;
    TfLiteStatus status = function(session->interpreter);
    djlplan_tflite_current = NULL;
    return status == kTfLiteOk ? DJLPLAN_OK : failure(session);
}

/* Checks an index, because the engine does not check indices of inputs and outputs. */
static bool has(int count, int index) { return index >= 0 && index < count; }

int djlplan_tflite_resize(struct djlplan_tflite_session *session, int input, const int32_t *shape,
                          int rank) {
    session->error[0] = '\0';
    session->plan.taken = false;
    if (djlplan_tflite_input(session, input) < 0) {
        snprintf(session->error, sizeof session->error, "no input %d", input);
        return DJLPLAN_ENGINE_ERROR;
    }
    return djlplan_tflite.InterpreterResizeInputTensor(session->interpreter, input, shape, rank) ==
                   kTfLiteOk
               ? DJLPLAN_OK
               : DJLPLAN_ENGINE_ERROR;
}

int djlplan_tflite_fill(struct djlplan_tflite_session *session, int input, const void *content,
                        int64_t bytes) {
    int id = djlplan_tflite_input(session, input);
    TfLiteTensor *tensor = id < 0 ? NULL : &session->graph.context->tensors[id];
    if (tensor == NULL || tensor->allocation_type != kTfLiteDynamic) {
        snprintf(session->error, sizeof session->error, "no input %d of strings", input);
        return DJLPLAN_ENGINE_ERROR;
    }
    djlplan_tflite.TensorRealloc((size_t)bytes, tensor);
    if (tensor->data == NULL || tensor->bytes != (size_t)bytes) {
        snprintf(session->error, sizeof session->error, "out of memory");
        return DJLPLAN_ENGINE_ERROR;
    }
    memcpy(tensor->data, content, (size_t)bytes);
    return DJLPLAN_OK;
}

int djlplan_tflite_allocate(struct djlplan_tflite_session *session) {
    session->plan.taken = false;
    djlplan_workspace_allocating(true);
    int status = enter(session, djlplan_tflite.InterpreterAllocateTensors);
    djlplan_workspace_allocating(false);
    return status;
}

/* ---- the plan -------------------------------------------------------------------------- */

/* Counts the tensors that a plan must place. */
static int64_t count_ours(const struct djlplan_tflite_session *session) {
    const TfLiteContext *context = session->graph.context;
    int64_t count = 0;
    for (size_t i = 0; i < context->tensors_size; i++) {
        count += djlplan_tflite_is_ours(&context->tensors[i]) && context->tensors[i].bytes > 0 &&
                 !djlplan_tflite_is_derived(session, (int32_t)i);
    }
    return count;
}

static int refuse(struct djlplan_tflite_session *session, const char *why, int32_t id) {
    snprintf(session->error, sizeof session->error, "plan refused: %s (tensor %d)", why, id);
    return DJLPLAN_MISMATCH;
}

/*
 * Returns the alignment of offsets. Tensors that may lie inside others need only the alignment that
 * the engine requires of constants.
 */
static int64_t alignment(const struct djlplan_tflite_session *session) {
    return session->streaming.wanted ? 16 : DJLPLAN_ALIGNMENT;
}

/* Returns why a tensor may not have a place, NULL if it may. */
static const char *objection(const struct djlplan_tflite_session *session, int32_t id,
                             int64_t offset, int64_t arena_bytes) {
    const TfLiteContext *context = session->graph.context;
    if (id < 0 || (size_t)id >= context->tensors_size ||
        !djlplan_tflite_is_ours(&context->tensors[id])) {
        return "not ours to place";
    }
    struct place place = {offset, (int64_t)context->tensors[id].bytes};
    if (offset < 0 || offset % alignment(session) != 0) return "misaligned";
    return djlplan_place_within(place, arena_bytes) ? NULL : "outside the arena";
}

int djlplan_tflite_place(struct djlplan_tflite_session *session, const int32_t *ids,
                         const int64_t *offsets, int count, int64_t arena_bytes) {
    const TfLiteContext *context = session->graph.context;
    free(session->plan.tensors);
    session->plan = (struct tensor_plan){.taken = false};
    struct placed_tensor *tensors = djlplan_zeroed_plus_one(count, sizeof *tensors);
    if (tensors == NULL) return refuse(session, "out of memory", 0);
    session->plan.tensors = tensors;
    for (int i = 0; i < count; i++) {
        if (i > 0 && ids[i] <= ids[i - 1]) return refuse(session, "not in order", ids[i]);
        const char *problem = objection(session, ids[i], offsets[i], arena_bytes);
        if (problem != NULL) return refuse(session, problem, ids[i]);
        struct place place = {offsets[i], (int64_t)context->tensors[ids[i]].bytes};
        tensors[i] = (struct placed_tensor){ids[i], place};
    }
    if (count_ours(session) != count) return refuse(session, "a tensor has no place", count);
    session->plan.taken = true;
    session->plan.count = count;
    session->plan.arena_bytes = arena_bytes;
    return DJLPLAN_OK;
}

static void bind(struct djlplan_tflite_session *session, char *arena) {
    for (int i = 0; i < session->plan.count; i++) {
        const struct placed_tensor *placed = &session->plan.tensors[i];
        session->graph.context->tensors[placed->id].data = arena + placed->place.offset;
    }
    session->plan.bound = arena;
}

static bool still_fits(const struct djlplan_tflite_session *session) {
    for (int i = 0; i < session->plan.count; i++) {
        const struct placed_tensor *placed = &session->plan.tensors[i];
        const TfLiteTensor *tensor = &session->graph.context->tensors[placed->id];
        if (!djlplan_tflite_is_ours(tensor) || (int64_t)tensor->bytes != placed->place.bytes ||
            tensor->data != session->plan.bound + placed->place.offset) {
            return false;
        }
    }
    return true;
}

int djlplan_tflite_invoke(struct djlplan_tflite_session *session, void *arena,
                          int64_t arena_bytes) {
    const struct tensor_plan *plan = &session->plan;
    if (!plan->taken && count_ours(session) > 0) {
        return refuse(session, "none was given", 0);
    }
    if (plan->taken && plan->count > 0) {
        if (arena == NULL || arena_bytes < plan->arena_bytes) {
            return refuse(session, "the arena is too small", 0);
        }
        if (plan->bound != arena) bind(session, arena);
        if (!still_fits(session)) return refuse(session, "a tensor changed", 0);
    }
    return enter(session, djlplan_tflite.InterpreterInvoke);
}

/* ---- inferences that load constants meanwhile ------------------------------------------ */

/* Restores the constants' addresses, because the engine may read constants between inferences. */
static void restore(struct djlplan_tflite_session *session) {
    const struct streaming *streaming = &session->streaming;
    for (int i = streaming->count - 1; i >= 0; i--) {
        session->graph.context->tensors[streaming->bindings[i].tensor].data =
            streaming->original[i];
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

/* ---- inputs and outputs ---------------------------------------------------------------- */

static int index_of(const struct djlplan_tflite_session *session, const TfLiteTensor *tensor) {
    return tensor == NULL ? -1 : (int)(tensor - session->graph.context->tensors);
}

int djlplan_tflite_input(const struct djlplan_tflite_session *session, int index) {
    if (!has(djlplan_tflite.InterpreterGetInputTensorCount(session->interpreter), index)) return -1;
    return index_of(session, djlplan_tflite.InterpreterGetInputTensor(session->interpreter, index));
}

int djlplan_tflite_output(const struct djlplan_tflite_session *session, int index) {
    if (!has(djlplan_tflite.InterpreterGetOutputTensorCount(session->interpreter), index)) {
        return -1;
    }
    return index_of(session,
                    djlplan_tflite.InterpreterGetOutputTensor(session->interpreter, index));
}
