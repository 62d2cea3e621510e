/* Reads and sets libtorch's per-thread settings: threads of operators, gradients, optimizations. */
#define _GNU_SOURCE
#include "djlplan.h"
#include "functions.h"
#include "torch_abi.h"

#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t settings_lock = PTHREAD_MUTEX_INITIALIZER;

/* libtorch's functions for per-thread settings. Written once, by has_settings. */
static struct {
    int (*threads_now)(void);
    int (*threads)(void);
    void (*set_threads)(int);
    bool (*grad_mode)(void);
    void (*set_grad_mode)(bool);
    bool (*optimize)(void);
    void (*set_optimize)(bool);
    bool found; /* all of them */
} settings;

static void find_settings(void *cpu) {
    void *c10 = djlplan_loaded(TORCH_C10);
    settings.found = djlplan_find(cpu, TORCH_GET_NUM_THREADS, &settings.threads) &&
                     djlplan_find(cpu, TORCH_SET_NUM_THREADS, &settings.set_threads) &&
                     djlplan_find(c10, TORCH_GET_GRAD_MODE, &settings.grad_mode) &&
                     djlplan_find(c10, TORCH_SET_GRAD_MODE, &settings.set_grad_mode) &&
                     djlplan_find(cpu, TORCH_GET_OPTIMIZE, &settings.optimize) &&
                     djlplan_find(cpu, TORCH_SET_OPTIMIZE, &settings.set_optimize) &&
                     djlplan_find(cpu, OMP_GET_MAX_THREADS, &settings.threads_now);
}

/* Finds the functions once libtorch is loaded; it looks only once if libtorch lacks one. */
static bool has_settings(void) {
    static atomic_bool looked;
    if (!atomic_load(&looked)) {
        pthread_mutex_lock(&settings_lock);
        void *cpu = djlplan_loaded(TORCH_CPU);
        if (cpu != NULL && !atomic_load(&looked)) find_settings(cpu);
        atomic_store(&looked, cpu != NULL);
        pthread_mutex_unlock(&settings_lock);
        if (cpu == NULL) return false;
    }
    return settings.found;
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
