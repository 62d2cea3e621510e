/* Weights that XNNPACK packs once for all delegates of the same operators of a model. */
#define _GNU_SOURCE
#include "tflite_session.h"

void *djlplan_packed_create(int64_t bytes) {
    void *(*create)(size_t);
    return djlplan_tflite_release->shares_workspaces &&
                   djlplan_tflite_function("TfLiteXNNPackDelegateWeightsCacheCreateWithSize",
                                           &create)
               ? create((size_t)bytes)
               : NULL;
}

int djlplan_packed_finish(void *packed) {
    bool (*finish)(void *);
    return djlplan_tflite_function("TfLiteXNNPackDelegateWeightsCacheFinalizeSoft", &finish) &&
                   finish(packed)
               ? DJLPLAN_OK
               : DJLPLAN_ENGINE_ERROR;
}

void djlplan_packed_delete(void *packed) {
    void (*delete)(void *);
    if (djlplan_tflite_function("TfLiteXNNPackDelegateWeightsCacheDelete", &delete)) {
        delete (packed);
    }
}
