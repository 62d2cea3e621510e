/*
 * Times predictions in a loop of C: copies the input, invokes, copies the output. Prints the median
 * of rounds, in microseconds.
 *
 * bare_loop LIBRARY MODEL
 */
#define _POSIX_C_SOURCE 200809L

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 1001, WARM_UP_ROUNDS = 400, TIMES = 200, MOST_BYTES = 4096 };

static void *library;

static void fail(const char *problem) {
    fprintf(stderr, "%s\n", problem);
    exit(1);
}

/*
 * Copied, because ISO C cannot cast data pointers to function pointers; both have the same
 * representation.
 */
static void find(void *slot, const char *name) {
    void *function = dlsym(library, name);
    if (function == NULL) fail(name);
    memcpy(slot, &function, sizeof function);
}

static double now_micros(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int ascending(const void *a, const void *b) {
    double difference = *(const double *)a - *(const double *)b;
    return difference < 0 ? -1 : difference > 0;
}

int main(int count, char **arguments) {
    if (count != 3) fail("bare_loop LIBRARY MODEL");
    library = dlopen(arguments[1], RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL) fail(dlerror());

    void *(*model_create)(const char *);
    void *(*options_create)(void);
    void (*set_threads)(void *, int);
    void *(*interpreter_create)(const void *, const void *);
    int (*allocate)(void *);
    void *(*input)(const void *, int);
    const void *(*output)(const void *, int);
    size_t (*bytes)(const void *);
    int (*copy_from)(void *, const void *, size_t);
    int (*invoke)(void *);
    int (*copy_to)(const void *, void *, size_t);
    find(&model_create, "TfLiteModelCreateFromFile");
    find(&options_create, "TfLiteInterpreterOptionsCreate");
    find(&set_threads, "TfLiteInterpreterOptionsSetNumThreads");
    find(&interpreter_create, "TfLiteInterpreterCreate");
    find(&allocate, "TfLiteInterpreterAllocateTensors");
    find(&input, "TfLiteInterpreterGetInputTensor");
    find(&output, "TfLiteInterpreterGetOutputTensor");
    find(&bytes, "TfLiteTensorByteSize");
    find(&copy_from, "TfLiteTensorCopyFromBuffer");
    find(&invoke, "TfLiteInterpreterInvoke");
    find(&copy_to, "TfLiteTensorCopyToBuffer");

    void *model = model_create(arguments[2]);
    void *options = options_create();
    if (model == NULL || options == NULL) fail("no model");
    set_threads(options, 1);
    void *interpreter = interpreter_create(model, options);
    if (interpreter == NULL || allocate(interpreter) != 0) fail("no interpreter");
    void *in = input(interpreter, 0);
    const void *out = output(interpreter, 0);
    static char values[MOST_BYTES];
    if (bytes(in) > MOST_BYTES || bytes(out) > MOST_BYTES) fail("too large");

    static double micros[ROUNDS];
    for (int round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
        double start = now_micros();
        for (int i = 0; i < TIMES; i++) {
            if (copy_from(in, values, bytes(in)) != 0 || invoke(interpreter) != 0 ||
                copy_to(out, values, bytes(out)) != 0) {
                fail("the engine fails");
            }
        }
        if (round >= 0) micros[round] = (now_micros() - start) / TIMES;
    }
    qsort(micros, ROUNDS, sizeof micros[0], ascending);
    printf("%.3f\n", micros[ROUNDS / 2]);
    return 0;
}
