/* TensorFlow Lite interpreters whose intermediate tensors live where the caller says. */
#define _GNU_SOURCE
#include "tflite_session.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the engine's library -------------------------------------------------------------- */

typedef void (*reporter_function)(void *, const char *, va_list);

/* The engine's C API, found by name. */
static struct {
    const char *(*Version)(void);
    void *(*ModelCreate)(const void *, size_t);
    void (*ModelDelete)(void *);
    void *(*InterpreterOptionsCreate)(void);
    void (*InterpreterOptionsDelete)(void *);
    void (*InterpreterOptionsSetNumThreads)(void *, int32_t);
    void (*InterpreterOptionsAddDelegate)(void *, TfLiteDelegate *);
    void (*InterpreterOptionsSetErrorReporter)(void *, reporter_function, void *);
    void *(*InterpreterCreate)(const void *, const void *);
    void (*InterpreterDelete)(void *);
    TfLiteStatus (*InterpreterAllocateTensors)(void *);
    TfLiteStatus (*InterpreterInvoke)(void *);
    TfLiteStatus (*InterpreterResizeInputTensor)(void *, int32_t, const int *, int32_t);
    int32_t (*InterpreterGetInputTensorCount)(const void *);
    int32_t (*InterpreterGetOutputTensorCount)(const void *);
    TfLiteTensor *(*InterpreterGetInputTensor)(const void *, int32_t);
    const TfLiteTensor *(*InterpreterGetOutputTensor)(const void *, int32_t);
    int32_t (*TensorType)(const TfLiteTensor *);
    size_t (*TensorByteSize)(const TfLiteTensor *);
    int32_t (*TensorNumDims)(const TfLiteTensor *);
    const char *(*TensorName)(const TfLiteTensor *);
    void *(*TensorData)(const TfLiteTensor *);
} tflite;

static const struct {
    const char *name;
    void *slot;
} functions[] = {
#define FUNCTION(name) {"TfLite" #name, &tflite.name}
    FUNCTION(Version),
    FUNCTION(ModelCreate),
    FUNCTION(ModelDelete),
    FUNCTION(InterpreterOptionsCreate),
    FUNCTION(InterpreterOptionsDelete),
    FUNCTION(InterpreterOptionsSetNumThreads),
    FUNCTION(InterpreterOptionsAddDelegate),
    FUNCTION(InterpreterOptionsSetErrorReporter),
    FUNCTION(InterpreterCreate),
    FUNCTION(InterpreterDelete),
    FUNCTION(InterpreterAllocateTensors),
    FUNCTION(InterpreterInvoke),
    FUNCTION(InterpreterResizeInputTensor),
    FUNCTION(InterpreterGetInputTensorCount),
    FUNCTION(InterpreterGetOutputTensorCount),
    FUNCTION(InterpreterGetInputTensor),
    FUNCTION(InterpreterGetOutputTensor),
    FUNCTION(TensorType),
    FUNCTION(TensorByteSize),
    FUNCTION(TensorNumDims),
    FUNCTION(TensorName),
    FUNCTION(TensorData),
#undef FUNCTION
};

static pthread_mutex_t attach_lock = PTHREAD_MUTEX_INITIALIZER; /* for what follows */
static char attach_problem[256];
static void *engine; /* NULL until attached */

/*
 * Copies the path of the engine's library. It is not opened here: the loader holds a lock meanwhile
 * that others wait for inside of dlopen, with another lock that dlopen here would wait for.
 */
static int find_library(struct dl_phdr_info *info, size_t size, void *found) {
    (void)size;
    const char *slash = strrchr(info->dlpi_name, '/');
    if (slash == NULL || strcmp(slash + 1, "libtensorflowlite_jni.so") != 0) return 0;
    *(char **)found = strdup(info->dlpi_name);
    return 1;
}

static void *open_library(void) {
    char *path = NULL;
    dl_iterate_phdr(find_library, &path);
    void *library = path == NULL ? NULL : dlopen(path, RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL);
    free(path);
    if (library == NULL) {
        snprintf(attach_problem, sizeof attach_problem, "TensorFlow Lite is not loaded");
    }
    return library;
}

