/* Finds the engine's library among the loaded ones, and admits supported releases only. */
#define _GNU_SOURCE
#include "functions.h"
#include "tflite_session.h"

#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct tflite_api djlplan_tflite;                    /* guarded by attach_lock until attached */
const struct tflite_release *djlplan_tflite_release; /* likewise */

static const struct tflite_release releases[] = {
    {"2.6.2", 64, false, false, false},
    {"2.20.0", 88, true, true, true},
    {"2.21.0", 88, true, true, true},
};

/*
 * File names of the engine's library in DJL and in bytedeco's presets. The first loaded one is
 * used.
 */
static const char *const file_names[] = {"libtensorflowlite_jni.so", "libjnitensorflowlite.so"};
enum { FILE_NAMES = sizeof file_names / sizeof file_names[0] };

static const struct {
    const char *name;
    void *slot;
} functions[] = {
#define ENTRY(result, name, arguments) {"TfLite" #name, &djlplan_tflite.name},
    TFLITE_FUNCTIONS(ENTRY)
#undef ENTRY
};

/* Guards attaching; afterwards the engine and its functions do not change. */
static pthread_mutex_t attach_lock = PTHREAD_MUTEX_INITIALIZER;
static void *engine; /* guarded by attach_lock; NULL until attached */
enum { PROBLEM_BYTES = 256 };

/* A file name to look for, and the path once it is found. */
struct search {
    const char *name;
    char *path;
};

/*
 * Copies the path of the engine's library. It does not call dlopen, because dl_iterate_phdr holds
 * one of the loader's locks here, and a concurrent dlopen takes the loader's locks in another
 * order, so both would deadlock.
 */
static int find_library(struct dl_phdr_info *info, size_t size, void *found) {
    (void)size;
    struct search *search = found;
    const char *slash = strrchr(info->dlpi_name, '/');
    if (slash == NULL || strcmp(slash + 1, search->name) != 0) return 0;
    search->path = strdup(info->dlpi_name);
    return 1;
}

static void *open_library(void) {
    struct search search = {NULL, NULL};
    for (int i = 0; i < FILE_NAMES && search.path == NULL; i++) {
        search.name = file_names[i];
        dl_iterate_phdr(find_library, &search);
    }
    void *library = search.path == NULL ? NULL : djlplan_loaded(search.path);
    free(search.path);
    return library;
}

/* Returns the release of a version, or NULL with the reason in `problem`. */
static const struct tflite_release *admitted(const char *version, char *problem) {
    int count = sizeof releases / sizeof releases[0];
    for (int i = 0; i < count; i++) {
        if (strcmp(version, releases[i].version) == 0) return &releases[i];
    }
    int used =
        snprintf(problem, PROBLEM_BYTES, "TensorFlow Lite %.40s is not supported, only", version);
    for (int i = 0; i < count; i++) {
        used += snprintf(problem + used, (size_t)(PROBLEM_BYTES - used), "%s %s", i == 0 ? "" : ",",
                         releases[i].version);
    }
    return NULL;
}

static bool attach_to(void *library, char *problem) {
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (!djlplan_find(library, functions[i].name, functions[i].slot)) {
            snprintf(problem, PROBLEM_BYTES, "TensorFlow Lite has no %s", functions[i].name);
            return false;
        }
    }
    djlplan_tflite_release = admitted(djlplan_tflite.Version(), problem);
    return djlplan_tflite_release != NULL;
}

int djlplan_tflite_attach(char *message, int64_t message_bytes) {
    char problem[PROBLEM_BYTES] = "TensorFlow Lite is not loaded";
    pthread_mutex_lock(&attach_lock);
    void *library = engine == NULL ? open_library() : NULL;
    if (library != NULL && attach_to(library, problem)) {
        engine = library;
    } else if (library != NULL) {
        dlclose(library);
    }
    bool attached = engine != NULL;
    pthread_mutex_unlock(&attach_lock);
    if (!attached) snprintf(message, (size_t)message_bytes, "%s", problem);
    return attached ? DJLPLAN_OK : DJLPLAN_ENGINE_ERROR;
}

int djlplan_tflite_tells_in_place(void) {
    return djlplan_tflite_release->registration_bytes >= (int64_t)sizeof(TfLiteLaterRegistration);
}

bool djlplan_tflite_function(const char *name, void *function) {
    return djlplan_find(engine, name, function);
}

void *djlplan_tflite_model_create(const void *bytes, int64_t length) {
    return djlplan_tflite.ModelCreate(bytes, (size_t)length);
}

void djlplan_tflite_model_delete(void *model) { djlplan_tflite.ModelDelete(model); }
