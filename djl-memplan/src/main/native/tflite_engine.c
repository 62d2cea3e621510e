/* The engine's library: found among those of the process, and only used in the version we know. */
#define _GNU_SOURCE
#include "tflite_session.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct tflite_api djlplan_tflite; /* guarded by attach_lock until attached */

static const struct {
    const char *name;
    void *slot;
} functions[] = {
#define FUNCTION(name) "TfLite" #name, &djlplan_tflite.name
    {FUNCTION(Version)},
    {FUNCTION(ModelCreate)},
    {FUNCTION(ModelDelete)},
    {FUNCTION(InterpreterOptionsCreate)},
    {FUNCTION(InterpreterOptionsDelete)},
    {FUNCTION(InterpreterOptionsSetNumThreads)},
    {FUNCTION(InterpreterOptionsAddDelegate)},
    {FUNCTION(InterpreterOptionsSetErrorReporter)},
    {FUNCTION(InterpreterCreate)},
    {FUNCTION(InterpreterDelete)},
    {FUNCTION(InterpreterAllocateTensors)},
    {FUNCTION(InterpreterInvoke)},
    {FUNCTION(InterpreterResizeInputTensor)},
    {FUNCTION(InterpreterGetInputTensorCount)},
    {FUNCTION(InterpreterGetOutputTensorCount)},
    {FUNCTION(InterpreterGetInputTensor)},
    {FUNCTION(InterpreterGetOutputTensor)},
    {FUNCTION(TensorType)},
    {FUNCTION(TensorByteSize)},
    {FUNCTION(TensorNumDims)},
    {FUNCTION(TensorName)},
    {FUNCTION(TensorData)},
#undef FUNCTION
};

/* Until we are attached. Then the engine and its functions do not change. */
static pthread_mutex_t attach_lock = PTHREAD_MUTEX_INITIALIZER;
static char attach_problem[256]; /* guarded by attach_lock */
static void *engine;             /* guarded by attach_lock; NULL until attached */

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
    if (strcmp(djlplan_tflite.Version(), DJLPLAN_TFLITE_VERSION) != 0) {
        snprintf(attach_problem, sizeof attach_problem,
                 "TensorFlow Lite %s is not supported, only " DJLPLAN_TFLITE_VERSION,
                 djlplan_tflite.Version());
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
    return djlplan_tflite.ModelCreate(bytes, (size_t)length);
}

void djlplan_tflite_model_delete(void *model) { djlplan_tflite.ModelDelete(model); }
