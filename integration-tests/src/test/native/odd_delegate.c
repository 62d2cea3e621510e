/*
 * An external delegate of TensorFlow Lite that takes additions of floats of one shape. ODD sets its
 * behaviour: GOOD computes the sums, WRONG computes something else, CRASH, HANG and FAIL do so in
 * an inference, REFUSE fails when it is prepared, and CHANGE moves a tensor that is not its own.
 */
#define _GNU_SOURCE
#include "tflite_abi.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { GOOD, WRONG, CRASH, HANG, FAIL, REFUSE, CHANGE, ADD = 0, FLOAT32 = 1, MOST = 256 };

/* The additions of one partition; sums that only the partition reads have memory here. */
struct kernel {
    int count;
    struct addition {
        int a, b, sum;
    } additions[MOST];
    float *inside[MOST];
};

static bool same_shape(const TfLiteTensor *x, const TfLiteTensor *y) {
    return x->type == FLOAT32 && y->type == FLOAT32 && x->bytes == y->bytes &&
           x->dims->size == y->dims->size &&
           memcmp(x->dims->data, y->dims->data, sizeof(int) * (size_t)x->dims->size) == 0;
}

static void *kernel_init(TfLiteContext *context, const char *buffer, size_t bytes) {
    (void)bytes;
    const TfLiteDelegateParams *params = (const void *)buffer;
    struct kernel *kernel = calloc(1, sizeof *kernel);
    for (int i = 0; i < params->nodes_to_replace->size && i < MOST; i++) {
        TfLiteNode *node;
        TfLiteRegistration *unused;
        context->GetNodeAndRegistration(context, params->nodes_to_replace->data[i], &node, &unused);
        kernel->additions[kernel->count++] =
            (struct addition){node->inputs->data[0], node->inputs->data[1], node->outputs->data[0]};
    }
    return kernel;
}

static void kernel_free(TfLiteContext *context, void *data) {
    (void)context;
    struct kernel *kernel = data;
    for (int i = 0; i < kernel->count; i++) free(kernel->inside[i]);
    free(kernel);
}

static float *memory_of(TfLiteContext *context, struct kernel *kernel, int id) {
    if (context->tensors[id].data != NULL) return context->tensors[id].data;
    for (int i = 0; i < kernel->count; i++) {
        if (kernel->additions[i].sum != id) continue;
        if (kernel->inside[i] == NULL) kernel->inside[i] = malloc(context->tensors[id].bytes);
        return kernel->inside[i];
    }
    return NULL;
}

/* Moves the first tensor whose memory the caller placed; every operator has read it by now. */
static void move_tensor(TfLiteContext *context) {
    for (size_t i = 0; i < context->tensors_size; i++) {
        if (context->tensors[i].allocation_type == kTfLiteCustom) {
            context->tensors[i].data = NULL;
            return;
        }
    }
}

static TfLiteStatus kernel_invoke(TfLiteContext *context, TfLiteNode *node) {
    if (ODD == CRASH) raise(SIGSEGV);
    if (ODD == HANG) pause();
    if (ODD == FAIL) return kTfLiteError;
    if (ODD == CHANGE) move_tensor(context);
    struct kernel *kernel = node->user_data;
    for (int i = 0; i < kernel->count; i++) {
        const struct addition *add = &kernel->additions[i];
        const float *a = memory_of(context, kernel, add->a);
        const float *b = memory_of(context, kernel, add->b);
        float *sum = memory_of(context, kernel, add->sum);
        if (a == NULL || b == NULL || sum == NULL) return kTfLiteError;
        size_t count = context->tensors[add->sum].bytes / sizeof *sum;
        for (size_t k = 0; k < count; k++) sum[k] = a[k] + b[k] + (ODD == WRONG ? 1 : 0);
    }
    return kTfLiteOk;
}

static bool takes(TfLiteContext *context, const TfLiteNode *node,
                  const TfLiteRegistration *registration) {
    return registration->builtin_code == ADD && node->inputs->size == 2 &&
           same_shape(&context->tensors[node->inputs->data[0]],
                      &context->tensors[node->inputs->data[1]]);
}

static TfLiteStatus prepare(TfLiteContext *context, TfLiteDelegate *delegate) {
    if (ODD == REFUSE) return kTfLiteError;
    TfLiteIntArray *plan;
    if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
    TfLiteIntArray *taken = malloc(sizeof *taken + sizeof(int) * (size_t)plan->size);
    taken->size = 0;
    for (int i = 0; i < plan->size; i++) {
        TfLiteNode *node;
        TfLiteRegistration *registration;
        context->GetNodeAndRegistration(context, plan->data[i], &node, &registration);
        if (takes(context, node, registration)) taken->data[taken->size++] = plan->data[i];
    }
    TfLiteRegistration kernel = {.init = kernel_init,
                                 .free = kernel_free,
                                 .invoke = kernel_invoke,
                                 .custom_name = "odd",
                                 .version = 1};
    TfLiteStatus status =
        context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, taken, delegate);
    free(taken);
    return status;
}

EXPORT TfLiteDelegate *tflite_plugin_create_delegate(char **keys, char **values, size_t count,
                                                     void (*report)(const char *)) {
    (void)keys, (void)values, (void)count, (void)report;
    TfLiteDelegate *delegate = calloc(1, sizeof *delegate);
    delegate->Prepare = prepare;
    return delegate;
}

EXPORT void tflite_plugin_destroy_delegate(TfLiteDelegate *delegate) { free(delegate); }
