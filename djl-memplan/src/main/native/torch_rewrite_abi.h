/*
 * The part of libtorch's C++ ABI that torch_rewrite.cpp uses, taken from the versions 2.1.1 and
 * 2.7.1. A member function is called as a function whose first argument is the object. Names with
 * `__cxx11` exist only in builds with the current ABI of libstdc++, so a build with the older one
 * lacks them.
 */
#ifndef DJLPLAN_TORCH_REWRITE_ABI_H
#define DJLPLAN_TORCH_REWRITE_ABI_H

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace torch_abi {

/* Only pointers to these are used. */
struct graph;
struct class_type;
struct object;
struct value;
struct match;
struct node;

using shared_graph = std::shared_ptr<graph>;
using names = std::vector<std::string>;

/* torch::jit::Module; only its first word is read. */
struct module {
    object *instance;
};

/*
 * Its sizes. All of it are pointers, some of them counted, so that it can be moved by copying its
 * bytes. It has a destructor, so it is returned in memory of the caller.
 */
enum { MODULE_BYTES_OLD = 32, MODULE_BYTES_NEW = 48 };

/* A returned module, with room for a larger one, which a check then finds. */
enum { ROOM_BYTES = 512 };
struct returned_module {
    unsigned char bytes[ROOM_BYTES];
    returned_module(const returned_module &) = delete;
    ~returned_module() {}
};

/* std::optional or c10::optional of names, without a value: zeros in both layouts. */
struct no_names {
    alignas(8) unsigned char zeros[64];
};

/* torch::jit::GraphFunction: its virtual table, c10::QualifiedName, and the graph. */
struct function {
    void *const *vtable;
    names atoms;
    std::string qualified, prefix, name;
    shared_graph graph;
};
static_assert(offsetof(function, graph) == 128, "the graph moved");

/* torch::jit::SubgraphRewriter; more bytes than in both versions. */
struct pattern {
    std::string pattern, replacement;
    std::unordered_map<std::string, std::string> value_names;
};
struct rewriter {
    std::vector<pattern> patterns;
    std::unordered_set<node *> deleted;
    unsigned char unused[64];
};

using filter = std::function<bool(const match &, const std::unordered_map<std::string, value *> &)>;

/* The functions, and their symbols. */
struct functions {
    returned_module (*freeze)(const module &, const no_names &preserved, bool optimize_numerics);
    returned_module (*optimize)(module &, const names &other_methods);
    std::shared_ptr<class_type> (*type)(const object *);
    function *(*find_method)(const class_type *, const std::string &);
    const std::vector<function *> &(*methods)(const class_type *);
    std::string (*text)(const graph *, bool with_source_locations);
    void (*register_pattern)(rewriter *, const std::string &pattern, const std::string &replacement,
                             const std::vector<std::pair<std::string, std::string>> &value_names);
    void (*replace)(rewriter *, shared_graph &, const std::vector<filter> &);
    bool (*propagate_constants)(shared_graph &, bool ignore_custom_classes);
    void (*eliminate_dead_code)(const shared_graph &, unsigned char side_effects);
    void *function_table; /* GraphFunction's virtual table */
};

} // namespace torch_abi

#define TORCH_CPU "libtorch_cpu.so"
#define TORCH_FREEZE_OLD                                                                           \
    "_ZN5torch3jit6freezeERKNS0_6ModuleERKN3c108optionalISt6vectorINSt7__cxx1112basic_stringIcSt"  \
    "11char_traitsIcESaIcEEESaISC_EEEEb"
#define TORCH_FREEZE                                                                               \
    "_ZN5torch3jit6freezeERKNS0_6ModuleERKSt8optionalISt6vectorINSt7__cxx1112basic_stringIcSt11"   \
    "char_traitsIcESaIcEEESaISB_EEEb"
#define TORCH_OPTIMIZE                                                                             \
    "_ZN5torch3jit22optimize_for_inferenceERNS0_6ModuleERKSt6vectorINSt7__cxx1112basic_stringIcSt" \
    "11char_traitsIcESaIcEEESaIS9_EE"
#define TORCH_TYPE "_ZNK3c106ivalue6Object4typeEv"
#define TORCH_FIND_METHOD                                                                          \
    "_ZNK3c109ClassType10findMethodERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
#define TORCH_METHODS "_ZNK3c109ClassType7methodsEv"
#define TORCH_TEXT "_ZNK5torch3jit5Graph8toStringB5cxx11Eb"
#define TORCH_REGISTER_PATTERN                                                                     \
    "_ZN5torch3jit16SubgraphRewriter22RegisterRewritePatternERKNSt7__cxx1112basic_stringIcSt11"    \
    "char_traitsIcESaIcEEES9_RKSt6vectorISt4pairIS7_S7_ESaISC_EE"
#define TORCH_REPLACE                                                                              \
    "_ZN5torch3jit16SubgraphRewriter10runOnGraphERSt10shared_ptrINS0_5GraphEERKSt6vectorISt8func"  \
    "tionIFbRKNS0_5MatchERKSt13unordered_mapINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE" \
    "PNS0_5ValueESt4hashISH_ESt8equal_toISH_ESaISt4pairIKSH_SJ_EEEEESaISW_EE"
#define TORCH_PROPAGATE_CONSTANTS "_ZN5torch3jit19ConstantPropagationERSt10shared_ptrINS0_5GraphEEb"
#define TORCH_ELIMINATE_DEAD_CODE                                                                  \
    "_ZN5torch3jit17EliminateDeadCodeERKSt10shared_ptrINS0_5GraphEENS0_19DCESideEffectPolicyE"
#define TORCH_FUNCTION_TABLE "_ZTVN5torch3jit13GraphFunctionE"

/* The entries of a virtual table begin after the offset to top and RTTI. */
enum { TORCH_BEFORE_ENTRIES = 2 };

/* DCESideEffectPolicy::DONT_DELETE_NODES_WITH_SIDE_EFFECTS */
enum { TORCH_KEEP_SIDE_EFFECTS = 0 };

#endif
