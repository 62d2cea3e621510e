/*
 * A libonnxruntime.so with nothing but a table of functions, an environment that takes one
 * allocator, and a default allocator. With -DOLD it lacks the requested version of the table,
 * with -DNO_BASE the function that returns the table; with -DTAKEN it already has an allocator.
 */
#define _GNU_SOURCE
#include "ort_abi.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))
enum { ENTRIES = 200, ALIGNMENT = 64 };

static struct ort_allocator *registered;
static atomic_int live, statuses;
static char status;
static int memory;

static void *allocate(struct ort_allocator *self, size_t bytes) {
    (void)self;
    void *block = NULL;
    if (bytes > (size_t)1 << 40 || posix_memalign(&block, ALIGNMENT, bytes) != 0) return NULL;
    atomic_fetch_add(&live, 1);
    return block;
}

static void deallocate(struct ort_allocator *self, void *block) {
    (void)self;
    atomic_fetch_sub(&live, 1);
    free(block);
}

static const void *info(const struct ort_allocator *self) {
    (void)self;
    return &memory;
}

static struct ort_allocator own = {ORT_ALLOCATOR_VERSION, allocate, deallocate, info, allocate};

static void *refuse(void) {
    atomic_fetch_add(&statuses, 1);
    return &status;
}

static const char *get_error_message(const void *of) {
    return of == &status ? "an allocator is registered already" : NULL;
}

static void release_status(void *of) {
    if (of != &status) abort();
    atomic_fetch_sub(&statuses, 1);
}

static void *create_memory_info(const char *name, int allocator_type, int id, int kind,
                                void **created) {
    if (name[0] != 'C' || allocator_type != 0 || id != 0 || kind != 0) abort();
    *created = &memory;
    return NULL;
}

static void *default_allocator(struct ort_allocator **allocator) {
    *allocator = &own;
    return NULL;
}

static void *register_allocator(void *environment, struct ort_allocator *allocator) {
    (void)environment;
#ifdef TAKEN
    (void)allocator;
    return refuse();
#else
    if (registered != NULL) return refuse();
    registered = allocator;
    return NULL;
#endif
}

static void *unregister_allocator(void *environment, const void *of) {
    (void)environment;
    if (registered == NULL || registered->info(registered) != of) return refuse();
    registered = NULL;
    return NULL;
}

static void *table[ENTRIES] = {
    [ORT_GET_ERROR_MESSAGE] = (void *)get_error_message,
    [ORT_CREATE_MEMORY_INFO] = (void *)create_memory_info,
    [ORT_DEFAULT_ALLOCATOR] = (void *)default_allocator,
    [ORT_RELEASE_STATUS] = (void *)release_status,
    [ORT_REGISTER_ALLOCATOR] = (void *)register_allocator,
    [ORT_UNREGISTER_ALLOCATOR] = (void *)unregister_allocator,
};

#ifndef NO_BASE
static const void *get_api(uint32_t version) {
#ifdef OLD
    return version < ORT_API_VERSION ? table : NULL;
#else
    return version <= ORT_API_VERSION ? table : NULL;
#endif
}

static const char *get_version(void) { return "1.18.0"; }

EXPORT const struct ort_api_base *OrtGetApiBase(void) {
    static const struct ort_api_base base = {get_api, get_version};
    return &base;
}
#endif

EXPORT void *fake_ort_table(void) { return table; }
EXPORT struct ort_allocator *fake_ort_registered(void) { return registered; }
/* Returns the number of blocks in use and unreleased statuses. */
EXPORT int fake_ort_live(void) { return live + statuses; }
