/* Calls libtorch's passes on TorchScript modules, and catches what they throw. */
#include "torch_rewrite.h"
#include "torch_rewrite_abi.h"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <exception>
#include <mutex>
#include <new>
#include <stdexcept>

using namespace torch_abi;

namespace {

enum { OK = 0, ENGINE_ERROR = 1 };
constexpr unsigned char UNTOUCHED = 0xA5;

/* Written once, under attach_lock. The functions are called only afterwards. */
std::mutex attach_lock;
bool attached;
functions torch;

/* Writes the problem to `message`. */
void tell(char *message, int64_t message_bytes, const char *problem) {
    snprintf(message, (size_t)message_bytes, "%s", problem);
}

/* Runs an action. Returns its result, or `failed` if it throws. */
template <class Result, class Action>
Result guarded(Result failed, char *message, int64_t message_bytes, Action action) {
    try {
        return action();
    } catch (const std::exception &e) {
        tell(message, message_bytes, e.what());
    } catch (...) {
        tell(message, message_bytes, "libtorch threw an unknown exception");
    }
    return failed;
}

bool find(void *library, const char *symbol, void *slot) {
    void *found = dlsym(library, symbol);
    memcpy(slot, &found, sizeof found);
    return found != nullptr;
}

/* Returns the symbol that the library lacks, or nullptr. */
const char *find_all(void *library) {
    const struct {
        const char *symbol;
        void *slot;
    } all[] = {{TORCH_OPTIMIZE, &torch.optimize},
               {TORCH_TYPE, &torch.type},
               {TORCH_FIND_METHOD, &torch.find_method},
               {TORCH_METHODS, &torch.methods},
               {TORCH_TEXT, &torch.text},
               {TORCH_REGISTER_PATTERN, &torch.register_pattern},
               {TORCH_REPLACE, &torch.replace},
               {TORCH_PROPAGATE_CONSTANTS, &torch.propagate_constants},
               {TORCH_ELIMINATE_DEAD_CODE, &torch.eliminate_dead_code},
               {TORCH_FUNCTION_TABLE, &torch.function_table}};
    for (const auto &each : all) {
        if (!find(library, each.symbol, each.slot)) return each.symbol;
    }
    return find(library, TORCH_FREEZE, &torch.freeze) ||
                   find(library, TORCH_FREEZE_OLD, &torch.freeze)
               ? nullptr
               : TORCH_FREEZE;
}

module &at(int64_t handle) { return *reinterpret_cast<module *>(handle); }

/*
 * Returns the module that an action returns, in memory of exactly its size, because DJL deletes it
 * with that size. The action's result is built in larger memory, whose bytes show the size.
 */
template <class Action> int64_t made(Action action) {
    alignas(module) unsigned char room[ROOM_BYTES];
    memset(room, UNTOUCHED, sizeof room);
    new (room) returned_module(action());
    size_t size = sizeof room;
    while (size > 0 && room[size - 1] == UNTOUCHED) size--;
    if (size != MODULE_BYTES_OLD && size != MODULE_BYTES_NEW) {
        throw std::runtime_error("torch::jit::Module has another size");
    }
    return reinterpret_cast<int64_t>(memcpy(operator new(size), room, size));
}

/* Checks that a function has the layout that `function` describes. */
function &checked(function *found) {
    void *const *table = static_cast<void *const *>(torch.function_table) + TORCH_BEFORE_ENTRIES;
    if (found == nullptr || found->vtable != table) {
        throw std::runtime_error("a method is not a graph");
    }
    const char *name = found->name.data();
    bool inside = name >= reinterpret_cast<const char *>(&found->name) &&
                  name < reinterpret_cast<const char *>(&found->name + 1);
    if (inside != (found->name.size() < sizeof(std::string) / 2)) {
        throw std::runtime_error("torch::jit::GraphFunction has another layout");
    }
    return *found;
}

function &forward_of(const module &module) {
    const std::string name = "forward";
    function &found = checked(torch.find_method(torch.type(module.instance).get(), name));
    if (found.name != name || found.graph == nullptr) {
        throw std::runtime_error("torch::jit::GraphFunction has another layout");
    }
    return found;
}

int64_t write(const std::string &text, char *out, int64_t capacity) {
    if (capacity > 0) memcpy(out, text.data(), std::min(text.size(), (size_t)capacity));
    return (int64_t)text.size();
}

} // namespace

int djlplan_rewrite_abi(void) { return DJLPLAN_REWRITE_ABI; }

int djlplan_rewrite_attach(char *message, int64_t message_bytes) {
    return guarded<int>(ENGINE_ERROR, message, message_bytes, [] {
        std::lock_guard<std::mutex> lock(attach_lock);
        if (attached) return (int)OK;
        void *library = dlopen(TORCH_CPU, RTLD_NOLOAD | RTLD_LAZY);
        if (library == nullptr) throw std::runtime_error("libtorch is not loaded");
        const char *missing = find_all(library);
        if (missing != nullptr) {
            dlclose(library);
            throw std::runtime_error(std::string("libtorch has no ") + missing);
        }
        attached = true;
        return (int)OK;
    });
}

int64_t djlplan_rewrite_freeze(int64_t module, char *message, int64_t message_bytes) {
    return guarded<int64_t>(0, message, message_bytes, [&] {
        return made([&] { return torch.freeze(at(module), no_names{}, true); });
    });
}

int64_t djlplan_rewrite_optimize(int64_t module, char *message, int64_t message_bytes) {
    return guarded<int64_t>(0, message, message_bytes, [&] {
        return made([&] { return torch.optimize(at(module), names{}); });
    });
}

int djlplan_rewrite_replace(int64_t module, const char *pattern, const char *replacement,
                            char *message, int64_t message_bytes) {
    return guarded<int>(ENGINE_ERROR, message, message_bytes, [&] {
        shared_graph graph = forward_of(at(module)).graph;
        rewriter rewriter = {};
        torch.register_pattern(&rewriter, pattern, replacement, {});
        if (rewriter.patterns.size() != 1 || rewriter.patterns[0].pattern != pattern) {
            throw std::runtime_error("torch::jit::SubgraphRewriter has another layout");
        }
        torch.replace(&rewriter, graph, {});
        torch.propagate_constants(graph, false);
        torch.eliminate_dead_code(graph, TORCH_KEEP_SIDE_EFFECTS);
        return (int)OK;
    });
}

int64_t djlplan_rewrite_methods(int64_t module, char *out, int64_t capacity, char *message,
                                int64_t message_bytes) {
    return guarded<int64_t>(-1, message, message_bytes, [&] {
        std::string all;
        for (function *method : torch.methods(torch.type(at(module).instance).get())) {
            all += checked(method).name + '\n';
        }
        return write(all, out, capacity);
    });
}

int64_t djlplan_rewrite_graph(int64_t module, char *out, int64_t capacity, char *message,
                              int64_t message_bytes) {
    return guarded<int64_t>(-1, message, message_bytes, [&] {
        return write(torch.text(forward_of(at(module)).graph.get(), false), out, capacity);
    });
}
