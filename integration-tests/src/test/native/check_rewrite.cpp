/* Checks the rewriting of modules, with fake_torch.cpp instead of libtorch. */
#include "check.h"
#include "torch_rewrite.h"

#include <cstring>
#include <dlfcn.h>
#include <string>
#include <unistd.h>

static char message[100];
static void *library;

template <class Function> static Function *symbol(const char *name) {
    auto found = reinterpret_cast<Function *>(dlsym(library, name));
    CHECK(found != nullptr);
    return found;
}

static int64_t load(const char *name, const char *graph) {
    return symbol<int64_t(const char *, const char *)>("fake_load")(name, graph);
}

static void unload(int64_t module) { symbol<void(int64_t)>("fake_delete")(module); }

static int attach() { return djlplan_rewrite_attach(message, sizeof message); }

static int64_t freeze(int64_t module) {
    return djlplan_rewrite_freeze(module, message, sizeof message);
}

static int64_t optimize(int64_t module) {
    return djlplan_rewrite_optimize(module, message, sizeof message);
}

static int replace(int64_t module, const char *pattern, const char *replacement) {
    return djlplan_rewrite_replace(module, pattern, replacement, message, sizeof message);
}

static std::string graph(int64_t module) {
    char out[200];
    int64_t bytes = djlplan_rewrite_graph(module, out, sizeof out, message, sizeof message);
    CHECK(bytes >= 0 && bytes <= (int64_t)sizeof out);
    return std::string(out, (size_t)bytes);
}

static bool says(const char *text) { return strstr(message, text) != nullptr; }

static void check_modules() {
    int64_t module = load("forward", "linear");
    int64_t frozen = freeze(module);
    CHECK(frozen != 0 && frozen != module && graph(frozen) == "frozen linear");
    int64_t optimized = optimize(module);
    CHECK(optimized != 0 && graph(optimized) == "optimized linear");
    CHECK(graph(module) == "linear");
    unload(module);
    CHECK(replace(frozen, "linear", "packed") == 0);
    CHECK(graph(frozen) == "frozen packed propagated clean");
    CHECK(replace(frozen, "", "packed") != 0 && says("expected a graph"));
    unload(frozen);
    unload(optimized);
}

static void check_texts() {
    int64_t module = load("forward", "a text");
    char out[8];
    CHECK(djlplan_rewrite_graph(module, out, 2, message, sizeof message) == 6);
    CHECK(memcmp(out, "a ", 2) == 0);
    CHECK(djlplan_rewrite_methods(module, out, sizeof out, message, sizeof message) == 8);
    CHECK(memcmp(out, "forward\n", 8) == 0);
    unload(module);
    /* Short names are inside a string, long ones are not. */
    std::string name(40, 'x');
    module = load(name.c_str(), "a text");
    char names[50];
    CHECK(djlplan_rewrite_methods(module, names, sizeof names, message, sizeof message) == 41);
    CHECK(std::string(names, 41) == name + '\n');
    CHECK(djlplan_rewrite_graph(module, out, 0, message, sizeof message) == -1);
    CHECK(says("not a graph"));
    unload(module);
}

static void check_refusals() {
    int64_t module = load("forward", "refused");
    CHECK(freeze(module) == 0 && says("cannot be frozen"));
    CHECK(optimize(module) == 0 && says("cannot be frozen"));
    CHECK(djlplan_rewrite_freeze(module, message, 4) == 0 && strcmp(message, "can") == 0);
    CHECK(djlplan_rewrite_freeze(module, nullptr, 0) == 0);
    unload(module);
    module = load("forward", "odd");
    CHECK(freeze(module) == 0 && says("unknown exception"));
    unload(module);
}

int main(int count, char **arguments) {
    CHECK(count == 3);
    CHECK(djlplan_rewrite_abi() == DJLPLAN_REWRITE_ABI);
    CHECK(attach() != 0 && says("not loaded"));
    library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    CHECK(library != nullptr);
    std::string expected = arguments[2];
    if (expected == "sound") {
        CHECK(attach() == 0 && attach() == 0);
        check_modules();
        check_texts();
        check_refusals();
    } else if (expected == "another size") {
        CHECK(attach() == 0);
        int64_t module = load("forward", "linear");
        CHECK(freeze(module) == 0 && says("another size"));
        puts("OK");
        fflush(stdout);
        _exit(0); /* A module whose layout is unknown cannot be deleted. */
    } else if (expected == "another layout") {
        CHECK(attach() == 0);
        int64_t module = load("forward", "linear");
        CHECK(replace(module, "linear", "packed") != 0 && says(expected.c_str()));
        unload(module);
    } else {
        CHECK(attach() != 0 && says(expected.c_str()));
    }
    puts("OK");
}
