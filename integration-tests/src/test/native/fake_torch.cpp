/*
 * The functions of libtorch that torch_rewrite.cpp calls, on modules and graphs that are only texts.
 * LARGE: modules are larger. OTHER_LAYOUT: functions have another field. NO_CLEANING: a symbol is
 * missing.
 */
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace torch::jit {
struct Function {
    virtual ~Function() = default;
};
} // namespace torch::jit

namespace c10 {
struct QualifiedName {
    std::vector<std::string> atoms;
    std::string qualified, prefix, name;
};
struct ClassType {
    torch::jit::Function *findMethod(const std::string &name) const;
    const std::vector<torch::jit::Function *> &methods() const;
    std::vector<torch::jit::Function *> all;
    std::vector<std::unique_ptr<torch::jit::Function>> owned;
};
namespace ivalue {
struct Object {
    std::shared_ptr<ClassType> type() const;
    std::shared_ptr<ClassType> its_type;
};
} // namespace ivalue
} // namespace c10

namespace torch::jit {
struct Graph {
    std::string toString(bool with_source_locations) const;
    std::string text;
};
struct GraphFunction : Function {
    GraphFunction();
    ~GraphFunction() override;
#ifdef OTHER_LAYOUT
    void *inserted = nullptr;
#endif
    c10::QualifiedName name;
    std::shared_ptr<Graph> graph;
};
struct Module {
    std::shared_ptr<c10::ivalue::Object> object; /* its first word is the object */
#ifdef LARGE
    unsigned char more[100] = {};
#else
    std::shared_ptr<int> more[2];
#endif
};
struct Match;
struct Value;
struct Node;
enum class DCESideEffectPolicy : uint8_t { DONT_DELETE, DELETE };

struct Pattern {
    std::string pattern, replacement;
    std::unordered_map<std::string, std::string> value_names;
};
struct SubgraphRewriter {
    using Filter =
        std::function<bool(const Match &, const std::unordered_map<std::string, Value *> &)>;
    void RegisterRewritePattern(const std::string &pattern, const std::string &replacement,
                                const std::vector<std::pair<std::string, std::string>> &names);
    void runOnGraph(std::shared_ptr<Graph> &graph, const std::vector<Filter> &filters);
    std::vector<Pattern> patterns;
    std::unordered_set<Node *> deleted;
};

GraphFunction::GraphFunction() = default;
GraphFunction::~GraphFunction() = default;

std::string Graph::toString(bool with_source_locations) const {
    return with_source_locations ? "" : text;
}

static Module made(const std::vector<std::pair<std::string, std::string>> &methods) {
    auto type = std::make_shared<c10::ClassType>();
    for (const auto &method : methods) {
        auto function = std::make_unique<GraphFunction>();
        function->name.name = method.first;
        function->graph = std::make_shared<Graph>(Graph{method.second});
        type->all.push_back(function.get());
        type->owned.push_back(std::move(function));
    }
    return Module{std::make_shared<c10::ivalue::Object>(c10::ivalue::Object{type}), {}};
}

static std::string forward_of(const Module &module) {
    auto *function = static_cast<GraphFunction *>(module.object->type()->findMethod("forward"));
    return function == nullptr ? "" : function->graph->text;
}

static Module rewritten(const Module &module, const std::string &how) {
    if (forward_of(module) == "refused") throw std::runtime_error("cannot be frozen\nfor tests");
    if (forward_of(module) == "odd") throw 7;
    return made({{"forward", how + forward_of(module)}});
}

Module freeze(const Module &module, const std::optional<std::vector<std::string>> &preserved,
              bool optimize_numerics) {
    return rewritten(module, !preserved && optimize_numerics ? "frozen " : "wrong ");
}

Module optimize_for_inference(Module &module, const std::vector<std::string> &other_methods) {
    return rewritten(module, other_methods.empty() ? "optimized " : "wrong ");
}

void SubgraphRewriter::RegisterRewritePattern(
    const std::string &pattern, const std::string &replacement,
    const std::vector<std::pair<std::string, std::string>> &names) {
    if (pattern.empty() || !names.empty()) throw std::runtime_error("expected a graph");
    patterns.push_back({pattern, replacement, {}});
    deleted.insert(nullptr);
}

void SubgraphRewriter::runOnGraph(std::shared_ptr<Graph> &graph,
                                  const std::vector<Filter> &filters) {
    size_t at = graph->text.find(patterns[0].pattern);
    if (at == std::string::npos || !filters.empty()) return;
    graph->text.replace(at, patterns[0].pattern.size(), patterns[0].replacement);
}

bool ConstantPropagation(std::shared_ptr<Graph> &graph, bool ignore_custom_classes) {
    if (!ignore_custom_classes) graph->text += " propagated";
    return true;
}

#ifndef NO_CLEANING
void EliminateDeadCode(const std::shared_ptr<Graph> &graph, DCESideEffectPolicy policy) {
    if (policy == DCESideEffectPolicy::DONT_DELETE) graph->text += " clean";
}
#endif
} // namespace torch::jit

namespace c10 {
torch::jit::Function *ClassType::findMethod(const std::string &name) const {
    for (torch::jit::Function *each : all) {
        if (static_cast<torch::jit::GraphFunction *>(each)->name.name == name) return each;
    }
    return nullptr;
}
const std::vector<torch::jit::Function *> &ClassType::methods() const { return all; }
std::shared_ptr<ClassType> ivalue::Object::type() const { return its_type; }
} // namespace c10

/* For the check. */
extern "C" {
torch::jit::Module *fake_load(const char *name, const char *graph) {
    return new torch::jit::Module(torch::jit::made({{name, graph}}));
}
void fake_delete(torch::jit::Module *module) { delete module; }
}

#pragma GCC visibility pop
