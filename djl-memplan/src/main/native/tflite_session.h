/* Sessions with TensorFlow Lite: the declarations that tflite_*.c and xnnpack_*.c share. */
#ifndef DJLPLAN_TFLITE_SESSION_H
#define DJLPLAN_TFLITE_SESSION_H

#include "arena.h"
#include "stream.h"
#include "tflite_abi.h"
#include "xnnpack_workspace.h"

#include <stdlib.h>

/* ---- tflite_engine.c ------------------------------------------------------------------- */

typedef void (*tflite_reporter)(void *, const char *, va_list);

/*
 * The engine's C API: the result, name and arguments of each function, whose symbol begins with
 * TfLite. In later releases TensorRealloc returns a status.
 */
#define TFLITE_FUNCTIONS(FUNCTION)                                                                 \
    FUNCTION(const char *, Version, (void))                                                        \
    FUNCTION(void *, ModelCreate, (const void *, size_t))                                          \
    FUNCTION(void, ModelDelete, (void *))                                                          \
    FUNCTION(void *, InterpreterOptionsCreate, (void))                                             \
    FUNCTION(void, InterpreterOptionsDelete, (void *))                                             \
    FUNCTION(void, InterpreterOptionsSetNumThreads, (void *, int32_t))                             \
    FUNCTION(void, InterpreterOptionsAddDelegate, (void *, TfLiteDelegate *))                      \
    FUNCTION(void, InterpreterOptionsSetErrorReporter, (void *, tflite_reporter, void *))          \
    FUNCTION(void *, InterpreterCreate, (const void *, const void *))                              \
    FUNCTION(void, InterpreterDelete, (void *))                                                    \
    FUNCTION(TfLiteStatus, InterpreterAllocateTensors, (void *))                                   \
    FUNCTION(TfLiteStatus, InterpreterInvoke, (void *))                                            \
    FUNCTION(TfLiteStatus, InterpreterResizeInputTensor, (void *, int32_t, const int *, int32_t))  \
    FUNCTION(int32_t, InterpreterGetInputTensorCount, (const void *))                              \
    FUNCTION(int32_t, InterpreterGetOutputTensorCount, (const void *))                             \
    FUNCTION(TfLiteTensor *, InterpreterGetInputTensor, (const void *, int32_t))                   \
    FUNCTION(const TfLiteTensor *, InterpreterGetOutputTensor, (const void *, int32_t))            \
    FUNCTION(int32_t, TensorType, (const TfLiteTensor *))                                          \
    FUNCTION(size_t, TensorByteSize, (const TfLiteTensor *))                                       \
    FUNCTION(int32_t, TensorNumDims, (const TfLiteTensor *))                                       \
    FUNCTION(const char *, TensorName, (const TfLiteTensor *))                                     \
    FUNCTION(void *, TensorData, (const TfLiteTensor *))                                           \
    FUNCTION(void, TensorRealloc, (size_t, TfLiteTensor *))

/* The addresses of these functions, which do not change once attached. */
struct tflite_api {
#define DECLARE(result, name, arguments) result(*name) arguments;
    TFLITE_FUNCTIONS(DECLARE)
#undef DECLARE
};

extern struct tflite_api djlplan_tflite;

/* The differences between the engine's releases. */
struct tflite_release {
    const char *version;
    int64_t registration_bytes; /* of a TfLiteRegistration */
    bool xnnpack_defaults;      /* XNNPACK's delegate has more options, with defaults */
    bool kernels_rebind;    /* XNNPACK's kernels read their tensors' addresses in each inference */
    bool shares_workspaces; /* the layout of XNNPACK's allocator and workspaces is known */
};

/* The release of the attached library. */
extern const struct tflite_release *djlplan_tflite_release;

/* Writes the address of a function of the engine's library to `function`. Only when attached. */
bool djlplan_tflite_function(const char *name, void *function);

/* ---- sessions -------------------------------------------------------------------------- */

/* A list of ids. */
struct ids {
    int32_t *values;
    int count;
};

/* A node of the execution plan, and its original functions. */
struct node {
    TfLiteNode *node;
    int32_t id;
    int32_t builtin_code;
    int32_t in_place; /* as djlplan_tflite_nodes says */
    TfLiteNodeFunction prepare;
    TfLiteNodeFunction invoke;
    bool computed; /* some checked operands or sizes may be known only when it runs */
    int64_t nanos; /* in the last inference, when timed */
};

/* A graph of the model, and its execution plan. */
struct graph {
    TfLiteContext *context;
    struct node *nodes;
    struct node **by_address; /* in the order of the engine's nodes in memory */
    int node_count;
    struct graph *next;
};

/* A constant whose content is outside the model's memory, and its address. */
struct constant {
    int32_t tensor;
    void *data;
};

/* The task of another delegate, and the engine's original functions while it prepares. */
struct delegation {
    enum { DELEGATES_NOTHING, DELEGATES_CHOSEN, DELEGATES_PREVIEW } kind;
    TfLiteDelegate *real;       /* NULL for nothing */
    struct constant *constants; /* constants with another address meanwhile */
    int constant_count;
    union {
        TfLiteReplaceFunction replace;
        TfLiteLaterReplaceFunction later_replace;
    };
    TfLiteStatus (*get_plan)(TfLiteContext *, TfLiteIntArray **);
    union {
        struct {
            struct ids operators;  /* ascending */
            TfLiteIntArray *shown; /* the execution plan that the delegate was shown */
        } chosen;
        struct ids partitions; /* of a preview: count and ids of each partition */
    };
};

