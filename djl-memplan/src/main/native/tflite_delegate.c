/* Creates and deletes native delegates of TensorFlow Lite. */
#define _GNU_SOURCE
#include "functions.h"
#include "tflite_session.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * TfLiteXNNPackDelegateOptions. In every release the number of threads comes first; releases with
 * default options also have flags.
 */
struct xnnpack_options {
    int32_t num_threads;
    uint32_t runtime_flags;
    uint32_t flags;
    void *packed_weights;
    char more[104];
};
DJLPLAN_AT(struct xnnpack_options, packed_weights, 16);

/* Indirection buffers of convolutions are built for each inference, in the workspace. */
#define TRANSIENT_INDIRECTION_BUFFER 0x20u

typedef TfLiteDelegate *(*xnnpack_create)(const struct xnnpack_options *);
/* Returned by value; a release writes as many bytes as its own struct has. */
typedef struct xnnpack_options (*xnnpack_defaults)(void);
typedef void (*delegate_destroy)(TfLiteDelegate *);
/* The interface of TensorFlow Lite's external delegates. */
typedef TfLiteDelegate *(*plugin_create)(char **keys, char **values, size_t count,
                                         void (*report)(const char *));

/* The Prepare function that identifies XNNPACK's delegates; NULL before the first one. */
static _Atomic(TfLiteStatus (*)(TfLiteContext *, TfLiteDelegate *)) xnnpack_prepare;

/*
 * The error of this thread's last failed creation. It is thread-local because the external-delegate
 * interface passes only the message.
 */
static _Thread_local char complaint[512];

static void complain(const char *text) { snprintf(complaint, sizeof complaint, "%s", text); }

static struct djlplan_delegate *keep(TfLiteDelegate *delegate, delegate_destroy destroy) {
    struct djlplan_delegate *kept = delegate == NULL ? NULL : malloc(sizeof *kept);
    if (kept != NULL) {
        *kept = (struct djlplan_delegate){.delegate = delegate, .destroy = destroy};
    } else if (delegate != NULL) {
        destroy(delegate);
    }
    return kept;
}

static struct djlplan_delegate *xnnpack(int threads, bool transient, void *packed) {
    xnnpack_create create;
    xnnpack_defaults defaults = NULL;
    delegate_destroy destroy;
    if (!djlplan_tflite_function("TfLiteXNNPackDelegateCreate", &create) ||
        !djlplan_tflite_function("TfLiteXNNPackDelegateDelete", &destroy) ||
        (djlplan_tflite_release->xnnpack_defaults &&
         !djlplan_tflite_function("TfLiteXNNPackDelegateOptionsDefault", &defaults))) {
        complain("the engine's library has no XNNPACK delegate");
        return NULL;
    }
    if (transient && defaults == NULL) {
        complain("XNNPACK of this release keeps its indirection buffers");
        return NULL;
    }
    struct xnnpack_options options = {0};
    if (defaults != NULL) options = defaults();
    options.num_threads = threads;
    if (transient) options.flags |= TRANSIENT_INDIRECTION_BUFFER;
    if (packed != NULL) options.packed_weights = packed;
    complain("XNNPACK could not create a delegate");
    djlplan_workspace_begin();
    TfLiteDelegate *created = create(&options);
    struct workspace workspace = djlplan_workspace_end();
    if (created != NULL) atomic_store(&xnnpack_prepare, created->Prepare);
    struct djlplan_delegate *kept = keep(created, destroy);
    if (kept != NULL) kept->workspace = workspace;
    return kept;
}

bool djlplan_tflite_rebinds(const TfLiteDelegate *delegate) {
    return djlplan_tflite_release->kernels_rebind &&
           delegate->Prepare == atomic_load(&xnnpack_prepare);
}

/* The library is never unloaded, because its code may be on a stack or registered elsewhere. */
static struct djlplan_delegate *external(const char *file) {
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        complain(dlerror());
        return NULL;
    }
    plugin_create create;
    delegate_destroy destroy;
    if (!djlplan_find(library, "tflite_plugin_create_delegate", &create) ||
        !djlplan_find(library, "tflite_plugin_destroy_delegate", &destroy)) {
        complain("the library is no external delegate of TensorFlow Lite");
        return NULL;
    }
    complain("the library created no delegate");
    return keep(create(NULL, NULL, 0, complain), destroy);
}

struct djlplan_delegate *djlplan_delegate_create(const char *library, int threads, int transient,
                                                 void *packed, char *message,
                                                 int64_t message_bytes) {
    struct djlplan_delegate *created =
        library == NULL ? xnnpack(threads, transient != 0, packed) : external(library);
    if (created == NULL) snprintf(message, (size_t)message_bytes, "%s", complaint);
    return created;
}

void *djlplan_delegate_handle(const struct djlplan_delegate *delegate) {
    return delegate->delegate;
}

void djlplan_delegate_delete(struct djlplan_delegate *delegate) {
    delegate->destroy(delegate->delegate);
    free(delegate);
}
