/*
 * The part of ONNX Runtime's C interface that djl-plan uses. Its table of functions is append-only:
 * these entries have the same index in the headers of 1.14 and of 1.18 to 1.29.
 */
#ifndef DJLPLAN_ORT_ABI_H
#define DJLPLAN_ORT_ABI_H

#include <stddef.h>
#include <stdint.h>

/* The library's one function, and the version of the table that is requested. */
#define ORT_GET_API_BASE "OrtGetApiBase"
enum { ORT_API_VERSION = 18 };

struct ort_api_base {
    const void *(*get_api)(uint32_t version); /* NULL for a version that the library lacks */
    const char *(*version)(void);
};
typedef const struct ort_api_base *(*ort_get_api_base)(void);

/* Entries of the table. Functions return an OrtStatus, NULL if they succeed. */
enum ort_entry {
    ORT_GET_ERROR_MESSAGE = 2,
    ORT_CREATE_MEMORY_INFO = 68,
    ORT_DEFAULT_ALLOCATOR = 78,
    ORT_RELEASE_STATUS = 93,
    ORT_REGISTER_ALLOCATOR = 176,
    ORT_UNREGISTER_ALLOCATOR = 177
};

typedef const char *(*ort_get_error_message)(const void *status);
typedef void (*ort_release_status)(void *status);
typedef void *(*ort_create_memory_info)(const char *name, int allocator_type, int id, int memory,
                                        void **info);
enum { ORT_DEVICE_ALLOCATOR = 0, ORT_DEVICE = 0, ORT_MEMORY_DEFAULT = 0 };
#define ORT_CPU "Cpu"

/* OrtAllocator. The version determines its members; newer engines have more. */
struct ort_allocator {
    uint32_t version;
    void *(*allocate)(struct ort_allocator *self, size_t bytes);
    void (*free)(struct ort_allocator *self, void *block);
    const void *(*info)(const struct ort_allocator *self);
    void *(*reserve)(struct ort_allocator *self, size_t bytes);
};
enum { ORT_ALLOCATOR_VERSION = 18 }; /* the first with `reserve` */

typedef void *(*ort_default_allocator)(struct ort_allocator **allocator);
typedef void *(*ort_register_allocator)(void *environment, struct ort_allocator *allocator);
typedef void *(*ort_unregister_allocator)(void *environment, const void *info);

#endif
