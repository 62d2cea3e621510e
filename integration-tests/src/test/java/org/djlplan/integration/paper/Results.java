package org.djlplan.integration.paper;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.integration.paper.Contender.Kind;
import org.djlplan.memplan.internal.plan.MemoryPlanner;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.collect.ImmutableTable;
import org.djlplan.thirdparty.guava.collect.Maps;

/** The size of every strategy's plan for every network. */
final class Results {

    private final ImmutableMap<PaperNetwork, PlanningProblem> problems;
    private final ImmutableList<Contender> contenders;
    private final ImmutableTable<String, PaperNetwork, Long> bytes;

    private Results(Map<PaperNetwork, PlanningProblem> problems, List<Contender> contenders) {
        this.problems = Maps.immutableEnumMap(problems);
        this.contenders = ImmutableList.copyOf(contenders);
        ImmutableTable.Builder<String, PaperNetwork, Long> all = ImmutableTable.builder();
        for (Contender contender : contenders) {
            problems.forEach(
                    (network, problem) -> {
                        if (contender.strategy().admits(problem)) {
                            long needed = contender.bytes(problem);
                            all.put(contender.name(), network, needed);
                        }
                    });
        }
        this.bytes = all.buildOrThrow();
    }

    /** Plans all networks without aliases. */
    static Results plain(List<Contender> contenders) {
        return variant(contenders, 0);
    }

    /** Plans the networks whose operators may overwrite or view their inputs. */
    static Results inPlace(List<Contender> contenders) {
        return variant(contenders, 1);
    }

    private static Results variant(List<Contender> contenders, int index) {
        Map<PaperNetwork, PlanningProblem> problems = new EnumMap<>(PaperNetwork.class);
        for (PaperNetwork network : PaperNetwork.values()) {
            List<PlanningProblem> variants = MemoryPlanner.variants(network.sketch().graph(), true);
            if (index < variants.size()) {
                problems.put(network, variants.get(index));
            }
        }
        return new Results(problems, contenders);
    }

    /** Returns the names of all strategies of a kind. */
    ImmutableList<String> strategies(Kind kind) {
        return contenders.stream()
                .filter(contender -> contender.kind() == kind)
                .map(Contender::name)
                .collect(ImmutableList.toImmutableList());
    }

    /** Returns the size of a strategy's plan; empty if the strategy does not admit the network. */
    Optional<Long> bytes(String strategy, PaperNetwork network) {
        return Optional.ofNullable(bytes.get(strategy, network));
    }

    /** Returns the size of the smallest plan by a strategy of a kind. */
    Optional<Long> leastBytes(Kind kind, PaperNetwork network) {
        return strategies(kind).stream()
                .flatMap(strategy -> bytes(strategy, network).stream())
                .min(Long::compare);
    }

    /** Returns the lower bound; empty if the network has no such variant. */
    Optional<Long> boundBytes(Kind kind, PaperNetwork network) {
        return Optional.ofNullable(problems.get(network)).map(kind::boundBytes);
    }

    /** Returns a network's memory if every tensor has its own. */
    static long naiveBytes(PaperNetwork network) {
        return UsageRecords.naiveBytes(network.sketch().problem().records());
    }
}
