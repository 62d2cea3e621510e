/*
 * The part of libtorch's C++ ABI (libstdc++, 64 bits) that djl-plan reads or writes, taken from the
 * versions 2.1.1, 2.2.2, 2.5.1 and 2.7.1. torch.c checks it against the loaded library before use.
 */
#ifndef DJLPLAN_TORCH_ABI_H
#define DJLPLAN_TORCH_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void (*torch_deleter)(void *);

/*
 * c10::DataPtr: a unique_ptr<void, torch_deleter> with its data, and c10::Device. It has a
 * destructor, so C++ returns it in memory that the caller provides; C returns a struct of this size
 * in the same way.
 */
typedef struct {
    void *data;
    torch_deleter deleter;
    void *context;
    int8_t device_type;
    int8_t device_index;
} torch_data_ptr;

_Static_assert(sizeof(torch_data_ptr) == 32, "c10::DataPtr has another size");
_Static_assert(offsetof(torch_data_ptr, deleter) == 8, "deleter moved");
_Static_assert(offsetof(torch_data_ptr, context) == 16, "context moved");
_Static_assert(offsetof(torch_data_ptr, device_type) == 24, "device moved");

enum { TORCH_DEVICE_CPU = 0, TORCH_NO_INDEX = -1 };

/* c10::Allocator: a pointer to its virtual table. */
typedef struct torch_allocator {
    void **vtable;
} torch_allocator;

typedef torch_data_ptr (*torch_allocate)(const torch_allocator *, size_t);
typedef torch_deleter (*torch_raw_deleter)(const torch_allocator *);
typedef void (*torch_set_allocator)(int8_t device_type, torch_allocator *, uint8_t priority);
typedef torch_allocator *(*torch_get_allocator)(const int8_t *device_type);

/*
 * Entries of the virtual table, which is preceded by two more: offset to top and RTTI. Since 2.3,
 * is_simple_data_ptr is before raw_deleter, and copy_data is after it.
 */
enum {
    TORCH_BEFORE = 2,
    TORCH_ALLOCATE = 2,
    TORCH_RAW_DELETER_OLD = 3,
    TORCH_ENTRIES_OLD = 4,
    TORCH_IS_SIMPLE = 3,
    TORCH_RAW_DELETER_NEW = 4,
    TORCH_COPY_DATA = 5,
    TORCH_ENTRIES_NEW = 6
};

/*
 * at::RecordFunctionCallback, an observer of operators, which is passed by value and copied. The
 * probability of a call is followed by flags for the kinds of functions, of which operators are the
 * first, and flags for optional data, all off except for an operator's outputs.
 */
typedef struct {
    void **(*begins)(void **context, const void *function);
    void (*ends)(const void *function, void *context);
    double probability;
    bool wanted[16];
} torch_record_callback;

_Static_assert(sizeof(torch_record_callback) == 40, "at::RecordFunctionCallback has another size");

enum { TORCH_OPERATORS = 0, TORCH_OUTPUTS = 11 };

/* c10::IValue; only its tensors are read. */
typedef struct {
    const void *payload;
    uint32_t tag;
} torch_value;

_Static_assert(sizeof(torch_value) == 16, "c10::IValue has another size");

enum { TORCH_TENSOR = 1 };

/* std::vector<c10::IValue>. */
typedef struct {
    const torch_value *begin, *end, *limit;
} torch_values;

/*
 * The offset in at::RecordFunction, a running operator, of the vector of its outputs, which exists
 * when the operator ends. Observed in 2.1.1, and in 2.7.1, where named arguments come before.
 */
enum { TORCH_OUTPUTS_OLD = 224, TORCH_OUTPUTS_NEW = 280 };

/*
 * c10::StorageImpl and c10::TensorImpl as words: the virtual table, two reference counts, then the
 * address of the block or of the storage. A count has 64 bits in 2.1.1 and 32 in 2.7.1.
 */
typedef const void *const *torch_object;

enum { TORCH_COUNT_WORDS_OLD = 2, TORCH_COUNT_WORDS_NEW = 1 };

/* c10::IntArrayRef. */
typedef struct {
    const int64_t *values;
    size_t count;
} torch_sizes;

/* at::Tensor, returned in memory that the caller provides, as torch_data_ptr is. */
typedef struct {
    torch_object tensor;
    void *not_written[3];
} torch_returned_tensor;

/* c10::TensorOptions. The defaults are floats in CPU memory. */
typedef struct {
    uint64_t nothing[4];
} torch_options;

#define TORCH_C10 "libc10.so"
#define TORCH_CPU "libtorch_cpu.so"
#define TORCH_SET_ALLOCATOR "_ZN3c1012SetAllocatorENS_10DeviceTypeEPNS_9AllocatorEh"
#define TORCH_GET_ALLOCATOR "_ZN3c1012GetAllocatorERKNS_10DeviceTypeE"
#define TORCH_IS_SIMPLE_SYMBOL "_ZNK3c109Allocator18is_simple_data_ptrERKNS_7DataPtrE"

#define TORCH_ADD_CALLBACK "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE"
#define TORCH_REMOVE_CALLBACK "_ZN2at14removeCallbackEm"
#define TORCH_OPERATOR_NAME "_ZNK2at14RecordFunction4nameEv"

#define TORCH_TENSOR_TABLE "_ZTVN3c1010TensorImplE"
#define TORCH_STORAGE_TABLE "_ZTVN3c1011StorageImplE"
#define TORCH_SIZES "_ZNK3c1010TensorImpl12sizes_customEv"
#define TORCH_FLOATS "_ZNK2at10TensorBase8data_ptrIfEEPT_v"
#define TORCH_EMPTY "_ZN2at6detail9empty_cpuEN3c108ArrayRefIlEERKNS1_13TensorOptionsE"
#define TORCH_ZERO "_ZN2at4_ops5zero_4callERNS_6TensorE"

/* Settings of the calling thread. */
#define TORCH_GET_NUM_THREADS "_ZN2at15get_num_threadsEv"
#define TORCH_SET_NUM_THREADS "_ZN2at15set_num_threadsEi"
/* Of OpenMP; TORCH_GET_NUM_THREADS first applies libtorch's setting to a new thread. */
#define OMP_GET_MAX_THREADS "omp_get_max_threads"
#define TORCH_GET_GRAD_MODE "_ZN3c108GradMode10is_enabledEv"
#define TORCH_SET_GRAD_MODE "_ZN3c108GradMode11set_enabledEb"
#define TORCH_GET_OPTIMIZE "_ZN5torch3jit24getGraphExecutorOptimizeEv"
#define TORCH_SET_OPTIMIZE "_ZN5torch3jit24setGraphExecutorOptimizeEb"

#endif