static bool attach_to(void *library) {
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *function = dlsym(library, functions[i].name);
        if (function == NULL) {
            snprintf(attach_problem, sizeof attach_problem, "TensorFlow Lite has no %s",
                     functions[i].name);
            return false;
        }
        memcpy(functions[i].slot, &function, sizeof function);
    }
    if (strcmp(tflite.Version(), DJLPLAN_TFLITE_VERSION) != 0) {
        snprintf(attach_problem, sizeof attach_problem,
                 "TensorFlow Lite %s is not supported, only " DJLPLAN_TFLITE_VERSION,
                 tflite.Version());
        return false;
    }
    return true;
}

static void attach(void) {
    void *library = open_library();
    if (library == NULL) return;
    if (attach_to(library)) {
        engine = library;
    } else {
        dlclose(library);
    }
}

int djlplan_tflite_attach(char *message, int64_t message_bytes) {
    pthread_mutex_lock(&attach_lock);
    if (engine == NULL) attach();
    bool attached = engine != NULL;
    if (!attached && message_bytes > 0) {
        snprintf(message, (size_t)message_bytes, "%s", attach_problem);
    }
    pthread_mutex_unlock(&attach_lock);
    return attached ? DJLPLAN_OK : DJLPLAN_ENGINE_ERROR;
}

void *djlplan_tflite_symbol(const char *name) { return dlsym(engine, name); }

void *djlplan_tflite_model_create(const void *bytes, int64_t length) {
    return tflite.ModelCreate(bytes, (size_t)length);
}

void djlplan_tflite_model_delete(void *model) { tflite.ModelDelete(model); }

/* ---- sessions -------------------------------------------------------------------------- */

static void report(void *user_data, const char *format, va_list arguments) {
    struct djlplan_tflite_session *session = user_data;
    size_t used = strlen(session->error);
    if (used > 0 && used + 3 < sizeof session->error) {
        memcpy(session->error + used, "; ", 3);
        used += 2;
    }
    vsnprintf(session->error + used, sizeof session->error - used, format, arguments);
    /* Messages that end their line would make two of one. */
    for (size_t end = strlen(session->error); end > 0 && session->error[end - 1] == '\n'; end--) {
        session->error[end - 1] = '\0';
    }
}

/* Compares what the declared layouts say of a tensor with what the engine's accessors say. */
static bool layout_holds(const TfLiteTensor *tensor, const TfLiteContext *context) {
    ptrdiff_t index = tensor - context->tensors;
    return index >= 0 && (size_t)index < context->tensors_size &&
           (const char *)tensor == (const char *)&context->tensors[index] &&
           tflite.TensorType(tensor) == tensor->type &&
           tflite.TensorByteSize(tensor) == tensor->bytes &&
           tflite.TensorName(tensor) == tensor->name &&
           tflite.TensorData(tensor) == tensor->data && tensor->dims != NULL &&
           tflite.TensorNumDims(tensor) == tensor->dims->size;
}

static bool layouts_hold(const struct djlplan_tflite_session *session) {
    for (int i = 0; i < tflite.InterpreterGetInputTensorCount(session->interpreter); i++) {
        const TfLiteTensor *input = tflite.InterpreterGetInputTensor(session->interpreter, i);
        if (!layout_holds(input, session->context)) return false;
    }
    for (int i = 0; i < tflite.InterpreterGetOutputTensorCount(session->interpreter); i++) {
        const TfLiteTensor *output = tflite.InterpreterGetOutputTensor(session->interpreter, i);
        if (!layout_holds(output, session->context)) return false;
    }
    return true;
}

static const char *build(struct djlplan_tflite_session *session, const void *model, int threads) {
    void *options = tflite.InterpreterOptionsCreate();
    if (options == NULL) return "out of memory";
    tflite.InterpreterOptionsSetNumThreads(options, threads);
    tflite.InterpreterOptionsSetErrorReporter(options, report, session);
    tflite.InterpreterOptionsAddDelegate(options, &session->wrapper);
    djlplan_tflite_current = session;
    session->interpreter = tflite.InterpreterCreate(model, options);
    djlplan_tflite_current = NULL;
    tflite.InterpreterOptionsDelete(options);
    if (session->interpreter == NULL) {
        return session->error[0] ? session->error : "the engine could not build an interpreter";
    }
    if (session->context == NULL) return "the engine did not prepare the delegate";
    return layouts_hold(session) ? NULL : "the engine's structs are laid out unexpectedly";
}

