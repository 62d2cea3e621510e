/* TensorFlow Lite interpreters whose intermediate tensors live where the caller says. */
#define _GNU_SOURCE
#include "djlplan.h"
#include "tflite_abi.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, NOT_PLACED = -1 };

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

static char attach_problem[256] = "never attached";
static pthread_mutex_t attach_lock = PTHREAD_MUTEX_INITIALIZER;
static bool attached;

static int find_library(struct dl_phdr_info *info, size_t size, void *found) {
    (void)size;
    const char *slash = strrchr(info->dlpi_name, '/');
    if (slash == NULL || strcmp(slash + 1, "libtensorflowlite_jni.so") != 0) return 0;
    *(void **)found = dlopen(info->dlpi_name, RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL);
    return *(void **)found != NULL;
}

static bool attach(void) {
    void *library = NULL;
    dl_iterate_phdr(find_library, &library);
    if (library == NULL) {
        snprintf(attach_problem, sizeof attach_problem, "TensorFlow Lite is not loaded");
        return false;
    }
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

const char *djlplan_tflite_attach(void) {
    pthread_mutex_lock(&attach_lock);
    if (!attached) attached = attach();
    bool ready = attached;
    pthread_mutex_unlock(&attach_lock);
    return ready ? NULL : attach_problem;
}

void *djlplan_tflite_model_create(const void *bytes, int64_t length) {
    return tflite.ModelCreate(bytes, (size_t)length);
}

void djlplan_tflite_model_delete(void *model) { tflite.ModelDelete(model); }

/* ---- sessions -------------------------------------------------------------------------- */

/* A node whose prepare function we stand in for. Entries are sorted by address, as nodes are. */
struct hook {
    TfLiteNode *node;
    TfLiteNodeFunction prepare;
};

struct djlplan_tflite_session {
    TfLiteDelegate delegate;
    void *interpreter;
    TfLiteContext *context;
    bool temporaries;
    /* ids of the tensors that the caller asked for, ascending */
    int32_t *wanted;
    int wanted_count;
    /* execution plan */
    TfLiteNode **nodes;
    int32_t *builtin_codes;
    int node_count;
    /* hooks, in the order of node addresses */
    struct hook *hooks;
    int hook_count;
    /* the plan: id, offset and size of each placed tensor */
    struct place {
        int32_t id;
        int64_t offset;
        size_t bytes;
    } *places;
    int place_count; /* NOT_PLACED until a plan was taken */
    int64_t arena_bytes;
    char *bound; /* the arena that the tensors point into */
    char error[512];
};

/* The session for which this thread is inside the engine. Kernels' prepare gets only the node. */
static _Thread_local struct djlplan_tflite_session *current;

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

static int by_address(const void *a, const void *b) {
    const struct hook *x = a, *y = b;
    return (x->node > y->node) - (x->node < y->node);
}

static bool is_ours(const TfLiteTensor *tensor) {
    return tensor->allocation_type == kTfLiteCustom;
}

/* Takes a tensor from the engine's arena planner; what it keeps for other reasons stays its own. */
static void take(TfLiteTensor *tensor) {
    if (tensor->allocation_type == kTfLiteArenaRw && !tensor->is_variable) {
        tensor->allocation_type = kTfLiteCustom;
        tensor->data = NULL;
    }
}

static int by_id(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static TfLiteTensor *wanted(const struct djlplan_tflite_session *session, int32_t id) {
    bool asked_for = (size_t)id < session->context->tensors_size &&
                     bsearch(&id, session->wanted, (size_t)session->wanted_count, sizeof id,
                             by_id) != NULL;
    return asked_for ? &session->context->tensors[id] : NULL;
}

static void take_wanted(const struct djlplan_tflite_session *session,
                        const TfLiteIntArray *ids) {
    for (int i = 0; i < ids->size; i++) {
        TfLiteTensor *tensor = wanted(session, ids->data[i]);
        if (tensor != NULL) take(tensor);
    }
}

static void give_back(const struct djlplan_tflite_session *session, const TfLiteIntArray *ids) {
    for (int i = 0; i < ids->size; i++) {
        TfLiteTensor *tensor = wanted(session, ids->data[i]);
        if (tensor != NULL && is_ours(tensor)) tensor->allocation_type = kTfLiteArenaRw;
    }
}

/*
 * Stands in for a kernel's prepare. Kernels choose their algorithm by the allocation type of their
 * inputs (a convolution whose filter lies in the engine's arena is not run on several threads), so
 * the kernel sees the tensors as a stock interpreter would show them; then we take them, and the
 * temporaries that it asked for.
 */
static TfLiteStatus prepare_node(TfLiteContext *context, TfLiteNode *node) {
    struct djlplan_tflite_session *session = current;
    if (session == NULL || session->context != context) return kTfLiteError;
    struct hook key = {node, NULL};
    const struct hook *hook =
        bsearch(&key, session->hooks, (size_t)session->hook_count, sizeof key, by_address);
    if (hook == NULL) return kTfLiteError;
    give_back(session, node->inputs);
    give_back(session, node->outputs);
    TfLiteStatus status = hook->prepare == NULL ? kTfLiteOk : hook->prepare(context, node);
    take_wanted(session, node->inputs);
    take_wanted(session, node->outputs);
    if (status != kTfLiteOk || node->temporaries == NULL) return status;
    for (int i = 0; i < node->temporaries->size; i++) {
        int id = node->temporaries->data[i];
        if (id >= 0 && (size_t)id < context->tensors_size) take(&context->tensors[id]);
    }
    return kTfLiteOk;
}

static void *zeroed(int count, size_t size) { return calloc((size_t)count + 1, size); }

/*
 * Reads the execution plan and, in a planned session, hooks every node. The engine offers its
 * subgraphs one by one, the model itself first; those that operators call are left to the engine.
 */
static TfLiteStatus prepare_delegate(TfLiteContext *context, TfLiteDelegate *delegate) {
    struct djlplan_tflite_session *session = delegate->data;
    if (session->context != NULL) return kTfLiteOk;
    TfLiteIntArray *plan;
    TfLiteStatus status = context->GetExecutionPlan(context, &plan);
    if (status != kTfLiteOk) return status;
    session->context = context;
    session->nodes = zeroed(plan->size, sizeof *session->nodes);
    session->builtin_codes = zeroed(plan->size, sizeof *session->builtin_codes);
    session->hooks = zeroed(plan->size, sizeof *session->hooks);
    if (!session->nodes || !session->builtin_codes || !session->hooks) return kTfLiteError;
    for (int i = 0; i < plan->size; i++) {
        TfLiteNode *node;
        TfLiteRegistration *registration;
        status = context->GetNodeAndRegistration(context, plan->data[i], &node, &registration);
        if (status != kTfLiteOk) return status;
        session->nodes[i] = node;
        session->builtin_codes[i] = registration->builtin_code;
        session->node_count++;
        if (!session->temporaries) continue;
        session->hooks[session->hook_count++] = (struct hook){node, registration->prepare};
        registration->prepare = prepare_node;
    }
    qsort(session->hooks, (size_t)session->hook_count, sizeof *session->hooks, by_address);
    for (int i = 0; i < session->wanted_count; i++) {
        TfLiteTensor *tensor = wanted(session, session->wanted[i]);
        if (tensor != NULL) take(tensor);
    }
    return kTfLiteOk;
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
    tflite.InterpreterOptionsAddDelegate(options, &session->delegate);
    session->interpreter = tflite.InterpreterCreate(model, options);
    tflite.InterpreterOptionsDelete(options);
    if (session->interpreter == NULL) {
        return session->error[0] ? session->error : "the engine could not build an interpreter";
    }
    if (session->context == NULL) return "the engine did not prepare the delegate";
    return layouts_hold(session) ? NULL : "the engine's structs are laid out unexpectedly";
}

struct djlplan_tflite_session *djlplan_tflite_session_create(
    const void *model, int threads, const int32_t *planned, int planned_count, int temporaries,
    char *message, int64_t message_bytes) {
    struct djlplan_tflite_session *session = calloc(1, sizeof *session);
    if (session == NULL) {
        snprintf(message, (size_t)message_bytes, "out of memory");
        return NULL;
    }
    session->delegate.data = session;
    session->delegate.Prepare = prepare_delegate;
    session->delegate.flags = kTfLiteDelegateFlagsAllowDynamicTensors;
    session->temporaries = temporaries != 0;
    session->place_count = NOT_PLACED;
    session->wanted = zeroed(planned_count, sizeof *planned);
    if (session->wanted != NULL && planned_count > 0) {
        memcpy(session->wanted, planned, (size_t)planned_count * sizeof *planned);
        qsort(session->wanted, (size_t)planned_count, sizeof *planned, by_id);
        session->wanted_count = planned_count;
    }
    const char *problem =
        session->wanted == NULL ? "out of memory" : build(session, model, threads);
    if (problem == NULL) return session;
    snprintf(message, (size_t)message_bytes, "%s", problem);
    djlplan_tflite_session_delete(session);
    return NULL;
}

void djlplan_tflite_session_delete(struct djlplan_tflite_session *session) {
    if (session->interpreter != NULL) tflite.InterpreterDelete(session->interpreter);
    free(session->nodes);
    free(session->builtin_codes);
    free(session->hooks);
    free(session->wanted);
    free(session->places);
    free(session);
}

const char *djlplan_tflite_error(const struct djlplan_tflite_session *session) {
    return session->error;
}

/* Runs one of the engine's functions with this session as the thread's current one. */
static int enter(struct djlplan_tflite_session *session, TfLiteStatus (*function)(void *)) {
    session->error[0] = '\0';
    current = session;
    TfLiteStatus status = function(session->interpreter);
    current = NULL;
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

/* ---- the live graph -------------------------------------------------------------------- */

/* Counts every element and stores those that fit. */
struct sink {
    int32_t *out;
    int64_t capacity;
    int64_t count;
};

static void put(struct sink *sink, int32_t value) {
    if (sink->count < sink->capacity) sink->out[sink->count] = value;
    sink->count++;
}

static void put_array(struct sink *sink, const TfLiteIntArray *array) {
    int size = array == NULL ? 0 : array->size;
    put(sink, size);
    for (int i = 0; i < size; i++) put(sink, array->data[i]);
}

int64_t djlplan_tflite_nodes(const struct djlplan_tflite_session *session, int32_t *out,
                             int64_t capacity) {
    struct sink sink = {out, capacity, 0};
    for (int i = 0; i < session->node_count; i++) {
        put(&sink, session->builtin_codes[i]);
        put_array(&sink, session->nodes[i]->inputs);
        put_array(&sink, session->nodes[i]->outputs);
        put_array(&sink, session->nodes[i]->temporaries);
    }
    return sink.count;
}

int64_t djlplan_tflite_tensors(const struct djlplan_tflite_session *session, int32_t *out,
                               int64_t capacity) {
    struct sink sink = {out, capacity, 0};
    for (size_t i = 0; i < session->context->tensors_size; i++) {
        const TfLiteTensor *tensor = &session->context->tensors[i];
        put(&sink, tensor->type);
        put(&sink, tensor->allocation_type);
        put(&sink, tensor->is_variable);
        put(&sink, is_ours(tensor));
        put_array(&sink, tensor->dims);
    }
    return sink.count;
}

int64_t djlplan_tflite_sizes(const struct djlplan_tflite_session *session, int64_t *out,
                             int64_t capacity) {
    int64_t count = 2 * (int64_t)session->context->tensors_size;
    for (int64_t i = 0; i + 1 < count && i + 1 < capacity; i += 2) {
        const TfLiteTensor *tensor = &session->context->tensors[i / 2];
        out[i] = (int64_t)tensor->bytes;
        out[i + 1] = (int64_t)(intptr_t)tensor->data;
    }
    return count;
}

/* ---- the plan -------------------------------------------------------------------------- */

static int64_t count_ours(const TfLiteContext *context) {
    int64_t count = 0;
    for (size_t i = 0; i < context->tensors_size; i++) {
        count += is_ours(&context->tensors[i]) && context->tensors[i].bytes > 0;
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
    session->places = zeroed(count, sizeof *session->places);
    if (session->places == NULL) return refuse(session, "out of memory", 0);
    for (int i = 0; i < count; i++) {
        if (ids[i] < 0 || (size_t)ids[i] >= context->tensors_size ||
            !is_ours(&context->tensors[ids[i]])) {
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
        if (!is_ours(tensor) || tensor->bytes != place->bytes ||
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
