/* Reads and sets libtorch's per-thread settings: threads of operators, gradients, optimizations. */
#define _GNU_SOURCE
#include "djlplan.h"
#include "torch_abi.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t settings_lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * libtorch's functions for per-thread settings; all NULL if one is missing, or libtorch is not
 * loaded. Written once, by has_settings.
 */
static struct {
    int (*threads_now)(void);
    int (*threads)(void);
    void (*set_threads)(int);
    bool (*grad_mode)(void);
    void (*set_grad_mode)(bool);
    bool (*optimize)(void);
    void (*set_optimize)(bool);
} settings;

static void *function(const char *file, const char *symbol) {
    void *library = dlopen(file, RTLD_NOLOAD | RTLD_LAZY);
    return library == NULL ? NULL : dlsym(library, symbol);
}

/* Casts via uintptr_t, because C cannot cast data pointers to function pointers. */
static void find_settings(void) {
    void *found[] = {
        function(TORCH_CPU, TORCH_GET_NUM_THREADS), function(TORCH_CPU, TORCH_SET_NUM_THREADS),
        function(TORCH_C10, TORCH_GET_GRAD_MODE),   function(TORCH_C10, TORCH_SET_GRAD_MODE),
        function(TORCH_CPU, TORCH_GET_OPTIMIZE),    function(TORCH_CPU, TORCH_SET_OPTIMIZE),
        function(TORCH_CPU, OMP_GET_MAX_THREADS)};
    for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
        if (found[i] == NULL) return;
    }
    settings.threads = (int (*)(void))(uintptr_t)found[0];
    settings.set_threads = (void (*)(int))(uintptr_t)found[1];
    settings.grad_mode = (bool (*)(void))(uintptr_t)found[2];
    settings.set_grad_mode = (void (*)(bool))(uintptr_t)found[3];
    settings.optimize = (bool (*)(void))(uintptr_t)found[4];
    settings.set_optimize = (void (*)(bool))(uintptr_t)found[5];
    settings.threads_now = (int (*)(void))(uintptr_t)found[6];
}

/* Finds the functions once libtorch is loaded; it looks only once if libtorch lacks one. */
static bool has_settings(void) {
    static atomic_bool looked;
    if (!atomic_load(&looked)) {
        pthread_mutex_lock(&settings_lock);
        bool loaded = dlopen(TORCH_CPU, RTLD_NOLOAD | RTLD_LAZY) != NULL;
        if (loaded && !atomic_load(&looked)) find_settings();
        atomic_store(&looked, loaded);
        pthread_mutex_unlock(&settings_lock);
        if (!loaded) return false;
    }
    return settings.threads != NULL;
}

int64_t djlplan_torch_settings(void) {
    if (!has_settings()) return -1;
    return (settings.grad_mode() ? DJLPLAN_TORCH_GRAD : 0) |
           (settings.optimize() ? DJLPLAN_TORCH_OPTIMIZE : 0);
}

int djlplan_torch_threads(int apply) {
    if (!has_settings()) return -1;
    return apply ? settings.threads() : settings.threads_now();
}

void djlplan_torch_set_settings(int64_t wanted) {
    if (wanted < 0 || !has_settings()) return;
    int threads = (int)(wanted & DJLPLAN_TORCH_THREADS);
    /* This also sets the value for future threads, so it is called only if the value differs. */
    if (threads > 0 && threads != settings.threads()) settings.set_threads(threads);
    settings.set_grad_mode((wanted & DJLPLAN_TORCH_GRAD) != 0);
    settings.set_optimize((wanted & DJLPLAN_TORCH_OPTIMIZE) != 0);
}