static int ascending(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static int copy(struct ids *ids, const int32_t *values, int count) {
    free(ids->values);
    ids->count = 0;
    ids->values = djlplan_zeroed(count, sizeof *values);
    if (ids->values == NULL) return DJLPLAN_ENGINE_ERROR;
    if (count > 0) {
        memcpy(ids->values, values, (size_t)count * sizeof *values);
        qsort(ids->values, (size_t)count, sizeof *values, ascending);
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
    session->place_count = NOT_PLACED;
    return session;
}

int djlplan_tflite_session_plan(struct djlplan_tflite_session *session, const int32_t *ids,
                                int count) {
    session->temporaries = true;
    return copy(&session->wanted, ids, count);
}

int djlplan_tflite_session_delegate(struct djlplan_tflite_session *session, void *delegate,
                                    const int32_t *operators, int count) {
    session->real = delegate;
    session->wrapper.flags = session->real->flags;
    return copy(&session->chosen, operators, count);
}

void djlplan_tflite_session_preview(struct djlplan_tflite_session *session, void *delegate) {
    session->real = delegate;
    session->wrapper.flags = session->real->flags;
    session->preview = true;
}

void djlplan_tflite_session_time(struct djlplan_tflite_session *session) { session->timed = true; }

int djlplan_tflite_session_build(struct djlplan_tflite_session *session, const void *model,
                                 int threads) {
    const char *problem = build(session, model, threads);
    if (problem == NULL) return DJLPLAN_OK;
    if (problem != session->error) snprintf(session->error, sizeof session->error, "%s", problem);
    return DJLPLAN_ENGINE_ERROR;
}

void djlplan_tflite_session_delete(struct djlplan_tflite_session *session) {
    // Kernels are deleted by functions of theirs that may look at their delegate.
    if (session->interpreter != NULL) tflite.InterpreterDelete(session->interpreter);
    free(session->wanted.values);
    free(session->chosen.values);
    free(session->partitions.values);
    free(session->shown);
    free(session->nodes);
    free(session->node_ids);
    free(session->builtin_codes);
    free(session->nanos);
    free(session->hooks);
    free(session->places);
    free(session);
}

const char *djlplan_tflite_error(const struct djlplan_tflite_session *session) {
    return session->error;
}

/* Runs one of the engine's functions with this session as the thread's current one. */
static int enter(struct djlplan_tflite_session *session, TfLiteStatus (*function)(void *)) {
    session->error[0] = '\0';
    djlplan_tflite_current = session;
    TfLiteStatus status = function(session->interpreter);
    djlplan_tflite_current = NULL;
    return status == kTfLiteOk ? DJLPLAN_OK : DJLPLAN_ENGINE_ERROR;
}

/* The engine does not check indices of inputs and outputs. */
static bool has(int count, int index) { return index >= 0 && index < count; }

int djlplan_tflite_resize(struct djlplan_tflite_session *session, int input,
                          const int32_t *shape, int rank) {
    session->error[0] = '\0';
    session->place_count = NOT_PLACED;
    if (!has(tflite.InterpreterGetInputTensorCount(session->interpreter), input)) {
        snprintf(session->error, sizeof session->error, "no input %d", input);
        return DJLPLAN_ENGINE_ERROR;
    }
    return tflite.InterpreterResizeInputTensor(session->interpreter, input, shape, rank) ==
                   kTfLiteOk
               ? DJLPLAN_OK
               : DJLPLAN_ENGINE_ERROR;
}

int djlplan_tflite_allocate(struct djlplan_tflite_session *session) {
    session->place_count = NOT_PLACED;
    session->bound = NULL;
    return enter(session, tflite.InterpreterAllocateTensors);
}

/* ---- the plan -------------------------------------------------------------------------- */

static int64_t count_ours(const TfLiteContext *context) {
    int64_t count = 0;
    for (size_t i = 0; i < context->tensors_size; i++) {
        count += djlplan_tflite_is_ours(&context->tensors[i]) && context->tensors[i].bytes > 0;
    }
    return count;
}

static int refuse(struct djlplan_tflite_session *session, const char *why, int32_t id) {
    snprintf(session->error, sizeof session->error, "plan refused: %s (tensor %d)", why, id);
    return DJLPLAN_MISMATCH;
}

int djlplan_tflite_place(struct djlplan_tflite_session *session, const int32_t *ids,
                         const int64_t *offsets, int count, int64_t arena_bytes) {
    const TfLiteContext *context = session->context;
    session->place_count = NOT_PLACED;
    free(session->places);
    session->places = djlplan_zeroed(count, sizeof *session->places);
    if (session->places == NULL) return refuse(session, "out of memory", 0);
    for (int i = 0; i < count; i++) {
        if (ids[i] < 0 || (size_t)ids[i] >= context->tensors_size ||
            !djlplan_tflite_is_ours(&context->tensors[ids[i]])) {
            return refuse(session, "not ours to place", ids[i]);
        }
        if (i > 0 && ids[i] <= ids[i - 1]) return refuse(session, "not in order", ids[i]);
        int64_t bytes = (int64_t)context->tensors[ids[i]].bytes;
        if (offsets[i] < 0 || offsets[i] % ALIGNMENT != 0) {
            return refuse(session, "misaligned", ids[i]);
        }
        if (bytes > arena_bytes || offsets[i] > arena_bytes - bytes) {
            return refuse(session, "outside the arena", ids[i]);
        }
        session->places[i] = (struct place){ids[i], offsets[i], (size_t)bytes};
    }
    if (count_ours(context) != count) return refuse(session, "a tensor has no place", count);
    session->place_count = count;
    session->arena_bytes = arena_bytes;
    session->bound = NULL;
    return DJLPLAN_OK;
}

static void bind(struct djlplan_tflite_session *session, char *arena) {
    for (int i = 0; i < session->place_count; i++) {
        const struct place *place = &session->places[i];
        session->context->tensors[place->id].data = arena + place->offset;
    }
    session->bound = arena;
}

static bool still_fits(const struct djlplan_tflite_session *session) {
    for (int i = 0; i < session->place_count; i++) {
        const struct place *place = &session->places[i];
        const TfLiteTensor *tensor = &session->context->tensors[place->id];
        if (!djlplan_tflite_is_ours(tensor) || tensor->bytes != place->bytes ||
            tensor->data != session->bound + place->offset) {
            return false;
        }
    }
    return true;
}

int djlplan_tflite_invoke(struct djlplan_tflite_session *session, void *arena,
                          int64_t arena_bytes) {
    if (session->place_count == NOT_PLACED && count_ours(session->context) > 0) {
        return refuse(session, "none was given", 0);
    }
    if (session->place_count > 0) {
        if (arena == NULL || arena_bytes < session->arena_bytes) {
            return refuse(session, "the arena is too small", 0);
        }
        if (session->bound != arena) bind(session, arena);
        if (!still_fits(session)) return refuse(session, "a tensor changed", 0);
    }
    return enter(session, tflite.InterpreterInvoke);
}

/* ---- inputs and outputs ---------------------------------------------------------------- */

int djlplan_tflite_input_count(const struct djlplan_tflite_session *session) {
    return tflite.InterpreterGetInputTensorCount(session->interpreter);
}

int djlplan_tflite_output_count(const struct djlplan_tflite_session *session) {
    return tflite.InterpreterGetOutputTensorCount(session->interpreter);
}

static int index_of(const struct djlplan_tflite_session *session, const TfLiteTensor *tensor) {
    return tensor == NULL ? -1 : (int)(tensor - session->context->tensors);
}

int djlplan_tflite_input(const struct djlplan_tflite_session *session, int index) {
    if (!has(djlplan_tflite_input_count(session), index)) return -1;
    return index_of(session, tflite.InterpreterGetInputTensor(session->interpreter, index));
}

int djlplan_tflite_output(const struct djlplan_tflite_session *session, int index) {
    if (!has(djlplan_tflite_output_count(session), index)) return -1;
    return index_of(session, tflite.InterpreterGetOutputTensor(session->interpreter, index));
}
