/*
 * Makes the checks that the engine's kernels omit. Before a kernel prepares, this file checks the
 * sizes of inputs; afterwards, the sizes of outputs. It also checks operands that are sizes,
 * positions or indices, if kernels use them unchecked: before the kernel prepares, or before it
 * runs if the operands are computed.
 */
#include "tflite_session.h"

#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* TfLiteBuiltinOperator */
enum {
    AVERAGE_POOL_2D = 1,
    CONV_2D = 3,
    DEPTHWISE_CONV_2D = 4,
    EMBEDDING_LOOKUP = 7,
    FULLY_CONNECTED = 9,
    L2_POOL_2D = 12,
    MAX_POOL_2D = 17,
    RESHAPE = 22,
    RESIZE_BILINEAR = 23,
    SOFTMAX = 25,
    EMBEDDING_LOOKUP_SPARSE = 33,
    PAD = 34,
    GATHER = 36,
    BATCH_TO_SPACE_ND = 37,
    SPACE_TO_BATCH_ND = 38,
    TRANSPOSE = 39,
    MEAN = 40,
    DIV = 42,
    STRIDED_SLICE = 45,
    LOG_SOFTMAX = 50,
    ARG_MAX = 56,
    LESS = 58,
    PADV2 = 60,
    GREATER = 61,
    GREATER_EQUAL = 62,
    LESS_EQUAL = 63,
    SLICE = 65,
    TRANSPOSE_CONV = 67,
    SPARSE_TO_DENSE = 68,
    TILE = 69,
    EQUAL = 71,
    NOT_EQUAL = 72,
    SUM = 74,
    ARG_MIN = 79,
    REDUCE_PROD = 81,
    REDUCE_MAX = 82,
    ONE_HOT = 85,
    REDUCE_MIN = 89,
    FLOOR_DIV = 90,
    REDUCE_ANY = 91,
    FILL = 94,
    FLOOR_MOD = 95,
    RANGE = 96,
    RESIZE_NEAREST_NEIGHBOR = 97,
    MIRROR_PAD = 100,
    SPLIT_V = 102,
    GATHER_ND = 107,
    REVERSE_SEQUENCE = 112,
    MATRIX_DIAG = 113,
    MATRIX_SET_DIAG = 115,
    NON_MAX_SUPPRESSION_V4 = 120,
    NON_MAX_SUPPRESSION_V5 = 121,
    SCATTER_ND = 122,
    BATCH_MATMUL = 126,
    BROADCAST_TO = 130,
    RFFT2D = 131,
    CONV_3D = 132,
    REDUCE_ALL = 140,
    CONV_3D_TRANSPOSE = 141,
    RANDOM_STANDARD_NORMAL = 146,
    RANDOM_UNIFORM = 148,
    MULTINOMIAL = 149,
    UNSORTED_SEGMENT_PROD = 153,
    UNSORTED_SEGMENT_MAX = 154,
    UNSORTED_SEGMENT_SUM = 155,
    UNSORTED_SEGMENT_MIN = 157,
    CODES = 256
};

/* TfLiteType */
enum { FLOAT32 = 1, INT32 = 2, UINT8 = 3, INT64 = 4, INT16 = 7, INT8 = 9 };

static _Atomic int64_t memory_bytes = INT64_MAX;

void djlplan_tflite_memory(int64_t bytes) { atomic_store(&memory_bytes, bytes); }

/* An operator under check. */
struct look {
    struct djlplan_tflite_session *session;
    const TfLiteContext *context;
    const TfLiteNode *node;
    int32_t code;
    bool prepared; /* outputs have their sizes */
};

/* Stores the reason why the engine must stop, and returns false. */
__attribute__((format(printf, 2, 3))) static bool refuse(const struct look *look,
                                                         const char *format, ...) {
    struct djlplan_tflite_session *session = look->session;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(session->error, sizeof session->error, format, arguments);
    va_end(arguments);
    session->unsound = true;
    return false;
}

/* ---- tensors --------------------------------------------------------------------------- */

static const TfLiteTensor *tensor_at(const struct look *look, const TfLiteIntArray *ids, int at) {
    if (ids == NULL || at >= ids->size || ids->data[at] < 0 ||
        (size_t)ids->data[at] >= look->context->tensors_size) {
        return NULL;
    }
    const TfLiteTensor *tensor = &look->context->tensors[ids->data[at]];
    return tensor->dims == NULL ? NULL : tensor;
}

static const TfLiteTensor *input(const struct look *look, int at) {
    return tensor_at(look, look->node->inputs, at);
}

static int rank(const TfLiteTensor *tensor) { return tensor->dims->size; }

static int64_t dimension(const TfLiteTensor *tensor, int axis) { return tensor->dims->data[axis]; }

