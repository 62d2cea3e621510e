/*
 * A session with TensorFlow Lite: what tflite_engine.c (its library), tflite_session.c,
 * tflite_prepare.c (the wrapping delegate) and tflite_graph.c share.
 */
#ifndef DJLPLAN_TFLITE_SESSION_H
#define DJLPLAN_TFLITE_SESSION_H

#include "arena.h"
#include "stream.h"
#include "tflite_abi.h"
#include "xnnpack_workspace.h"

#include <stdlib.h>

/* ---- tflite_engine.c ------------------------------------------------------------------- */

typedef void (*tflite_reporter)(void *, const char *, va_list);

/* The engine's C API, found by name. Does not change once attached. */
struct tflite_api {
    const char *(*Version)(void);
    void *(*ModelCreate)(const void *, size_t);
    void (*ModelDelete)(void *);
    void *(*InterpreterOptionsCreate)(void);
    void (*InterpreterOptionsDelete)(void *);
    void (*InterpreterOptionsSetNumThreads)(void *, int32_t);
    void (*InterpreterOptionsAddDelegate)(void *, TfLiteDelegate *);
    void (*InterpreterOptionsSetErrorReporter)(void *, tflite_reporter, void *);
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
    void (*TensorRealloc)(size_t, TfLiteTensor *); /* later releases return a status */
};

extern struct tflite_api djlplan_tflite;

/* What releases of the engine differ in. */
struct tflite_release {
    const char *version;
    int64_t registration_bytes; /* of a TfLiteRegistration */
    bool xnnpack_defaults;      /* there are more options of XNNPACK's delegate, with defaults */
    bool kernels_rebind;        /* XNNPACK looks in each inference where its kernels' tensors lie */
    bool shares_workspaces;     /* XNNPACK's allocator and workspaces are as we know them */
};

/* The one that we are attached to. */
extern const struct tflite_release *djlplan_tflite_release;

/* Writes the address of a function of the engine's library to `function`. Only when attached. */
bool djlplan_tflite_function(const char *name, void *function);

/* ---- sessions -------------------------------------------------------------------------- */

/* A list of ids. */
struct ids {
    int32_t *values;
    int count;
};

/* A node of the execution plan, and its functions, for which we may stand in. */
struct node {
    TfLiteNode *node;
    int32_t id;
    int32_t builtin_code;
    int32_t in_place; /* as djlplan_tflite_nodes says */
    TfLiteNodeFunction prepare;
    TfLiteNodeFunction invoke;
    bool computed; /* operands that are checked are known only as it runs */
    int64_t nanos; /* in the last inference, when timed */
};

/* A graph that an operator of the model calls. */
struct called_graph {
    TfLiteContext *context;
    struct node *nodes;
    struct node **by_address;
    int node_count;
    struct called_graph *next;
};

/* A constant of which the model's memory has no content, and where that is. */
struct constant {
    int32_t tensor;
    void *data;
};

