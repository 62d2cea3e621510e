/* Gives a process a low priority. */
#define _GNU_SOURCE
#include "djlplan.h"

#include <dirent.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

/*
 * Uses SCHED_BATCH, not SCHED_IDLE. Beside one busy thread on the same core, SCHED_IDLE gets 0.5 %
 * of the time, so that a measurement might never end; nice 19 gets 2 %, nice 10 gets 10 %. A thread
 * with SCHED_BATCH never preempts another one when it wakes up.
 */
static bool give_way(int thread, int nice) {
    struct sched_param none = {.sched_priority = 0};
    if (setpriority(PRIO_PROCESS, (id_t)thread, nice) != 0) return false;
    return sched_setscheduler(thread, SCHED_BATCH, &none) == 0;
}

int djlplan_give_way(int process, int nice) {
    char folder[64];
    snprintf(folder, sizeof folder, "/proc/%d/task", process);
    DIR *threads = opendir(folder);
    if (threads == NULL) return 0;
    int done = 0;
    struct dirent *entry;
    while ((entry = readdir(threads)) != NULL) {
        int thread = atoi(entry->d_name);
        if (thread > 0) done += give_way(thread, nice);
    }
    closedir(threads);
    return done;
}
