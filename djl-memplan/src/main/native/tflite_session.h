/*
 * A session with TensorFlow Lite: what tflite_engine.c (its library), tflite_session.c,
 * tflite_prepare.c (the wrapping delegate) and tflite_graph.c share.
 */
#ifndef DJLPLAN_TFLITE_SESSION_H
#define DJLPLAN_TFLITE_SESSION_H

#include "arena.h"
#include "tflite_abi.h"

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
};

extern struct tflite_api djlplan_tflite;

/* A function of the engine's library, or NULL. Only when attached. */
void *djlplan_tflite_symbol(const char *name);

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
    TfLiteNodeFunction prepare;
    TfLiteNodeFunction invoke;
    int64_t nanos; /* in the last inference, when timed */
};

/* What another delegate is to do, and what the engine's functions are while it prepares. */
struct delegation {
    enum { DELEGATES_NOTHING, DELEGATES_CHOSEN, DELEGATES_PREVIEW } kind;
    TfLiteDelegate *real; /* NULL for nothing */
    TfLiteReplaceFunction replace;
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
    /* the execution plan */
    struct node *nodes;
    struct node **by_address; /* in the order of the engine's nodes in memory */
    int node_count;
    struct tensor_plan plan;
};

/* The session for which this thread is inside the engine. Kernels' functions get only the node. */
extern _Thread_local struct djlplan_tflite_session *djlplan_tflite_current;

/* tflite_prepare.c: the wrapping delegate's Prepare. */
TfLiteStatus djlplan_tflite_prepare(TfLiteContext *context, TfLiteDelegate *wrapper);

static inline bool djlplan_tflite_is_ours(const TfLiteTensor *tensor) {
    return tensor->allocation_type == kTfLiteCustom;
}

static inline void *djlplan_zeroed(int count, size_t size) {
    return calloc((size_t)count + 1, size);
}

#endif
