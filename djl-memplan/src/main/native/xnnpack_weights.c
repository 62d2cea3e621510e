/*
 * Lets XNNPACK pack weights once for all delegates of the same operators of a model.
 *
 * A delegate packs each weight and then looks it up in the cache. XNNPACK ignores the result of the
 * lookup, so a kernel whose weights are missing in a finished cache reads arbitrary memory.
 * Therefore this code replaces the lookup function, and reports whether all weights were found.
 */
#define _GNU_SOURCE
#include "tflite_session.h"

#include <stdatomic.h>

/* The used part of xnn_weights_cache_provider, the interface of a cache. */
struct provider {
    void *cache;
    size_t (*look_up)(void *, const void *key);
    void *(*reserve)(void *, size_t);
    size_t (*look_up_or_insert)(void *, const void *key, void *packed, size_t);
};

#define NOT_FOUND SIZE_MAX

/*
 * The original lookup function, common to all caches because the same function of the engine makes
 * them.
 */
static _Atomic(size_t (*)(void *, const void *, void *, size_t)) look_up_or_insert;

static _Thread_local bool missed;
static _Thread_local int64_t packed_bytes;

static size_t find(void *cache, const void *key, void *packed, size_t bytes) {
    size_t offset = atomic_load(&look_up_or_insert)(cache, key, packed, bytes);
    if (offset == NOT_FOUND) {
        missed = true;
    } else if ((int64_t)(offset + bytes) > packed_bytes) {
        packed_bytes = (int64_t)(offset + bytes);
    }
    return offset;
}

void *djlplan_packed_create(int64_t bytes) {
    struct provider *(*create)(size_t);
    if (!djlplan_tflite_release->shares_workspaces ||
        !djlplan_tflite_function("TfLiteXNNPackDelegateWeightsCacheCreateWithSize", &create)) {
        return NULL;
    }
    struct provider *made = create((size_t)bytes);
    if (made == NULL) return NULL;
    atomic_store(&look_up_or_insert, made->look_up_or_insert);
    made->look_up_or_insert = find;
    return made;
}

int djlplan_packed_finish(void *packed, int64_t *bytes) {
    bool (*finish)(void *);
    *bytes = packed_bytes;
    return djlplan_tflite_function("TfLiteXNNPackDelegateWeightsCacheFinalizeSoft", &finish) &&
                   finish(packed)
               ? DJLPLAN_OK
               : DJLPLAN_ENGINE_ERROR;
}

void djlplan_packed_delete(void *packed) {
    void (*delete)(void *);
    if (djlplan_tflite_function("TfLiteXNNPackDelegateWeightsCacheDelete", &delete)) {
        delete(packed);
    }
}

void djlplan_packed_expect(void) {
    missed = false;
    packed_bytes = 0;
}

bool djlplan_packed_missed(void) { return missed; }
