/*
 * The part of TensorFlow Lite's tensorflow/lite/c/common.h that djl-plan reads or writes.
 *
 * Foreign layouts are declared only here. The structs are those of 2.6, which all admitted releases
 * share because later ones only append fields. Offsets are asserted at compile time against the
 * values known for 64-bit builds. At run time tflite_engine.c admits the releases of its table,
 * tflite_prepare.c checks the distance between nodes, and tflite_session.c compares fields read
 * through these structs with the results of the library's own accessors.
 */
#ifndef DJLPLAN_TFLITE_ABI_H
#define DJLPLAN_TFLITE_ABI_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * kTfLiteOutputShapeNotKnown is not a failure: kernels of 2.20 return it instead of making a tensor
 * dynamic.
 */
enum { kTfLiteOk = 0, kTfLiteError = 1, kTfLiteOutputShapeNotKnown = 9 };

/* TfLiteAllocationType */
enum {
    kTfLiteMemNone = 0,
    kTfLiteMmapRo,
    kTfLiteArenaRw,
    kTfLiteArenaRwPersistent,
    kTfLiteDynamic,
    kTfLitePersistentRo,
    kTfLiteCustom
};

enum { kTfLiteDelegateFlagsAllowDynamicTensors = 1 };

typedef struct {
    int size;
    int data[];
} TfLiteIntArray;

typedef struct TfLiteTensor {
    int32_t type;
    void *data;
    TfLiteIntArray *dims;
    float scale;
    int32_t zero_point;
    int32_t allocation_type;
    size_t bytes;
    const void *allocation;
    const char *name;
    void *delegate;
    int32_t buffer_handle;
    bool data_is_stale;
    bool is_variable;
    int32_t quantization_type;
    void *quantization_params;
    void *sparsity;
    const TfLiteIntArray *dims_signature;
} TfLiteTensor;

typedef struct TfLiteNode {
    TfLiteIntArray *inputs;
    TfLiteIntArray *outputs;
    TfLiteIntArray *intermediates;
    TfLiteIntArray *temporaries;
    void *user_data;
    void *builtin_data;
    const void *custom_initial_data;
    int custom_initial_data_size;
    void *delegate;
    bool might_have_side_effect;
} TfLiteNode;

struct TfLiteContext;
typedef int TfLiteStatus;
typedef TfLiteStatus (*TfLiteNodeFunction)(struct TfLiteContext *, TfLiteNode *);

typedef struct TfLiteRegistration {
    void *(*init)(struct TfLiteContext *, const char *, size_t);
    void (*free)(struct TfLiteContext *, void *);
    TfLiteNodeFunction prepare;
    TfLiteNodeFunction invoke;
    const char *(*profiling_string)(const struct TfLiteContext *, const TfLiteNode *);
    int32_t builtin_code;
    const char *custom_name;
    int version;
} TfLiteRegistration;

/* The registration of later releases; it is passed by value. */
typedef struct TfLiteLaterRegistration {
    TfLiteRegistration common;
    void *registration_external;
    void *async_kernel;
    uint64_t inplace_operator;
} TfLiteLaterRegistration;

struct TfLiteDelegate;

typedef struct TfLiteDelegateParams {
    struct TfLiteDelegate *delegate;
    TfLiteIntArray *nodes_to_replace;
    TfLiteIntArray *input_tensors;
    TfLiteIntArray *output_tensors;
} TfLiteDelegateParams;

typedef TfLiteStatus (*TfLiteReplaceFunction)(struct TfLiteContext *, TfLiteRegistration,
                                              const TfLiteIntArray *, struct TfLiteDelegate *);
typedef TfLiteStatus (*TfLiteLaterReplaceFunction)(struct TfLiteContext *, TfLiteLaterRegistration,
                                                   const TfLiteIntArray *, struct TfLiteDelegate *);

/* Only members that are used; padding members replace the others. */
typedef struct TfLiteContext {
    size_t tensors_size;
    TfLiteStatus (*GetExecutionPlan)(struct TfLiteContext *, TfLiteIntArray **);
    TfLiteTensor *tensors;
    void *impl;
    TfLiteStatus (*ResizeTensor)(struct TfLiteContext *, TfLiteTensor *, TfLiteIntArray *);
    void *unused[2];
    TfLiteStatus (*GetNodeAndRegistration)(struct TfLiteContext *, int, TfLiteNode **,
                                           TfLiteRegistration **);
    union {
        TfLiteReplaceFunction ReplaceNodeSubsetsWithDelegateKernels;
        TfLiteLaterReplaceFunction LaterReplaceNodeSubsetsWithDelegateKernels;
    };
    void *more_unused[10];
    TfLiteStatus (*PreviewDelegatePartitioning)(struct TfLiteContext *, const TfLiteIntArray *,
                                                TfLiteDelegateParams **, int *);
} TfLiteContext;

typedef struct TfLiteDelegate {
    void *data;
    TfLiteStatus (*Prepare)(TfLiteContext *, struct TfLiteDelegate *);
    void *CopyFromBufferHandle;
    void *CopyToBufferHandle;
    void *FreeBufferHandle;
    int64_t flags;
    void *opaque_delegate_builder; /* later releases only; NULL for a delegate with a Prepare */
} TfLiteDelegate;

#define DJLPLAN_AT(type, member, offset)                                                           \
    _Static_assert(offsetof(type, member) == (offset), #type "." #member " moved")

_Static_assert(sizeof(TfLiteTensor) == 112, "TfLiteTensor has another size");
DJLPLAN_AT(TfLiteTensor, data, 8);
DJLPLAN_AT(TfLiteTensor, dims, 16);
DJLPLAN_AT(TfLiteTensor, allocation_type, 32);
DJLPLAN_AT(TfLiteTensor, bytes, 40);
DJLPLAN_AT(TfLiteTensor, name, 56);
DJLPLAN_AT(TfLiteTensor, is_variable, 77);
_Static_assert(sizeof(TfLiteNode) == 80, "TfLiteNode has another size");
DJLPLAN_AT(TfLiteNode, temporaries, 24);
DJLPLAN_AT(TfLiteNode, delegate, 64);
_Static_assert(sizeof(TfLiteRegistration) == 64, "TfLiteRegistration has another size");
DJLPLAN_AT(TfLiteRegistration, prepare, 16);
DJLPLAN_AT(TfLiteRegistration, builtin_code, 40);
_Static_assert(sizeof(TfLiteLaterRegistration) == 88, "TfLiteLaterRegistration has another size");
DJLPLAN_AT(TfLiteContext, tensors, 16);
DJLPLAN_AT(TfLiteContext, ResizeTensor, 32);
DJLPLAN_AT(TfLiteContext, GetNodeAndRegistration, 56);
DJLPLAN_AT(TfLiteContext, ReplaceNodeSubsetsWithDelegateKernels, 64);
DJLPLAN_AT(TfLiteContext, PreviewDelegatePartitioning, 152);
_Static_assert(sizeof(TfLiteDelegateParams) == 32, "TfLiteDelegateParams has another size");
DJLPLAN_AT(TfLiteDelegateParams, nodes_to_replace, 8);
_Static_assert(sizeof(TfLiteDelegate) == 56, "TfLiteDelegate has another size");
DJLPLAN_AT(TfLiteDelegate, flags, 40);

#endif
