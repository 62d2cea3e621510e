/*
 * Looks for the engine's library on several threads at once. usage: check_attach LIBRARY HOW, where
 * attaching rejects the library. `changing`: other threads load and unload the library at the same
 * time. `loaded`: the library stays loaded; only this case may be built with the sanitizer of
 * threads, which does not know the locks inside the loader. Prints OK.
 */
#define _GNU_SOURCE
#include "check.h"
#include "djlplan.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

enum { ATTACHING = 3, LOADING = 2, ROUNDS_CHANGING = 30000, ROUNDS_LOADED = 1000 };

static int rounds;
static const char *file;
static pthread_barrier_t start;

static void *attach(void *unused) {
    (void)unused;
    pthread_barrier_wait(&start);
    for (int i = 0; i < rounds; i++) {
        char message[100] = "";
        CHECK(djlplan_tflite_attach(message, sizeof message) != DJLPLAN_OK);
        CHECK(strcmp(message, "TensorFlow Lite is not loaded") == 0 ||
              strcmp(message, "TensorFlow Lite has no TfLiteModelCreate") == 0);
    }
    return NULL;
}

static void *load(void *unused) {
    (void)unused;
    pthread_barrier_wait(&start);
    for (int i = 0; i < rounds; i++) {
        void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
        CHECK(library != NULL && dlclose(library) == 0);
    }
    return NULL;
}

int main(int count, char **arguments) {
    CHECK(count == 3);
    file = arguments[1];
    int changing = strcmp(arguments[2], "changing") == 0;
    rounds = changing ? ROUNDS_CHANGING : ROUNDS_LOADED;
    void *library = changing ? NULL : dlopen(file, RTLD_NOW | RTLD_LOCAL);
    CHECK(changing || library != NULL);
    unsigned all = ATTACHING + (changing ? LOADING : 0);
    pthread_t threads[ATTACHING + LOADING];
    pthread_barrier_init(&start, NULL, all);
    for (unsigned i = 0; i < all; i++) {
        CHECK(pthread_create(&threads[i], NULL, i < ATTACHING ? attach : load, NULL) == 0);
    }
    for (unsigned i = 0; i < all; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    if (library != NULL) dlclose(library);
    /* A rejected library must not stay loaded. */
    CHECK(dlopen(file, RTLD_NOLOAD | RTLD_LAZY) == NULL);
    puts("OK");
    return 0;
}
