/*
 * An external delegate of TensorFlow Lite that computes correctly, and then damages the output of
 * one operator. It claims some operators, each a partition of its own, runs the engine's own kernels
 * for them, and changes their outputs in the selected way. The other operators are left to the CPU
 * kernels, or to XNNPACK, whose rounding then adds to the fault.
 *
 * faulty_claim and faulty_select set the operators and the fault, at any time between two
 * inferences. For processes that cannot call these, SITE, FAULT and REST set them at compile time.
 */
#define _GNU_SOURCE
#include "other_rounding.h"
#include "tflite_abi.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* The faults, in the order of the tests' enumeration. */
enum fault {
    NONE,
    BORDER,       /* the last column is a copy of the one before it */
    CHANNEL_ZERO, /* a channel is zero */
    CHANNEL_GAIN, /* a channel is 1 % too large */
    F16,          /* outputs are rounded to 16-bit floats */
    BF16,         /* outputs are rounded to 16-bit floats with 8 bits of significand */
    INT8,         /* outputs are rounded to 1/127 of the largest */
    ACTIVATION,   /* the activation is missing */
    SHIFTED,      /* everything lies one element further */
    STRIDE,       /* each row lies one place further than the one before it */
    STALE,        /* the previous inference's outputs */
    SWAPPED,      /* the halves of the channels are swapped */
    DENORMALS,    /* subnormal numbers are zero */
    SATURATED,    /* values end at 90 % of the largest */
    NOT_A_NUMBER, /* one element is NaN */
    TAIL,         /* the last elements, as a vector register has, are zero */
    ROW,          /* the last row is zero */
    GAIN,         /* everything is .1 % too large */
    ELEMENT,      /* one element is 10 % too large */
    ROUNDING      /* no fault: quantized operators round in another way, also at higher values */
};

/* TfLiteBuiltinOperator and TfLiteType */
enum { ADD, DEPTHWISE = 4, CONV = 3, DEQUANTIZE = 6, FULLY_CONNECTED = 9, RELU = 19, RELU6 = 21 };
enum { PRELU = 54, DENSIFY = 124, FLOAT32 = 1, UINT8 = 3, INT8_TYPE = 9, EVERY = -1, MOST = 2048 };

enum { SLOW_MICROS = 20000 };

#ifndef SITE
#define SITE -2
#define FAULT NONE
#define REST 0
#endif

static int claimed[MOST] = {SITE};
static int claimed_count = SITE >= 0;
static bool rest_to_xnnpack = REST;
static int faulty_site = SITE;
static int fault = FAULT;
static int damages_left = INT_MAX;

EXPORT void faulty_claim(const int *ids, int count, int with_xnnpack) {
    claimed_count = count < MOST ? count : MOST;
    memcpy(claimed, ids, sizeof *ids * (size_t)claimed_count);
    rest_to_xnnpack = with_xnnpack;
}

EXPORT void faulty_select(int site, int kind) {
    faulty_site = site;
    fault = kind;
    damages_left = INT_MAX;
}

/* Ends the fault after this number of outputs. */
EXPORT void faulty_limit(int damages) { damages_left = damages; }

static int slow_left;

/* Makes this number of inferences slower than any CPU kernels. */
EXPORT void faulty_slow(int inferences) { slow_left = inferences; }

EXPORT int faulty_slow_left(void) { return slow_left; }

static bool is_claimed(int id) {
    for (int i = 0; i < claimed_count; i++) {
        if (claimed[i] == id) return true;
    }
    return false;
}

/* A claimed operator and the engine's node and kernel for it, not in its plan any more. */
struct site {
    int id;
    TfLiteNode *node;
    TfLiteRegistration *kernel;
    float *before; /* outputs of the previous inference */
    bool first;    /* of the delegate's */
};

struct faulty {
    TfLiteDelegate delegate; /* the engine's pointer to the delegate, so it must be first */
    TfLiteDelegate *xnnpack;
    void (*delete_xnnpack)(TfLiteDelegate *);
    struct site *sites[MOST];
    int site_count;
    TfLiteStatus (*get_plan)(TfLiteContext *, TfLiteIntArray **);
    TfLiteIntArray *shown;
};

