/* Functions of libraries that the process has loaded. */
#ifndef DJLPLAN_FUNCTIONS_H
#define DJLPLAN_FUNCTIONS_H

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* Returns a loaded library, NULL if it is not loaded. */
static inline void *djlplan_loaded(const char *file) {
    return dlopen(file, RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL);
}

/*
 * Writes the address of a symbol to `slot`, a pointer to a pointer; NULL if the library is NULL or
 * lacks it, and then returns false. The address is copied, because ISO C cannot cast data pointers
 * to function pointers; both have the same representation.
 */
static inline bool djlplan_find(void *library, const char *symbol, void *slot) {
    void *found = library == NULL ? NULL : dlsym(library, symbol);
    memcpy(slot, &found, sizeof found);
    return found != NULL;
}

#endif
