/*
 * The second native library of djl-plan, in C++ because libtorch throws exceptions: it rewrites
 * loaded TorchScript modules with passes of libtorch for which DJL has no API. It is loaded after
 * the engine, and keeps only the addresses of libtorch's functions.
 *
 * A module is DJL's handle, the address of a torch::jit::Module. Functions that return a module
 * return 0, and functions that return int another number than DJLPLAN_OK, if libtorch refuses; the
 * reason is written to `message`, cut to `message_bytes`. All functions are thread-safe, but a
 * module that replace() changes must not be in use.
 */
#ifndef DJLPLAN_TORCH_REWRITE_H
#define DJLPLAN_TORCH_REWRITE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DJLPLAN_API __attribute__((visibility("default")))

/* The version of this interface; raised with every change of a function. */
enum { DJLPLAN_REWRITE_ABI = 1 };
DJLPLAN_API int djlplan_rewrite_abi(void);

/* Finds libtorch's functions. Must succeed before all functions below. */
DJLPLAN_API int djlplan_rewrite_attach(char *message, int64_t message_bytes);

/*
 * Return a new module, which the caller deletes as DJL deletes modules; the given one stays usable.
 * `optimize` also fuses operators and converts the weights of convolutions to oneDNN's layout.
 */
DJLPLAN_API int64_t djlplan_rewrite_freeze(int64_t module, char *message, int64_t message_bytes);
DJLPLAN_API int64_t djlplan_rewrite_optimize(int64_t module, char *message, int64_t message_bytes);

/*
 * Replaces a pattern in the graph of a frozen module's method `forward`, both in libtorch's text of
 * graphs, and computes what became constant.
 */
DJLPLAN_API int djlplan_rewrite_replace(int64_t module, const char *pattern,
                                        const char *replacement, char *message,
                                        int64_t message_bytes);

/*
 * Writes the names of the methods of a module, or the text of the graph of its method `forward`.
 * Returns the number of bytes of the whole text, of which at most `capacity` were written; −1 if
 * libtorch refuses.
 */
DJLPLAN_API int64_t djlplan_rewrite_methods(int64_t module, char *out, int64_t capacity,
                                            char *message, int64_t message_bytes);
DJLPLAN_API int64_t djlplan_rewrite_graph(int64_t module, char *out, int64_t capacity,
                                          char *message, int64_t message_bytes);

#ifdef __cplusplus
}
#endif

#endif