/* The delegate that is being prepared, because the context's functions get no pointer to it. */
static _Thread_local struct faulty *current;

/* ---- faults ------------------------------------------------------------------------------ */

static float rounded(float value, int bits_lost) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits += (UINT32_C(1) << (bits_lost - 1)) - 1 + ((bits >> bits_lost) & 1);
    bits &= ~((UINT32_C(1) << bits_lost) - 1);
    memcpy(&value, &bits, sizeof bits);
    return value;
}

static float to_f16(float value) {
    const float smallest_normal = 0x1p-14f, step = 0x1p-24f, largest = 65504;
    if (fabsf(value) < smallest_normal) return rintf(value / step) * step;
    float near = rounded(value, 13);
    return fabsf(near) > largest ? copysignf(INFINITY, value) : near;
}

static float largest(const float *values, size_t count) {
    float most = 0;
    for (size_t i = 0; i < count; i++) most = fmaxf(most, fabsf(values[i]));
    return most;
}

/* An output as rows of positions of channels; a vector has one position for each element. */
struct image {
    size_t rows, columns, channels;
};

static struct image image_of(const TfLiteTensor *tensor, size_t count) {
    const TfLiteIntArray *dims = tensor->dims;
    size_t channels = 1, columns = 1;
    if (dims->size >= 3) channels = (size_t)dims->data[dims->size - 1];
    if (dims->size >= 1) columns = (size_t)dims->data[dims->size - (dims->size >= 3 ? 2 : 1)];
    return (struct image){count / (columns * channels), columns, channels};
}

static void damage_rows(float *values, const float *right, struct image image) {
    size_t row = image.columns * image.channels;
    for (size_t y = 0; y < image.rows; y++) {
        for (size_t i = 0; i < row; i++) {
            size_t x = (i + (y + 1) * image.channels) % row;
            if (fault == STRIDE) values[y * row + i] = right[y * row + x];
        }
        if (fault == BORDER && image.columns > 1) {
            memcpy(values + y * row + row - image.channels,
                   right + y * row + row - 2 * image.channels, image.channels * sizeof *values);
        }
    }
    if (fault == ROW) memset(values + (image.rows - 1) * row, 0, row * sizeof *values);
}

static void damage_channels(float *values, const float *right, struct image image, int id) {
    bool vector = image.channels == 1;
    size_t count = vector ? image.columns : image.channels;
    size_t places = image.rows * image.columns * image.channels / count;
    size_t channel = (size_t)id * 7 % count, half = count / 2;
    for (size_t i = 0; i < places; i++) {
        float *place = values + i * count;
        if (fault == CHANNEL_ZERO) place[channel] = 0;
        if (fault == CHANNEL_GAIN) place[channel] *= 1.01f;
        if (fault == SWAPPED) {
            memcpy(place, right + i * count + half, half * sizeof *values);
            memcpy(place + half, right + i * count, half * sizeof *values);
        }
    }
}

static void damage_elements(float *values, const float *right, size_t count, int id) {
    float most = largest(right, count);
    size_t one = (size_t)id * 7919 % count;
    for (size_t i = 0; i < count; i++) {
        if (fault == F16) values[i] = to_f16(right[i]);
        if (fault == BF16) values[i] = rounded(right[i], 16);
        if (fault == INT8 && most > 0) values[i] = rintf(right[i] * 127 / most) * most / 127;
        if (fault == SHIFTED) values[i] = right[i == 0 ? 0 : i - 1];
        if (fault == DENORMALS && fabsf(right[i]) < 0x1p-126f) values[i] = 0;
        if (fault == SATURATED) values[i] = fmaxf(fminf(right[i], .9f * most), -.9f * most);
        if (fault == GAIN) values[i] = right[i] * 1.001f;
        if (fault == TAIL && i + 4 >= count) values[i] = 0;
    }
    if (fault == NOT_A_NUMBER) values[one] = NAN;
    if (fault == ELEMENT) values[one] *= 1.1f;
}

