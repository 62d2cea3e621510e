/* What the parts of the TensorFlow Lite session share. */
#ifndef DJLPLAN_TFLITE_SESSION_H
#define DJLPLAN_TFLITE_SESSION_H

#include "djlplan.h"
#include "tflite_abi.h"

#include <stdlib.h>

enum { ALIGNMENT = 64, NOT_PLACED = -1 };

/* A node whose functions we stand in for. Entries are sorted by address, as nodes are. */
struct hook {
    TfLiteNode *node;
    TfLiteNodeFunction prepare;
    TfLiteNodeFunction invoke;
    int index; /* in execution order */
};

/* A list of ids. */
struct ids {
    int32_t *values;
    int count;
};

struct djlplan_tflite_session {
    TfLiteDelegate wrapper;
    void *interpreter;
    TfLiteContext *context;
    char error[512];
    /* what was asked for: tensors to place and operators to delegate, both ascending */
    struct ids wanted;
    struct ids chosen;
    bool temporaries;
    bool preview;
    bool timed;
    TfLiteDelegate *real; /* NULL: nothing is delegated */
    TfLiteReplaceFunction replace;
    TfLiteStatus (*get_plan)(TfLiteContext *, TfLiteIntArray **);
    TfLiteIntArray *shown; /* the execution plan that the real delegate was shown */
    /* what the real delegate reports: count and ids of each partition */
    struct ids partitions;
    /* execution plan */
    TfLiteNode **nodes;
    int32_t *node_ids;
    int32_t *builtin_codes;
    int64_t *nanos; /* of the last inference, when timed */
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
