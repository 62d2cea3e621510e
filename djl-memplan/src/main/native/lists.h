/* Lists that grow. */
#ifndef DJLPLAN_LISTS_H
#define DJLPLAN_LISTS_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * Ensures room for one more element. `list` is a pointer to the list's address, and `size` the bytes
 * of an element. Returns false, with an unchanged list, if there is no memory.
 */
static inline bool djlplan_list_ensure(void *list, int count, int *capacity, size_t size) {
    if (count < *capacity) return true;
    int more = *capacity == 0 ? 256 : 2 * *capacity;
    void *elements;
    memcpy(&elements, list, sizeof elements);
    elements = realloc(elements, (size_t)more * size);
    if (elements == NULL) return false;
    memcpy(list, &elements, sizeof elements);
    *capacity = more;
    return true;
}

#endif
