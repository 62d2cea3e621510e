/*
 * An allocator for ONNX Runtime. Sessions use it if they ask for their environment's allocators.
 *
 * Allocations of a run get places in its arena, as for libtorch (run.h). The engine's default
 * allocator makes all others: weights, outputs, and allocations of the application's other
 * sessions. A header in front of these blocks has their size, for the figures.
 */
#define _GNU_SOURCE
#include "functions.h"
#include "ort_abi.h"
#include "run.h"

#include <stdio.h>

/*
 * The header before each block of the engine, and spare bytes behind it for kernels that read past
 * its end.
 */
enum { HEADER_BYTES = 64, SPARE_BYTES = 64 };
/* More bytes than any machine has. */
static const size_t TOO_MANY_BYTES = (size_t)1 << 62;
_Static_assert(HEADER_BYTES % DJLPLAN_ALIGNMENT == 0, "a header misaligns its block");

struct header {
    size_t bytes;
    enum djlplan_ort_figure kind;
};
_Static_assert(sizeof(struct header) <= HEADER_BYTES, "a header has not enough room");

/* Guarded by attach_lock. */
static pthread_mutex_t attach_lock = PTHREAD_MUTEX_INITIALIZER;
static void *environment; /* NULL: not registered */

/* Written under attach_lock before the first registration; constant afterwards. */
static const void *const *table;
static struct ort_allocator *engine;
static void *memory_info;

static _Atomic int64_t figures[DJLPLAN_ORT_FIGURES];

static _Thread_local struct djlplan_run *current;
static _Thread_local int64_t run_limit;    /* the end of the arena's part that it may use */
static _Thread_local int64_t refused;      /* the end of the first refused allocation; 0: none */
static _Thread_local bool loading;         /* this thread creates a session, or has failed to */
static _Thread_local int64_t loaded_bytes; /* weights that it allocated and has not freed */

static void *allocate_outside(size_t bytes, enum djlplan_ort_figure kind) {
    if (bytes > SIZE_MAX - HEADER_BYTES - SPARE_BYTES) return NULL;
    char *memory = engine->allocate(engine, HEADER_BYTES + bytes + SPARE_BYTES);
    if (memory == NULL) return NULL;
    *(struct header *)(void *)memory = (struct header){bytes, kind};
    atomic_fetch_add(&figures[kind], (int64_t)bytes);
    if (loading && kind == DJLPLAN_ORT_WEIGHTS_BYTES) loaded_bytes += (int64_t)bytes;
    return memory + HEADER_BYTES;
}

static void *allocate(struct ort_allocator *self, size_t bytes) {
    (void)self;
    if (bytes == 0) return NULL;
    atomic_fetch_add_explicit(&figures[DJLPLAN_ORT_ALLOCATIONS], 1, memory_order_relaxed);
    if (current != NULL) {
        char *place = djlplan_run_place(current, bytes);
        if (place != NULL && place + bytes - current->arena->base > run_limit) {
            if (refused == 0) refused = place + bytes - current->arena->base;
            (void)djlplan_run_free(place, NULL);
            /* Fails as the engine does without memory, with the engine's own error. */
            return engine->allocate(engine, TOO_MANY_BYTES);
        }
        if (place != NULL) return place;
    }
    return allocate_outside(bytes, loading ? DJLPLAN_ORT_WEIGHTS_BYTES : DJLPLAN_ORT_OUTSIDE_BYTES);
}

/* Allocates memory that a session keeps until it is released. */
static void *reserve(struct ort_allocator *self, size_t bytes) {
    (void)self;
    if (bytes == 0) return NULL;
    atomic_fetch_add_explicit(&figures[DJLPLAN_ORT_ALLOCATIONS], 1, memory_order_relaxed);
    return allocate_outside(bytes, DJLPLAN_ORT_WEIGHTS_BYTES);
}

static void deallocate(struct ort_allocator *self, void *block) {
    (void)self;
    if (block == NULL || djlplan_run_free(block, NULL)) return;
    char *memory = (char *)block - HEADER_BYTES;
    const struct header *header = (const struct header *)(void *)memory;
    atomic_fetch_sub(&figures[header->kind], (int64_t)header->bytes);
    if (loading && header->kind == DJLPLAN_ORT_WEIGHTS_BYTES) {
        loaded_bytes -= (int64_t)header->bytes;
    }
    engine->free(engine, memory);
}