/* Steps of quantized outputs count from the zero point. */
static float get(const TfLiteTensor *tensor, size_t i) {
    if (tensor->type == FLOAT32) return ((const float *)tensor->data)[i];
    int value = tensor->type == UINT8 ? ((const uint8_t *)tensor->data)[i]
                                      : ((const int8_t *)tensor->data)[i];
    return (float)(value - tensor->zero_point);
}

static void set(TfLiteTensor *tensor, size_t i, float value) {
    if (tensor->type == FLOAT32) {
        ((float *)tensor->data)[i] = value;
        return;
    }
    int lowest = tensor->type == UINT8 ? 0 : -128;
    float moved = rintf(value) + (float)tensor->zero_point;
    int near = isnan(moved) ? 0 : (int)fmaxf(fminf(moved, (float)lowest + 255), (float)lowest);
    if (tensor->type == UINT8) {
        ((uint8_t *)tensor->data)[i] = (uint8_t)near;
    } else {
        ((int8_t *)tensor->data)[i] = (int8_t)near;
    }
}

static void damage(struct site *site, TfLiteTensor *output) {
    bool floats = output->type == FLOAT32;
    if (!floats && output->type != UINT8 && output->type != INT8_TYPE) return;
    size_t count = output->bytes / (floats ? sizeof(float) : 1);
    if (count == 0) return;
    float *right = malloc(count * sizeof *right), *wrong = malloc(count * sizeof *wrong);
    if (site->before == NULL) site->before = calloc(count, sizeof *right);
    for (size_t i = 0; i < count; i++) right[i] = wrong[i] = get(output, i);
    if ((site->id == faulty_site || faulty_site == EVERY) && damages_left > 0) {
        damages_left--;
        struct image image = image_of(output, count);
        damage_rows(wrong, right, image);
        damage_channels(wrong, right, image, site->id);
        damage_elements(wrong, right, count, site->id);
        if (fault == STALE) memcpy(wrong, site->before, count * sizeof *wrong);
        for (size_t i = 0; i < count; i++) set(output, i, wrong[i]);
    }
    memcpy(site->before, right, count * sizeof *right);
    free(right);
    free(wrong);
}

/* ---- the engine's kernels -------------------------------------------------------------- */

/* Returns the position of the activation in an operator's parameters, as an index of ints. */
static int activation_at(int code) {
    switch (code) {
    case ADD:
    case FULLY_CONNECTED: return 0;
    case CONV: return 3;
    case DEPTHWISE: return 4;
    default: return -1;
    }
}

static bool compute_otherwise(TfLiteContext *context, const struct site *site) {
    enum rounding rounding = (enum rounding)(fault - ROUNDING);
    const TfLiteTensor *output = &context->tensors[site->node->outputs->data[0]];
    if (output->type != INT8_TYPE) return false;
    switch (site->kernel->builtin_code) {
    case CONV: convolve(context, site->node, false, rounding); return true;
    case DEPTHWISE: convolve(context, site->node, true, rounding); return true;
    case ADD: add(context, site->node, rounding); return true;
    case PRELU: rectify(context, site->node, rounding); return true;
    default: return false;
    }
}

static TfLiteStatus compute(TfLiteContext *context, struct site *site) {
    bool selected = site->id == faulty_site || faulty_site == EVERY;
    if (selected && fault >= ROUNDING && compute_otherwise(context, site)) return kTfLiteOk;
    bool without = selected && fault == ACTIVATION;
    int code = site->kernel->builtin_code, at = activation_at(code);
    int *activation = at < 0 ? NULL : (int *)site->node->builtin_data + at;
    int as_it_is = activation == NULL ? 0 : *activation;
    if (without && activation != NULL) *activation = 0;
    TfLiteStatus status = site->kernel->invoke(context, site->node);
    if (activation != NULL) *activation = as_it_is;
    if (without && (code == RELU || code == RELU6 || code == PRELU)) {
        const TfLiteTensor *input = &context->tensors[site->node->inputs->data[0]];
        memcpy(context->tensors[site->node->outputs->data[0]].data, input->data, input->bytes);
    }
    return status;
}

