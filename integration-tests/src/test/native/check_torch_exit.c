/* Checks the counts of passes, and processes that exit during a pass and between passes. */
#define _GNU_SOURCE
#include "check_torch.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ARENA = 1 << 20, STATUS = 7, MOMENT_MICROS = 50000 };

static void *begin_pass(void *unused) {
    (void)unused;
    djlplan_torch_pass_begin();
    CHECK(write(STDOUT_FILENO, "began, ", 7) == 7);
    return NULL;
}

/* A destructor during which another thread tries to begin a pass. */
static void destroy(void) {
    pthread_t other;
    CHECK(pthread_create(&other, NULL, begin_pass, NULL) == 0);
    usleep(MOMENT_MICROS);
    CHECK(write(STDOUT_FILENO, "destroyed, ", 11) == 11);
}

static struct djlplan_run *begin(void *arena) { return djlplan_torch_begin(NULL, arena, NULL, 0); }

/* Checks counts for runs, nested and rejected runs, and passes without a run. */
static void check_counts(void) {
    void *arena = djlplan_arena_create(64, ARENA);
    int64_t counters[DJLPLAN_COUNTERS];
    CHECK(djlplan_torch_passes() == 0);
    CHECK(begin(NULL) == NULL && djlplan_torch_passes() == 0);
    struct djlplan_run *run = begin(arena);
    CHECK(run != NULL && djlplan_torch_passes() == 1);
    CHECK(begin(arena) == NULL && djlplan_torch_passes() == 1);
    djlplan_torch_pass_begin();
    CHECK(djlplan_torch_passes() == 2);
    djlplan_torch_pass_end();
    djlplan_torch_pause();
    CHECK(djlplan_torch_passes() == 0);
    djlplan_torch_pause();
    djlplan_run_finish(run, counters);
    CHECK(djlplan_torch_passes() == 0);
    djlplan_arena_free(arena);
}

/*
 * Checks the output and status of a process in which exit() runs a destructor that was registered
 * before the guard.
 */
static void check_child(int in_pass, const char *expected) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(dup2(ends[1], STDOUT_FILENO) >= 0 && close(ends[0]) == 0 && close(ends[1]) == 0);
        CHECK(atexit(destroy) == 0);
        CHECK(djlplan_torch_guard_exit() == 0);
        if (in_pass) CHECK(begin(djlplan_arena_create(64, ARENA)) != NULL);
        printf("flushed");
        exit(STATUS);
    }
    CHECK(close(ends[1]) == 0);
    char printed[32] = "";
    FILE *out = fdopen(ends[0], "r");
    CHECK(out != NULL);
    CHECK(fread(printed, 1, sizeof printed - 1, out) == strlen(expected));
    CHECK(strcmp(printed, expected) == 0 && fclose(out) == 0);
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == STATUS);
}

void check_exit(void) {
    check_counts();
    check_child(1, "flushed");
    check_child(0, "destroyed, flushed");
}