static const void *info(const struct ort_allocator *self) {
    (void)self;
    return memory_info;
}

static struct ort_allocator ours = {ORT_ALLOCATOR_VERSION, allocate, deallocate, info, reserve};

static uintptr_t entry(enum ort_entry index) { return (uintptr_t)table[index]; }

/* Returns whether a call succeeded. If not, writes its message. */
static bool succeeded(void *status, char *message, int64_t message_bytes) {
    if (status == NULL) return true;
    snprintf(message, (size_t)message_bytes, "ONNX Runtime: %s",
             ((ort_get_error_message)entry(ORT_GET_ERROR_MESSAGE))(status));
    ((ort_release_status)entry(ORT_RELEASE_STATUS))(status);
    return false;
}

/*
 * Checks that the table is the one that the engine's library itself returns. Returns NULL or the
 * problem.
 */
static const char *check_table(const void *const *api) {
    Dl_info library;
    if (api == NULL || dladdr(api[ORT_REGISTER_ALLOCATOR], &library) == 0) {
        return "its table of functions is not as expected";
    }
    void *handle = djlplan_loaded(library.dli_fname);
    ort_get_api_base get;
    bool found = djlplan_find(handle, ORT_GET_API_BASE, &get);
    const void *known = found ? get()->get_api(ORT_API_VERSION) : NULL;
    if (handle != NULL) dlclose(handle);
    if (!found) return "its library has no function " ORT_GET_API_BASE;
    if (known == NULL) return "it is older than 1.18";
    return known == (const void *)api ? NULL : "its table of functions is another one";
}

/* The caller holds attach_lock. */
static bool prepare(const void *const *api, char *message, int64_t message_bytes) {
    if (table != NULL && table != api) {
        snprintf(message, (size_t)message_bytes, "another ONNX Runtime is in this process");
        return false;
    }
    if (memory_info != NULL) return true;
    const char *problem = check_table(api);
    if (problem != NULL) {
        snprintf(message, (size_t)message_bytes, "ONNX Runtime: %s", problem);
        return false;
    }
    table = api;
    return succeeded(((ort_default_allocator)entry(ORT_DEFAULT_ALLOCATOR))(&engine), message,
                     message_bytes) &&
           succeeded(
               ((ort_create_memory_info)entry(ORT_CREATE_MEMORY_INFO))(
                   ORT_CPU, ORT_DEVICE_ALLOCATOR, ORT_DEVICE, ORT_MEMORY_DEFAULT, &memory_info),
               message, message_bytes);
}

int djlplan_ort_attach(const void *api, void *env, char *message, int64_t message_bytes) {
    pthread_mutex_lock(&attach_lock);
    bool attached = environment == env;
    if (!attached && prepare(api, message, message_bytes)) {
        attached = succeeded(((ort_register_allocator)entry(ORT_REGISTER_ALLOCATOR))(env, &ours),
                             message, message_bytes);
        if (attached) environment = env;
    }
    pthread_mutex_unlock(&attach_lock);
    return attached ? DJLPLAN_OK : DJLPLAN_ENGINE_ERROR;
}

void djlplan_ort_detach(void) {
    pthread_mutex_lock(&attach_lock);
    if (environment != NULL) {
        (void)succeeded(
            ((ort_unregister_allocator)entry(ORT_UNREGISTER_ALLOCATOR))(environment, memory_info),
            NULL, 0);
    }
    environment = NULL;
    pthread_mutex_unlock(&attach_lock);
}

struct djlplan_run *djlplan_ort_begin(void *arena, struct djlplan_escapes *escapes, int recorded,
                                      int64_t limit_bytes) {
    if (current != NULL) return NULL;
    current = djlplan_run_begin(NULL, arena, escapes, recorded);
    run_limit = limit_bytes;
    refused = 0;
    loading = false;
    return current;
}

void djlplan_ort_pause(void) {
    struct djlplan_run *run = current;
    current = NULL;
    if (run != NULL) (void)djlplan_run_pause(run);
}

int64_t djlplan_ort_refused(void) { return refused; }

void djlplan_ort_load_begin(void) {
    loading = true;
    loaded_bytes = 0;
}

int64_t djlplan_ort_load_end(void) {
    loading = false;
    return loaded_bytes;
}

void djlplan_ort_figures(int64_t *out) {
    for (int i = 0; i < DJLPLAN_ORT_FIGURES; i++) out[i] = atomic_load(&figures[i]);
}
