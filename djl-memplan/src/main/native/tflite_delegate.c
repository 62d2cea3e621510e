/* Native delegates of TensorFlow Lite: where they come from and where they go. */
#define _GNU_SOURCE
#include "tflite_session.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* TfLiteXNNPackDelegateOptions; what later versions added is zero. */
struct xnnpack_options {
    int32_t num_threads;
    uint32_t flags;
    void *reserved[8];
};

typedef TfLiteDelegate *(*xnnpack_create)(const struct xnnpack_options *);
typedef void (*delegate_destroy)(TfLiteDelegate *);
/* The interface of TensorFlow Lite's external delegates. */
typedef TfLiteDelegate *(*plugin_create)(char **keys, char **values, size_t count,
                                         void (*report)(const char *));

/* A delegate and the function that deletes it. */
struct djlplan_delegate {
    TfLiteDelegate *delegate;
    delegate_destroy destroy;
};

/* Why the last delegate of this thread was not created; the interface passes nothing else along. */
static _Thread_local char complaint[512];

static void complain(const char *text) { snprintf(complaint, sizeof complaint, "%s", text); }

static struct djlplan_delegate *keep(TfLiteDelegate *delegate, delegate_destroy destroy) {
    struct djlplan_delegate *kept = delegate == NULL ? NULL : malloc(sizeof *kept);
    if (kept != NULL) {
        *kept = (struct djlplan_delegate){delegate, destroy};
    } else if (delegate != NULL) {
        destroy(delegate);
    }
    return kept;
}

/* ISO C has no conversion from data pointers to functions; their representations are the same. */
static bool find(void *symbol, void *function) {
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static struct djlplan_delegate *xnnpack(int threads) {
    xnnpack_create create;
    delegate_destroy destroy;
    if (!find(djlplan_tflite_symbol("TfLiteXNNPackDelegateCreate"), &create) ||
        !find(djlplan_tflite_symbol("TfLiteXNNPackDelegateDelete"), &destroy)) {
        complain("the engine's library has no XNNPACK delegate");
        return NULL;
    }
    struct xnnpack_options options = {.num_threads = threads};
    complain("XNNPACK could not create a delegate");
    return keep(create(&options), destroy);
}

/* The library stays loaded: its code may be on a stack, or registered somewhere, for good. */
static struct djlplan_delegate *external(const char *file) {
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        complain(dlerror());
        return NULL;
    }
    plugin_create create;
    delegate_destroy destroy;
    if (!find(dlsym(library, "tflite_plugin_create_delegate"), &create) ||
        !find(dlsym(library, "tflite_plugin_destroy_delegate"), &destroy)) {
        complain("the library is no external delegate of TensorFlow Lite");
        return NULL;
    }
    complain("the library created no delegate");
    return keep(create(NULL, NULL, 0, complain), destroy);
}

struct djlplan_delegate *djlplan_delegate_create(const char *library, int threads, char *message,
                                                 int64_t message_bytes) {
    struct djlplan_delegate *created = library == NULL ? xnnpack(threads) : external(library);
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
