/*
 * Which operator makes each allocation of a run, as libtorch tells those who observe its operators.
 * For reports: nothing is observed before somebody asks.
 */
#define _GNU_SOURCE
#include "torch_run.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAME_BYTES = 200 };

atomic_bool djlplan_names_kept;

static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;
static char *text; /* guarded by names_lock, as what follows */
static size_t text_bytes, text_capacity;
static bool incomplete;

/* Operators call one another: what a model asked for is the outermost, which names the others. */
static _Thread_local struct {
    int depth;
    const char *outermost; /* the engine's, until that operator ends */
} running;

#ifdef __x86_64__

/* Written once, under names_lock, before any operator is observed. */
static const char *(*name_of)(const void *);

/*
 * Returns a unique_ptr, which C++ wants written where its first, hidden argument points. (Other
 * processors pass that elsewhere.)
 */
static void **operator_begins(void **context, const void *function) {
    *context = NULL;
    if (running.depth++ == 0) running.outermost = name_of(function);
    return context;
}

static void operator_ends(const void *function, void *context) {
    (void)function;
    (void)context;
    if (running.depth > 0 && --running.depth == 0) running.outermost = NULL;
}

static const char *observe(void) {
    if (name_of != NULL) return NULL;
    void *library = dlopen(TORCH_CPU, RTLD_NOLOAD | RTLD_LAZY);
    void *add = library == NULL ? NULL : dlsym(library, TORCH_ADD_CALLBACK);
    void *name = library == NULL ? NULL : dlsym(library, TORCH_OPERATOR_NAME);
    if (add == NULL || name == NULL) return "libtorch does not tell them";
    name_of = (const char *(*)(const void *))(uintptr_t)name;
    torch_record_callback callback = {operator_begins, operator_ends, 1, {true}};
    ((uint64_t (*)(torch_record_callback))(uintptr_t)add)(callback);
    return NULL;
}

#else

static const char *observe(void) { return "they are observed on x86-64 only"; }

#endif

int djlplan_torch_names_begin(char *message, int64_t message_bytes) {
    pthread_mutex_lock(&names_lock);
    const char *problem = observe();
    text_bytes = 0;
    incomplete = false;
    pthread_mutex_unlock(&names_lock);
    if (problem != NULL) {
        if (message_bytes > 0) snprintf(message, (size_t)message_bytes, "%s", problem);
        return DJLPLAN_ENGINE_ERROR;
    }
    atomic_store(&djlplan_names_kept, true);
    return DJLPLAN_OK;
}

/* The caller holds the lock. */
static bool ensure_text(size_t more) {
    if (text_capacity - text_bytes >= more) return true;
    size_t capacity = 2 * text_capacity + more;
    char *larger = realloc(text, capacity);
    if (larger == NULL) return false;
    text = larger;
    text_capacity = capacity;
    return true;
}

void djlplan_names_note(size_t bytes) {
    char line[MOST_NAME_BYTES + 32];
    const char *name = running.outermost == NULL ? "" : running.outermost;
    int length = snprintf(line, sizeof line, "%zu %.*s\n", bytes, MOST_NAME_BYTES, name);
    pthread_mutex_lock(&names_lock);
    if (length > 0 && ensure_text((size_t)length)) {
        memcpy(text + text_bytes, line, (size_t)length);
        text_bytes += (size_t)length;
    } else {
        incomplete = true;
    }
    pthread_mutex_unlock(&names_lock);
}

void djlplan_torch_names_end(void) { atomic_store(&djlplan_names_kept, false); }

int64_t djlplan_torch_names(char *out, int64_t capacity) {
    pthread_mutex_lock(&names_lock);
    int64_t count = incomplete ? -1 : (int64_t)text_bytes;
    if (count > 0 && count <= capacity) memcpy(out, text, text_bytes);
    pthread_mutex_unlock(&names_lock);
    return count;
}