struct placed_tensor {
    int32_t id;
    struct place place;
};

/* The current plan, if there is one. */
struct tensor_plan {
    bool taken;
    struct placed_tensor *tensors; /* by ascending id */
    int count;
    int64_t arena_bytes;
    char *bound; /* the arena that the tensors point into, or NULL */
};

/* A copy of a constant that a kernel makes in its first inference, and reads from then on. */
struct derived {
    int32_t step;
    int32_t tensor;
    int32_t constant;
};

/* Constants that are loaded during an inference. */
struct streaming {
    bool wanted;
    struct derived *derived;
    int derived_count, derived_capacity;
    struct djlplan_stream *stream;    /* NULL until it is set with the following fields */
    struct djlplan_binding *bindings; /* by ascending step */
    void **original;                  /* original address of each tensor */
    int count;
    int *first;                     /* by step: its first binding; one more than there are steps */
    bool *elided;                   /* by step */
    const int64_t *capture_offsets; /* of each derived tensor, while they are written to a file */
    int capture_file;
};

struct djlplan_tflite_session {
    TfLiteDelegate wrapper;
    void *interpreter;
    char error[512];
    /* what the caller requested */
    struct ids wanted; /* the tensors to place, ascending */
    bool temporaries;  /* and the kernels' temporaries */
    bool timed;
    struct delegation delegation;
    const struct djlplan_tflite_session *shapes_of; /* until it is built; NULL for the file's */
    struct graph graph; /* the main one, followed by those that operators call */
    bool unsound;       /* this library's checks caused the last failure */
    struct tensor_plan plan;
    struct streaming streaming;
};

/*
 * The session for which this thread is inside the engine, because kernels' functions get only the
 * node.
 */
extern _Thread_local struct djlplan_tflite_session *djlplan_tflite_current;

/* tflite_prepare.c: the wrapping delegate's Prepare. */
TfLiteStatus djlplan_tflite_prepare(TfLiteContext *context, TfLiteDelegate *wrapper);

/* ---- tflite_guard.c -------------------------------------------------------------------- */

/*
 * Check a kernel before and after it prepares. Return false, with the session's error, if the
 * engine must stop.
 */
bool djlplan_guard_before(struct djlplan_tflite_session *session, const TfLiteContext *context,
                          const TfLiteNode *node, int32_t code);
bool djlplan_guard_after(struct djlplan_tflite_session *session, const TfLiteContext *context,
                         const TfLiteNode *node, int32_t code);
/*
 * Marks outputs as dynamic, as earlier releases do, if their sizes are known only at run time. Must
 * be called before a tensor is placed or its address read.
 */
void djlplan_guard_unknown(const TfLiteContext *context, const TfLiteNode *node);
/*
 * Returns whether an operator has checked operands that are not constants of the file, or checked
 * sizes that may be known only when it runs.
 */
bool djlplan_guard_computed(const TfLiteContext *context, const TfLiteNode *node, int32_t code);
/* Checks computed operands and sizes before the operator runs. */
bool djlplan_guard_operands(struct djlplan_tflite_session *session, const TfLiteContext *context,
                            const TfLiteNode *node, int32_t code);

/* ---- tflite_delegate.c ----------------------------------------------------------------- */

/* A delegate and the function that deletes it. */
struct djlplan_delegate {
    TfLiteDelegate *delegate;
    void (*destroy)(TfLiteDelegate *);
    struct workspace workspace; /* XNNPACK only, if workspaces can be shared */
};

/* Returns whether the delegate's kernels read their tensors' addresses in each inference. */
bool djlplan_tflite_rebinds(const TfLiteDelegate *delegate);

/* ---- xnnpack_weights.c ----------------------------------------------------------------- */

/*
 * Enclose the building of an interpreter on this thread; the second returns whether packed weights
 * were missing.
 */
void djlplan_packed_expect(void);
bool djlplan_packed_missed(void);

/* ---- tflite_stream.c ------------------------------------------------------------------- */

/*
 * Called after a node's prepare: records the tensors that it derives from constants. False if there
 * is no memory.
 */
bool djlplan_tflite_take_derived(struct djlplan_tflite_session *session, const struct node *known);
/* Returns whether a tensor is derived from constants in a streamed session. */
bool djlplan_tflite_is_derived(const struct djlplan_tflite_session *session, int32_t tensor);
/* Waits until a node's constants are loaded, and runs it. */
TfLiteStatus djlplan_tflite_invoke_step(struct djlplan_tflite_session *session, struct node *known);
void djlplan_tflite_forget_streaming(struct djlplan_tflite_session *session);

static inline bool djlplan_tflite_is_ours(const TfLiteTensor *tensor) {
    return tensor->allocation_type == kTfLiteCustom;
}

/* Returns zeroed memory for count elements and one more, so that a count of 0 does not return NULL. */
static inline void *djlplan_zeroed_plus_one(int count, size_t size) {
    return calloc((size_t)count + 1, size);
}

/* Compares two ids, for lists in ascending order. */
static inline int djlplan_compare_ids(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

#endif