static int element_bytes(const TfLiteTensor *tensor) {
    /* Bytes of an element by TfLiteType; 0 if an element does not have a whole number of bytes. */
    static const char bytes[] = {0, 4, 4, 1, 8, 0, 1, 2, 8, 1, 2, 8, 16, 8, 0, 0, 4, 2};
    return tensor->type >= 0 && (size_t)tensor->type < sizeof bytes ? bytes[tensor->type] : 0;
}

/* Multiplies sizes that are not negative, and saturates at a value above every limit. */
static int64_t times(int64_t a, int64_t b) {
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static int64_t elements(const TfLiteTensor *tensor) {
    int64_t count = 1;
    for (int i = 0; i < rank(tensor); i++) count = times(count, dimension(tensor, i));
    return count;
}

/* Kernels count bytes and elements in 32 bits. */
static bool affordable(const struct look *look, int64_t count, const TfLiteTensor *like) {
    int64_t bytes = times(count, element_bytes(like) == 0 ? 1 : element_bytes(like));
    if (bytes <= INT32_MAX && bytes <= atomic_load(&memory_bytes)) return true;
    return refuse(look, "a tensor would have %lld elements, which are too many for this machine",
                  (long long)count);
}

static bool has_sound_size(const struct look *look, const TfLiteTensor *tensor) {
    for (int i = 0; i < rank(tensor); i++) {
        if (dimension(tensor, i) < 0) {
            return refuse(look, "tensor %s would have a dimension of %lld: its operands do not fit",
                          tensor->name == NULL ? "" : tensor->name,
                          (long long)dimension(tensor, i));
        }
    }
    return affordable(look, elements(tensor), tensor);
}

static bool slides(int32_t code) {
    switch (code) {
    case AVERAGE_POOL_2D:
    case CONV_2D:
    case DEPTHWISE_CONV_2D:
    case L2_POOL_2D:
    case MAX_POOL_2D:
    case TRANSPOSE_CONV:
    case CONV_3D:
    case CONV_3D_TRANSPOSE: return true;
    default: return false;
    }
}

/* Returns whether a kernel divides by input sizes, or reads a first element without checking. */
static bool needs_elements(int32_t code) {
    switch (code) {
    case ARG_MAX:
    case ARG_MIN:
    case BATCH_MATMUL:
    case FULLY_CONNECTED:
    case RESIZE_BILINEAR:
    case RESIZE_NEAREST_NEIGHBOR: return true;
    default: return slides(code);
    }
}

static bool has_elements(const struct look *look, const TfLiteTensor *tensor) {
    return elements(tensor) > 0 ||
           refuse(look, "tensor %s would have no elements: inputs of this shape are too small",
                  tensor->name == NULL ? "" : tensor->name);
}

/*
 * A convolution is grouped if its filter has fewer channels than the image. The kernel does not
 * write output channels that belong to no group.
 */
static bool has_sound_groups(const struct look *look) {
    const TfLiteTensor *image = input(look, 0), *filter = input(look, 1);
    if (look->code != CONV_2D || image == NULL || filter == NULL || rank(image) != 4 ||
        rank(filter) != 4) {
        return true;
    }
    int64_t channels = dimension(image, 3), of_filter = dimension(filter, 3);
    bool sound = channels % of_filter == 0 && dimension(filter, 0) % (channels / of_filter) == 0;
    return sound ||
           refuse(look, "an image of %lld channels for %lld filters of %lld channels",
                  (long long)channels, (long long)dimension(filter, 0), (long long)of_filter);
}

/* Before 2.20, kernels leave the output unwritten if they reduce over no elements. */
static bool reduces_nothing(const struct look *look, const TfLiteTensor *result) {
    switch (look->code) {
    case MEAN:
    case SUM:
    case REDUCE_PROD:
    case REDUCE_MAX:
    case REDUCE_MIN:
    case REDUCE_ANY:
    case REDUCE_ALL: {
        const TfLiteTensor *data = input(look, 0);
        bool nothing = data != NULL && elements(data) == 0 && elements(result) > 0;
        return nothing && !djlplan_tflite_tells_in_place() && !has_elements(look, data);
    }
    default: return false;
    }
}

/* For kernels that read the first element along the last dimension without checking. */
static bool has_depth(const struct look *look, const TfLiteTensor *tensor) {
    bool starts = look->code == SOFTMAX || look->code == LOG_SOFTMAX;
    return !starts || rank(tensor) == 0 || dimension(tensor, rank(tensor) - 1) > 0 ||
           has_elements(look, tensor);
}

/* Before 2.20, kernels that compare integers with such a scale abort the process. */
static bool has_sound_scale(const struct look *look, const TfLiteTensor *tensor) {
    switch (look->code) {
    case LESS:
    case GREATER:
    case GREATER_EQUAL:
    case LESS_EQUAL:
    case EQUAL:
    case NOT_EQUAL:
        return djlplan_tflite_tells_in_place() || element_bytes(tensor) != 1 || tensor->scale < 1 ||
               refuse(look, "integers of a scale of %g are compared", (double)tensor->scale);
    default: return true;
    }
}

/* ---- operands that are numbers --------------------------------------------------------- */

/* Returns whether a tensor has data of the size that its shape requires. */
static bool is_there(const TfLiteTensor *tensor) {
    bool numbers = tensor != NULL && tensor->data != NULL &&
                   (tensor->type == INT32 || tensor->type == INT64 || tensor->type == FLOAT32);
    return numbers && tensor->bytes / (size_t)element_bytes(tensor) >= (size_t)elements(tensor);
}

static int64_t number(const TfLiteTensor *tensor, int64_t at) {
    switch (tensor->type) {
    case INT32: return ((const int32_t *)tensor->data)[at];
    case INT64: return ((const int64_t *)tensor->data)[at];
    default: return 0; /* no kernel takes sizes of another type */
    }
}

static double real_number(const TfLiteTensor *tensor) {
    return tensor->type == FLOAT32 ? (double)*(const float *)tensor->data
                                   : (double)number(tensor, 0);
}

static bool check_slice(const struct look *look) {
    const TfLiteTensor *data = input(look, 0), *begins = input(look, 1), *sizes = input(look, 2);
    if (elements(begins) != rank(data) || elements(sizes) != rank(data)) {
        return refuse(look, "a slice of %lld dimensions of %d", (long long)elements(begins),
                      rank(data));
    }
    int64_t count = 1;
    for (int i = 0; i < rank(data); i++) {
        int64_t begin = number(begins, i), size = number(sizes, i), all = dimension(data, i);
        bool inside = begin >= 0 && begin <= all && size >= -1 && size <= all - begin;
        if (!inside) {
            return refuse(look, "a slice of %lld from %lld on, of %lld", (long long)size,
                          (long long)begin, (long long)all);
        }
        count = times(count, size < 0 ? all - begin : size);
    }
    /* The kernel may keep the output size of the file without checking it. */
    const TfLiteTensor *result = tensor_at(look, look->node->outputs, 0);
    bool fits = result == NULL || result->allocation_type == kTfLiteDynamic || !look->prepared ||
                elements(result) == count;
    return fits || refuse(look, "a slice of %lld elements for a result of %lld", (long long)count,
                          (long long)elements(result));
}

static bool check_order(const struct look *look) {
    const TfLiteTensor *data = input(look, 0), *order = input(look, 1);
    uint64_t seen = 0;
    bool sound = elements(order) == rank(data) && rank(data) <= 64;
    for (int i = 0; sound && i < rank(data); i++) {
        int64_t axis = number(order, i) + (number(order, i) < 0 ? rank(data) : 0);
        sound = axis >= 0 && axis < rank(data) && (seen >> axis & 1) == 0;
        if (sound) seen |= (uint64_t)1 << axis;
    }
    return sound || refuse(look, "an order of dimensions that leaves out some of %d", rank(data));
}

static bool check_strides(const struct look *look) {
    const TfLiteTensor *data = input(look, 0), *strides = input(look, 3);
    int64_t longest = 0;
    for (int i = 0; i < rank(data); i++) {
        longest = dimension(data, i) > longest ? dimension(data, i) : longest;
    }
    for (int64_t i = 0; i < elements(strides); i++) {
        int64_t stride = number(strides, i), length = stride < 0 ? -stride : stride;
        /*
         * Kernels multiply the stride by the number of elements of one position of its dimension.
         */
        bool sound = stride != 0 && stride > INT32_MIN &&
                     (length <= longest || times(length, elements(data) + longest) <= INT32_MAX);
        if (!sound) return refuse(look, "a stride of %lld", (long long)stride);
    }
    return true;
}

/* TfLiteMirrorPaddingMode, the only field of the kernel's parameters */
enum { REFLECT = 1 };

static bool check_padding(const struct look *look) {
    const TfLiteTensor *data = input(look, 0), *padding = input(look, 1);
    if (elements(padding) != 2 * (int64_t)rank(data)) {
        return refuse(look, "%lld paddings of %d dimensions", (long long)elements(padding),
                      rank(data));
    }
    int64_t count = 1;
    for (int i = 0; i < rank(data); i++) {
        int64_t before = number(padding, 2 * i), after = number(padding, 2 * i + 1);
        int64_t most = INT32_MAX;
        if (look->code == MIRROR_PAD && look->node->builtin_data != NULL) {
            most = dimension(data, i) - (*(const int32_t *)look->node->builtin_data == REFLECT);
        }
        if (before < 0 || after < 0 || before > most || after > most) {
            return refuse(look, "a padding of %lld and %lld at a dimension of %lld",
                          (long long)before, (long long)after, (long long)dimension(data, i));
        }
        count = times(count, dimension(data, i) + before + after);
    }
    return affordable(look, count, data);
}

static bool check_blocks(const struct look *look) {
    const TfLiteTensor *data = input(look, 0), *blocks = input(look, 1), *edges = input(look, 2);
    if (elements(blocks) + 1 > rank(data) || elements(edges) != 2 * elements(blocks)) {
        return refuse(look, "%lld blocks of %d dimensions", (long long)elements(blocks),
                      rank(data));
    }
    int64_t count = 1;
    for (int i = 0; i < rank(data); i++) {
        count = times(count, dimension(data, i));
        if (i == 0 || i > elements(blocks)) continue;
        int64_t block = number(blocks, i - 1);
        int64_t before = number(edges, 2 * i - 2), after = number(edges, 2 * i - 1);
        if (block < 1 || block > INT32_MAX || before < 0 || before > INT32_MAX || after < 0 ||
            after > INT32_MAX) {
            return refuse(look, "a block of %lld with edges of %lld and %lld", (long long)block,
                          (long long)before, (long long)after);
        }
        /* Borders are added before, or removed afterwards. */
        int64_t padded = look->code == SPACE_TO_BATCH_ND ? before + after : 0;
        if (dimension(data, i) > 0) {
            count = times(count / dimension(data, i), dimension(data, i) + padded);
        }
    }
    return affordable(look, count, data);
}

/* The parameters of a transposed convolution. */
struct transposition {
    int32_t padding; /* TfLitePadding */
    int32_t stride_width;
    int32_t stride_height;
};
enum { PADDING_SAME = 1 };

static bool check_transposed(const struct look *look) {
    const TfLiteTensor *sizes = input(look, 0), *filter = input(look, 1), *image = input(look, 2);
    const struct transposition *how = look->node->builtin_data;
    if (elements(sizes) != 4 || filter == NULL || rank(filter) != 4 || image == NULL ||
        rank(image) != 4 || how == NULL) {
        return refuse(look, "operands of other ranks");
    }
    int64_t count = number(sizes, 0) == dimension(image, 0) ? dimension(image, 0) : -1;
    for (int i = 1; i < 3 && count >= 0; i++) {
        int64_t size = number(sizes, i);
        int64_t stride = i == 1 ? how->stride_height : how->stride_width;
        int64_t window = how->padding == PADDING_SAME ? 1 : dimension(filter, i);
        bool fits = size >= window && size <= INT32_MAX && stride > 0 &&
                    (size - window) / stride + 1 == dimension(image, i);
        count = fits ? times(count, size) : -1;
    }
    if (count < 0 || number(sizes, 3) != dimension(filter, 0)) {
        return refuse(look, "a result of shape [%lld, %lld, %lld, %lld], which does not fit",
                      (long long)number(sizes, 0), (long long)number(sizes, 1),
                      (long long)number(sizes, 2), (long long)number(sizes, 3));
    }
    /* The kernel stores the filter's windows of the whole image side by side. */
    int64_t window = times(times(dimension(filter, 0), dimension(filter, 1)), dimension(filter, 2));
    int64_t columns = times(times(dimension(image, 1), dimension(image, 2)), window);
    return affordable(look, times(count, dimension(filter, 0)), image) &&
           (columns <= INT32_MAX || refuse(look, "%lld elements of windows", (long long)columns));
}

/*
 * Checks the sizes of an output: none is negative, except one −1, which the kernel computes from
 * the others.
 */
static bool check_sizes(const struct look *look, const TfLiteTensor *sizes, int64_t count,
                        int64_t least, const TfLiteTensor *like) {
    for (int64_t i = 0; i < elements(sizes); i++) {
        int64_t size = number(sizes, i);
        if (size < least || size > INT32_MAX) {
            return refuse(look, "a size of %lld", (long long)size);
        }
        count = times(count, size < 0 ? 1 : size);
    }
    return affordable(look, count, like);
}

static bool check_fill(const struct look *look) {
    const TfLiteTensor *value = input(look, 1);
    return value == NULL || check_sizes(look, input(look, 0), 1, 0, value);
}

static bool check_shape(const struct look *look) {
    const TfLiteTensor *sizes = input(look, 1);
    bool zero = false, rest = false;
    for (int64_t i = 0; i < elements(sizes); i++) {
        zero |= number(sizes, i) == 0;
        rest |= number(sizes, i) == -1;
    }
    if (zero && rest) return refuse(look, "a shape with both 0 and -1");
    return check_sizes(look, sizes, 1, -1, input(look, 0));
}

/*
 * Checks an output whose shape is an operand; `data` is the index of the input with its elements.
 */
static bool check_result(const struct look *look, int sizes, int data) {
    const TfLiteTensor *like = input(look, data);
    return like == NULL || check_sizes(look, input(look, sizes), 1, 0, like);
}

static bool check_broadcast(const struct look *look) { return check_result(look, 1, 0); }

static bool is_index(const struct look *look, int64_t index, int64_t size) {
    return (index >= 0 && index < size) ||
           refuse(look, "an index of %lld of %lld", (long long)index, (long long)size);
}

/* Checks index vectors, whose last dimension says how many dimensions of the output they index. */
static bool check_indices(const struct look *look, const TfLiteTensor *indices,
                          const TfLiteTensor *sizes, int64_t depth) {
    if (depth > elements(sizes)) {
        return refuse(look, "indices of %lld dimensions of %lld", (long long)depth,
                      (long long)elements(sizes));
    }
    for (int64_t i = 0; i < elements(indices); i++) {
        if (!is_index(look, number(indices, i), number(sizes, i % depth))) return false;
    }
    return true;
}

static int64_t last_dimension(const TfLiteTensor *tensor) {
    return rank(tensor) == 0 ? 1 : dimension(tensor, rank(tensor) - 1);
}

static bool check_scatter(const struct look *look) {
    const TfLiteTensor *indices = input(look, 0), *sizes = input(look, 2);
    return check_result(look, 2, 1) && check_indices(look, indices, sizes, last_dimension(indices));
}

static bool check_dense(const struct look *look) {
    const TfLiteTensor *indices = input(look, 0), *sizes = input(look, 1);
    return check_result(look, 1, 2) &&
           check_indices(look, indices, sizes, rank(indices) < 2 ? 1 : last_dimension(indices));
}

/* TfLiteReverseSequenceParams */
struct reversal {
    int32_t sequence_dimension;
    int32_t batch_dimension;
};

static bool check_lengths(const struct look *look) {
    const TfLiteTensor *data = input(look, 0), *lengths = input(look, 1);
    const struct reversal *how = look->node->builtin_data;
    if (how == NULL || how->sequence_dimension < 0 || how->sequence_dimension >= rank(data) ||
        how->batch_dimension < 0 || how->batch_dimension >= rank(data) ||
        elements(lengths) != dimension(data, how->batch_dimension)) {
        return refuse(look, "%lld lengths of sequences", (long long)elements(lengths));
    }
    for (int64_t i = 0; i < elements(lengths); i++) {
        int64_t length = number(lengths, i);
        if (length < 0 || length > dimension(data, how->sequence_dimension)) {
            return refuse(look, "a sequence of %lld of %lld", (long long)length,
                          (long long)dimension(data, how->sequence_dimension));
        }
    }
    return true;
}

static bool check_tiles(const struct look *look) {
    /* Before 2.20, the kernel writes the first tile even if there should be none. */
    int least = djlplan_tflite_tells_in_place() ? 0 : 1;
    return check_sizes(look, input(look, 1), elements(input(look, 0)), least, input(look, 0));
}

static bool check_segments(const struct look *look) {
    const TfLiteTensor *data = input(look, 0), *ids = input(look, 1);
    bool none = ids == NULL || elements(ids) == 0;
    return check_sizes(look, input(look, 2), none ? 0 : elements(data) / elements(ids), 0, data);
}

static bool check_samples(const struct look *look) {
    const TfLiteTensor *data = input(look, 0);
    int64_t rows = rank(data) == 0 ? 1 : dimension(data, 0);
    return check_sizes(look, input(look, 1), rows, 0, data);
}

static bool check_transform(const struct look *look) {
    const TfLiteTensor *data = input(look, 0);
    int64_t images = 1;
    for (int i = 0; i < rank(data) - 2; i++) images = times(images, dimension(data, i));
    return check_sizes(look, input(look, 1), images, 0, data);
}

static bool check_selection(const struct look *look) {
    return check_sizes(look, input(look, 2), 1, 0, input(look, 0));
}

static bool check_random(const struct look *look) {
    const TfLiteTensor *result = tensor_at(look, look->node->outputs, 0);
    return result == NULL || check_sizes(look, input(look, 0), 1, 0, result);
}

static bool check_resize(const struct look *look) {
    const TfLiteTensor *image = input(look, 0);
    if (rank(image) != 4) return refuse(look, "an image of %d dimensions", rank(image));
    int64_t count = times(dimension(image, 0), dimension(image, 3));
    return check_sizes(look, input(look, 1), count, 1, image);
}

static bool check_depth(const struct look *look) {
    const TfLiteTensor *values = input(look, 2);
    return values == NULL || check_sizes(look, input(look, 1), elements(input(look, 0)), 0, values);
}

static bool check_range(const struct look *look) {
    const TfLiteTensor *start = input(look, 0), *limit = input(look, 1), *delta = input(look, 2);
    if (elements(start) < 1 || elements(limit) < 1 || elements(delta) < 1) {
        return refuse(look, "a range without an end");
    }
    double count = (real_number(limit) - real_number(start)) / real_number(delta);
    /* NaN also fails this comparison. */
    if (count >= 0 && count < (double)INT32_MAX) return affordable(look, (int64_t)count, start);
    return refuse(look, "a range of %g numbers", count);
}

static int64_t least(const TfLiteTensor *tensor) {
    return tensor->type == INT32 ? INT32_MIN : INT64_MIN;
}

static bool contains(const TfLiteTensor *tensor, int64_t wanted) {
    for (int64_t i = 0; i < elements(tensor); i++) {
        if (number(tensor, i) == wanted) return true;
    }
    return false;
}

/* Checks for the one integer quotient that overflows. */
static bool check_division(const struct look *look) {
    const TfLiteTensor *dividend = input(look, 0), *divisor = input(look, 1);
    bool integers = dividend->type != FLOAT32 && divisor->type == dividend->type;
    return !integers || !contains(divisor, -1) || !contains(dividend, least(dividend)) ||
           refuse(look, "%lld divided by -1", (long long)least(dividend));
}

/* Checks indices into one dimension. */
static bool check_range_of(const struct look *look, const TfLiteTensor *indices, int64_t size) {
    for (int64_t i = 0; i < elements(indices); i++) {
        if (!is_index(look, number(indices, i), size)) return false;
    }
    return true;
}

/* TfLiteGatherParams, with all fields of any release */
struct gathering {
    int32_t axis;
};

static bool check_gathered(const struct look *look) {
    const TfLiteTensor *data = input(look, 0);
    const struct gathering *how = look->node->builtin_data;
    int axis = how == NULL ? 0 : how->axis < 0 ? how->axis + rank(data) : how->axis;
    if (axis < 0 || axis >= rank(data)) return refuse(look, "an axis of %d", axis);
    return check_range_of(look, input(look, 1), dimension(data, axis));
}

static bool check_gathered_points(const struct look *look) {
    const TfLiteTensor *data = input(look, 0), *indices = input(look, 1);
    int64_t depth = last_dimension(indices);
    if (depth > rank(data)) return refuse(look, "indices of %lld dimensions", (long long)depth);
    for (int64_t i = 0; i < elements(indices); i++) {
        if (!is_index(look, number(indices, i), dimension(data, (int)(i % depth)))) return false;
    }
    return true;
}

static bool check_parts(const struct look *look) {
    const TfLiteTensor *data = input(look, 0), *sizes = input(look, 1), *along = input(look, 2);
    int64_t axis = elements(along) == 1 ? number(along, 0) : INT64_MAX;
    if (axis < 0) axis += rank(data);
    if (axis < 0 || axis >= rank(data)) return refuse(look, "an axis of %lld", (long long)axis);
    int64_t left = dimension(data, (int)axis);
    bool rest = false, sound = true;
    for (int64_t i = 0; sound && i < elements(sizes); i++) {
        int64_t size = number(sizes, i);
        sound = size >= 0 ? size <= left : size == -1 && !rest;
        rest |= size < 0;
        left -= size < 0 ? 0 : size;
    }
    return (sound && (rest || left == 0)) ||
           refuse(look, "parts that do not add up to %lld", (long long)dimension(data, (int)axis));
}

static bool check_looked_up(const struct look *look) {
    const TfLiteTensor *table = input(look, 1);
    return table == NULL || rank(table) < 1 ||
           check_range_of(look, input(look, 0), dimension(table, 0));
}

/*
 * The kernel adds rows of a table to those rows of its output that index vectors name. It does not
 * use the last element of a vector, a position inside the row.
 */
static bool check_sparse_lookup(const struct look *look) {
    const TfLiteTensor *ids = input(look, 0), *indices = input(look, 1), *sizes = input(look, 2);
    const TfLiteTensor *weights = input(look, 3), *table = input(look, 4);
    int64_t depth = last_dimension(indices);
    if (rank(indices) != 2 || depth < 1 || elements(sizes) != depth || weights == NULL ||
        elements(ids) != dimension(indices, 0) || elements(weights) != elements(ids)) {
        return refuse(look, "%lld elements of indices for %lld rows of %lld dimensions",
                      (long long)elements(indices), (long long)elements(ids),
                      (long long)elements(sizes));
    }
    if (table == NULL || rank(table) < 2 || table->type != FLOAT32) {
        return refuse(look, "a table of other elements than floats");
    }
    int64_t count = 1;
    for (int64_t i = 0; i < elements(ids) * depth; i++) {
        bool is_position = i % depth == depth - 1;
        if (!is_position && !is_index(look, number(indices, i), number(sizes, i % depth))) {
            return false;
        }
    }
    for (int64_t i = 0; i < depth - 1; i++) {
        int64_t size = number(sizes, i);
        if (size < 0) return refuse(look, "a size of %lld", (long long)size);
        count = times(count, size);
    }
    for (int i = 1; i < rank(table); i++) count = times(count, dimension(table, i));
    return affordable(look, count, table);
}

/* The kernels of diagonals take elements of types that they do not know for floats. */
static bool check_diagonal_type(const struct look *look) {
    const TfLiteTensor *data = input(look, 0);
    bool known = data->type == UINT8 || data->type == INT8 || data->type == INT16;
    return known || element_bytes(data) >= (int)sizeof(float) ||
           refuse(look, "a diagonal of elements of type %d", data->type);
}

static bool check_diagonal(const struct look *look) {
    const TfLiteTensor *data = input(look, 0), *diagonal = input(look, 1);
    if (rank(data) < 2 || diagonal == NULL || diagonal->type != data->type) {
        return refuse(look, "a diagonal that does not fit a matrix");
    }
    int64_t rows = dimension(data, rank(data) - 2), columns = dimension(data, rank(data) - 1);
    int64_t count = rows < columns ? rows : columns;
    for (int i = 0; i < rank(data) - 2; i++) count = times(count, dimension(data, i));
    bool fits = elements(diagonal) >= count ||
                refuse(look, "diagonals of %lld elements for matrices that need %lld",
                       (long long)elements(diagonal), (long long)count);
    return fits && check_diagonal_type(look);
}

/*
 * The checks of an operator: `operands` has a bit for each operand that is a number. Without any,
 * only sizes are checked.
 */
struct rule {
    unsigned operands;
    bool (*check)(const struct look *);
    bool later_check; /* kernels of 2.20 and later check this themselves */
};

static const struct rule rules[CODES] = {
    [EMBEDDING_LOOKUP] = {1u << 0, check_looked_up, true},
    [EMBEDDING_LOOKUP_SPARSE] = {1u << 1 | 1u << 2, check_sparse_lookup},
    [RESHAPE] = {1u << 1, check_shape},
    [RESIZE_BILINEAR] = {1u << 1, check_resize},
    [PAD] = {1u << 1, check_padding},
    [GATHER] = {1u << 1, check_gathered, true},
    [TRANSPOSE] = {1u << 1, check_order},
    [BATCH_TO_SPACE_ND] = {1u << 1 | 1u << 2, check_blocks},
    [SPACE_TO_BATCH_ND] = {1u << 1 | 1u << 2, check_blocks},
    [DIV] = {3u, check_division},
    [STRIDED_SLICE] = {1u << 3, check_strides},
    [PADV2] = {1u << 1, check_padding},
    [SLICE] = {1u << 1 | 1u << 2, check_slice},
    [TRANSPOSE_CONV] = {1u << 0, check_transposed},
    [SPARSE_TO_DENSE] = {1u << 0 | 1u << 1, check_dense},
    [TILE] = {1u << 1, check_tiles},
    [ONE_HOT] = {1u << 1, check_depth},
    [FLOOR_DIV] = {3u, check_division},
    [FILL] = {1u << 0, check_fill},
    [FLOOR_MOD] = {3u, check_division},
    [RANGE] = {7u, check_range},
    [RESIZE_NEAREST_NEIGHBOR] = {1u << 1, check_resize},
    [MIRROR_PAD] = {1u << 1, check_padding},
    [SPLIT_V] = {1u << 1 | 1u << 2, check_parts},
    [GATHER_ND] = {1u << 1, check_gathered_points, true},
    [REVERSE_SEQUENCE] = {1u << 1, check_lengths},
    [MATRIX_DIAG] = {0, check_diagonal_type},
    [MATRIX_SET_DIAG] = {0, check_diagonal},
    [NON_MAX_SUPPRESSION_V4] = {1u << 2, check_selection},
    [NON_MAX_SUPPRESSION_V5] = {1u << 2, check_selection},
    [SCATTER_ND] = {1u << 0 | 1u << 2, check_scatter},
    [BROADCAST_TO] = {1u << 1, check_broadcast},
    [RFFT2D] = {1u << 1, check_transform},
    [RANDOM_STANDARD_NORMAL] = {1u << 0, check_random},
    [RANDOM_UNIFORM] = {1u << 0, check_random},
    [MULTINOMIAL] = {1u << 1, check_samples},
    [UNSORTED_SEGMENT_PROD] = {1u << 2, check_segments},
    [UNSORTED_SEGMENT_MAX] = {1u << 2, check_segments},
    [UNSORTED_SEGMENT_SUM] = {1u << 2, check_segments},
    [UNSORTED_SEGMENT_MIN] = {1u << 2, check_segments},
};

/* ---- when it is checked ---------------------------------------------------------------- */

static const struct rule *rule_of(int32_t code) {
    if (code < 0 || code >= CODES || rules[code].check == NULL) return NULL;
    bool kernel_checks = rules[code].later_check && djlplan_tflite_tells_in_place();
    return kernel_checks ? NULL : &rules[code];
}

static bool is_constant(const TfLiteTensor *tensor) {
    return tensor->allocation_type == kTfLiteMmapRo ||
           tensor->allocation_type == kTfLitePersistentRo;
}

/* Returns whether sizes of inputs are known only when the operator runs. */
static bool has_dynamic_input(const struct look *look) {
    for (int i = 0; i < look->node->inputs->size; i++) {
        const TfLiteTensor *tensor = input(look, i);
        if (tensor != NULL && tensor->allocation_type == kTfLiteDynamic) return true;
    }
    return false;
}

/* Checks the operands if the content of all of them is known, or sizes if these are. */
static bool check_operands(const struct look *look, bool computed) {
    const struct rule *rule = rule_of(look->code);
    if (rule == NULL || input(look, 0) == NULL) return true;
    if (rule->operands == 0 && !computed && has_dynamic_input(look)) return true;
    for (int i = 0; rule->operands >> i != 0; i++) {
        const TfLiteTensor *operand = input(look, i);
        bool wanted = (rule->operands >> i & 1) != 0;
        if (wanted && (!is_there(operand) || !(computed || is_constant(operand)))) return true;
    }
    return rule->check(look);
}

bool djlplan_guard_computed(const TfLiteContext *context, const TfLiteNode *node, int32_t code) {
    const struct rule *rule = rule_of(code);
    /* Which inputs will be dynamic is not known before the kernels prepare. */
    if (rule != NULL && rule->operands == 0) return true;
    for (int i = 0; rule != NULL && i < node->inputs->size; i++) {
        int32_t id = node->inputs->data[i];
        bool number = (rule->operands >> i & 1) != 0 && id >= 0;
        if (number && context->tensors[id].allocation_type != kTfLiteMmapRo) return true;
    }
    return false;
}

bool djlplan_guard_before(struct djlplan_tflite_session *session, const TfLiteContext *context,
                          const TfLiteNode *node, int32_t code) {
    const struct look look = {session, context, node, code, false};
    for (int i = 0; i < node->inputs->size; i++) {
        const TfLiteTensor *tensor = input(&look, i);
        if (tensor == NULL) continue;
        if (!has_sound_size(&look, tensor) || !has_sound_scale(&look, tensor)) return false;
        if (!has_depth(&look, tensor)) return false;
        if (needs_elements(code) && !has_elements(&look, tensor)) return false;
    }
    return has_sound_groups(&look) && check_operands(&look, false);
}

void djlplan_guard_unknown(const TfLiteContext *context, const TfLiteNode *node) {
    for (int i = 0; i < node->outputs->size; i++) {
        int32_t id = node->outputs->data[i];
        if (id < 0 || context->tensors[id].allocation_type != kTfLiteArenaRw) continue;
        context->tensors[id].allocation_type = kTfLiteDynamic;
        context->tensors[id].data = NULL;
    }
}

bool djlplan_guard_after(struct djlplan_tflite_session *session, const TfLiteContext *context,
                         const TfLiteNode *node, int32_t code) {
    const struct look look = {session, context, node, code, true};
    int64_t sum = 0;
    for (int i = 0; node->outputs != NULL && i < node->outputs->size; i++) {
        const TfLiteTensor *tensor = tensor_at(&look, node->outputs, i);
        if (tensor == NULL || tensor->allocation_type == kTfLiteDynamic) continue;
        if (!has_sound_size(&look, tensor)) return false;
        if (slides(code) && !has_elements(&look, tensor)) return false;
        if (reduces_nothing(&look, tensor)) return false;
        sum += (int64_t)tensor->bytes;
    }
    for (int i = 0; node->temporaries != NULL && i < node->temporaries->size; i++) {
        const TfLiteTensor *tensor = tensor_at(&look, node->temporaries, i);
        if (tensor != NULL && tensor->allocation_type != kTfLiteDynamic) {
            sum += (int64_t)tensor->bytes;
        }
    }
    for (int i = 0; i < node->inputs->size; i++) {
        const TfLiteTensor *tensor = input(&look, i);
        if (tensor != NULL && !is_constant(tensor)) sum += (int64_t)tensor->bytes;
    }
    if (sum > atomic_load(&memory_bytes)) {
        return refuse(&look, "an operator would need %lld bytes, more than this machine has",
                      (long long)sum);
    }
    return check_operands(&look, false);
}

bool djlplan_guard_operands(struct djlplan_tflite_session *session, const TfLiteContext *context,
                            const TfLiteNode *node, int32_t code) {
    const struct look look = {session, context, node, code, true};
    return check_operands(&look, true);
}