static void *site_init(TfLiteContext *context, const char *buffer, size_t bytes) {
    (void)context, (void)bytes;
    const TfLiteDelegateParams *params = (const void *)buffer;
    struct faulty *faulty = (struct faulty *)params->delegate;
    struct site *site = calloc(1, sizeof *site);
    site->id = params->nodes_to_replace->data[0];
    site->first = faulty->site_count == 0;
    faulty->sites[faulty->site_count++] = site;
    return site;
}

static void site_free(TfLiteContext *context, void *data) {
    (void)context;
    struct site *site = data;
    free(site->before);
    free(site);
}

static void swap_temporaries(TfLiteNode *a, TfLiteNode *b) {
    TfLiteIntArray *of_a = a->temporaries;
    a->temporaries = b->temporaries;
    b->temporaries = of_a;
}

/*
 * The engine allocates the temporaries of nodes in its plan, so our node gets those of the kernel's
 * node. Later releases take them from the kernel's node if it keeps them.
 */
static TfLiteStatus site_prepare(TfLiteContext *context, TfLiteNode *node) {
    struct site *site = node->user_data;
    if (site->kernel->prepare != NULL) {
        TfLiteStatus status = site->kernel->prepare(context, site->node);
        if (status != kTfLiteOk) return status;
    }
    swap_temporaries(site->node, node);
    return kTfLiteOk;
}

static TfLiteStatus site_invoke(TfLiteContext *context, TfLiteNode *node) {
    struct site *site = node->user_data;
    if (site->first && slow_left > 0) {
        slow_left--;
        usleep(SLOW_MICROS);
    }
    swap_temporaries(site->node, node);
    TfLiteStatus status = compute(context, site);
    swap_temporaries(site->node, node);
    for (int i = 0; status == kTfLiteOk && i < node->outputs->size; i++) {
        damage(site, &context->tensors[node->outputs->data[i]]);
    }
    return status;
}

/* ---- the delegate ---------------------------------------------------------------------- */

static bool feeds_claimed(TfLiteContext *context, const TfLiteNode *unpacking) {
    for (int i = 0; i < claimed_count; i++) {
        TfLiteNode *node;
        TfLiteRegistration *unused;
        if (context->GetNodeAndRegistration(context, claimed[i], &node, &unused) != kTfLiteOk) {
            continue;
        }
        for (int k = 0; k < node->inputs->size; k++) {
            if (node->inputs->data[k] == unpacking->outputs->data[0]) return true;
        }
    }
    return false;
}

/*
 * The plan that XNNPACK sees, without claimed operators and the operators that unpack their
 * constants.
 */
static TfLiteStatus rest_of_plan(TfLiteContext *context, TfLiteIntArray **plan) {
    TfLiteIntArray *all;
    if (current->get_plan(context, &all) != kTfLiteOk) return kTfLiteError;
    free(current->shown);
    current->shown = malloc(sizeof *all + sizeof(int) * (size_t)all->size);
    current->shown->size = 0;
    for (int i = 0; i < all->size; i++) {
        TfLiteNode *node;
        TfLiteRegistration *registration;
        context->GetNodeAndRegistration(context, all->data[i], &node, &registration);
        int code = registration->builtin_code;
        bool unpacks = code == DEQUANTIZE || code == DENSIFY;
        if (is_claimed(all->data[i]) || (unpacks && feeds_claimed(context, node))) continue;
        current->shown->data[current->shown->size++] = all->data[i];
    }
    *plan = current->shown;
    return kTfLiteOk;
}