/* What another delegate is to do, and what the engine's functions are while it prepares. */
struct delegation {
    enum { DELEGATES_NOTHING, DELEGATES_CHOSEN, DELEGATES_PREVIEW } kind;
    TfLiteDelegate *real; /* NULL for nothing */
    struct constant *constants; /* that lie elsewhere meanwhile */
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

/* The plan that was taken, if one was. */
struct tensor_plan {
    bool taken;
    struct placed_tensor *tensors; /* by ascending id */
    int count;
    int64_t arena_bytes;
    char *bound; /* the arena that the tensors point into, NULL for none yet */
};

/* A copy of a constant that a kernel makes in its first inference, and reads in its place. */
struct derived {
    int32_t step;
    int32_t tensor;
    int32_t constant;
};

/* Constants that are loaded while the model runs. */
struct streaming {
    bool wanted;
    struct derived *derived;
    int derived_count;
    struct djlplan_stream *stream; /* NULL until it is given, with what follows */
    struct djlplan_binding *bindings; /* by ascending step */
    void **original;                  /* where each one's tensor lies without them */
    int count;
    int *first;   /* by step: its first binding; one more than there are steps */
    bool *elided; /* by step */
    const int64_t *capture_offsets; /* of each derived tensor, while they are written to a file */
    int capture_file;
};

struct djlplan_tflite_session {
    TfLiteDelegate wrapper;
    void *interpreter;
    TfLiteContext *context;
    char error[512];
    /* what was asked for */
    struct ids wanted; /* the tensors to place, ascending */
    bool temporaries;  /* and the kernels' temporaries */
    bool timed;
    struct delegation delegation;
    const struct djlplan_tflite_session *shapes_of; /* until it is built; NULL for the file's */
    /* the execution plan */
    struct node *nodes;
    struct node **by_address; /* in the order of the engine's nodes in memory */
    int node_count;
    struct called_graph *called;
    bool unsound; /* the last failure is one that our own checks found */
    struct tensor_plan plan;
    struct streaming streaming;
};

/* The session for which this thread is inside the engine. Kernels' functions get only the node. */
extern _Thread_local struct djlplan_tflite_session *djlplan_tflite_current;

/* tflite_prepare.c: the wrapping delegate's Prepare. */
TfLiteStatus djlplan_tflite_prepare(TfLiteContext *context, TfLiteDelegate *wrapper);

/* ---- tflite_guard.c -------------------------------------------------------------------- */

/* Before and after a kernel prepares. False, with the session's error, if the engine must stop. */
bool djlplan_guard_before(struct djlplan_tflite_session *session, const TfLiteContext *context,
                          const TfLiteNode *node, int32_t code);
bool djlplan_guard_after(struct djlplan_tflite_session *session, const TfLiteContext *context,
                         const TfLiteNode *node, int32_t code);
/*
 * Makes results dynamic, as earlier releases do, whose sizes are known only as the model runs.
 * Whoever places a tensor, or looks where it lies, has to know that before.
 */
void djlplan_guard_unknown(const TfLiteContext *context, const TfLiteNode *node);
/* Whether an operator has operands to check that are not constants of the file. */
bool djlplan_guard_computed(const TfLiteContext *context, const TfLiteNode *node, int32_t code);
/* Before such an operator runs. */
bool djlplan_guard_operands(struct djlplan_tflite_session *session, const TfLiteContext *context,
                            const TfLiteNode *node, int32_t code);

/* ---- tflite_delegate.c ----------------------------------------------------------------- */

/* A delegate and the function that deletes it. */
struct djlplan_delegate {
    TfLiteDelegate *delegate;
    void (*destroy)(TfLiteDelegate *);
    struct workspace workspace; /* of one of XNNPACK's, where workspaces can be shared */
};

/* Whether the delegate's kernels look in each inference where their tensors lie. */
bool djlplan_tflite_rebinds(const TfLiteDelegate *delegate);

/* ---- xnnpack_weights.c ----------------------------------------------------------------- */

/* Between the two this thread builds an interpreter: whether weights of it were not found. */
void djlplan_packed_expect(void);
bool djlplan_packed_missed(void);

/* ---- tflite_stream.c ------------------------------------------------------------------- */

/* After a node's prepare: takes what it derives from constants. False without memory. */
bool djlplan_tflite_take_derived(struct djlplan_tflite_session *session, const struct node *known);
bool djlplan_tflite_is_derived(const struct djlplan_tflite_session *session, int32_t tensor);
/* Runs a node once what it reads is there. */
TfLiteStatus djlplan_tflite_invoke_step(struct djlplan_tflite_session *session, struct node *known);
void djlplan_tflite_forget_streaming(struct djlplan_tflite_session *session);

static inline bool djlplan_tflite_is_ours(const TfLiteTensor *tensor) {
    return tensor->allocation_type == kTfLiteCustom;
}

/* Returns zeroed memory for count elements and one more, so that a count of 0 does not return NULL. */
static inline void *djlplan_zeroed_plus_one(int count, size_t size) {
    return calloc((size_t)count + 1, size);
}

#endif