static TfLiteStatus claim(TfLiteContext *context, struct faulty *faulty) {
    /* Passed by value; a release reads the fields that it knows. */
    TfLiteLaterRegistration kernel = {.common = {.init = site_init,
                                                 .free = site_free,
                                                 .prepare = site_prepare,
                                                 .invoke = site_invoke,
                                                 .custom_name = "faulty",
                                                 .version = 1}};
    for (int i = 0; i < claimed_count; i++) {
        struct {
            int size, id;
        } one = {1, claimed[i]};
        TfLiteStatus status = context->LaterReplaceNodeSubsetsWithDelegateKernels(
            context, kernel, (const TfLiteIntArray *)&one, &faulty->delegate);
        if (status != kTfLiteOk) return status;
    }
    return kTfLiteOk;
}

static TfLiteStatus prepare(TfLiteContext *context, TfLiteDelegate *delegate) {
    struct faulty *faulty = (struct faulty *)delegate;
    TfLiteStatus status = claim(context, faulty);
    if (status == kTfLiteOk && faulty->xnnpack != NULL) {
        current = faulty;
        faulty->get_plan = context->GetExecutionPlan;
        context->GetExecutionPlan = rest_of_plan;
        status = faulty->xnnpack->Prepare(context, faulty->xnnpack);
        context->GetExecutionPlan = faulty->get_plan;
    }
    /* Nodes move only when one is added, which has ended. */
    for (int i = 0; status == kTfLiteOk && i < faulty->site_count; i++) {
        struct site *site = faulty->sites[i];
        status = context->GetNodeAndRegistration(context, site->id, &site->node, &site->kernel);
    }
    return status;
}

/* The library of DJL's engine (2.6), and that of later releases. */
static const char *const ENGINES[] = {"libtensorflowlite_jni.so", "libjnitensorflowlite.so"};

static int find_engine(struct dl_phdr_info *info, size_t size, void *found) {
    (void)size;
    if (strstr(info->dlpi_name, ENGINES[0]) == NULL &&
        strstr(info->dlpi_name, ENGINES[1]) == NULL) {
        return 0;
    }
    *(char **)found = strdup(info->dlpi_name);
    return 1;
}

/* TfLiteXNNPackDelegateOptions; in every release the first field is the number of threads. */
struct options {
    int32_t threads, rest[31];
};

static void create_xnnpack(struct faulty *faulty) {
    char *path = NULL;
    dl_iterate_phdr(find_engine, &path);
    void *engine = path == NULL ? NULL : dlopen(path, RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL);
    bool later = path != NULL && strstr(path, ENGINES[1]) != NULL;
    free(path);
    if (engine == NULL) return;
    struct options options = {.threads = 1};
    struct options (*defaults)(void);
    TfLiteDelegate *(*create)(const struct options *);
    void *symbol = dlsym(engine, "TfLiteXNNPackDelegateOptionsDefault");
    memcpy(&defaults, &symbol, sizeof defaults);
    /* In 2.6 the defaults are zeros, and are returned in another way. */
    if (later) options = defaults();
    options.threads = 1;
    symbol = dlsym(engine, "TfLiteXNNPackDelegateCreate");
    memcpy(&create, &symbol, sizeof create);
    symbol = dlsym(engine, "TfLiteXNNPackDelegateDelete");
    memcpy(&faulty->delete_xnnpack, &symbol, sizeof symbol);
    faulty->xnnpack = create(&options);
}

EXPORT TfLiteDelegate *tflite_plugin_create_delegate(char **keys, char **values, size_t count,
                                                     void (*report)(const char *)) {
    (void)keys, (void)values, (void)count, (void)report;
    struct faulty *faulty = calloc(1, sizeof *faulty);
    faulty->delegate.Prepare = prepare;
    if (rest_to_xnnpack) create_xnnpack(faulty);
    return &faulty->delegate;
}

EXPORT void tflite_plugin_destroy_delegate(TfLiteDelegate *delegate) {
    struct faulty *faulty = (struct faulty *)delegate;
    if (faulty->xnnpack != NULL) faulty->delete_xnnpack(faulty->xnnpack);
    free(faulty->shown);
    free(faulty);
}
