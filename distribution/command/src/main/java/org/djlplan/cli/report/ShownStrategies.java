package org.djlplan.cli.report;

import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.djlplan.cli.report.MemoryMap.Layout;
import org.djlplan.cli.report.MemoryMap.Strategy;

/** Decides which plans of very many tensors are written with their offsets. */
final class ShownStrategies {

    /** Minimum number of plans with offsets: the best of each kind, and the engine's own. */
    private static final int ALWAYS = 4;

    private ShownStrategies() {}

    /**
     * Returns all strategies; if they have more than {@code mostOffsets} offsets together, the
     * least interesting ones lose theirs.
     */
    static List<Strategy> of(MemoryMap map, int mostOffsets) {
        int most = Math.max(ALWAYS, mostOffsets / Math.max(1, map.tensors().size()));
        Set<String> shown = new HashSet<>();
        map.strategies().stream()
                .filter(strategy -> strategy.offsets().isPresent())
                .sorted(
                        Comparator.comparingInt((Strategy each) -> interest(each, map.best()))
                                .thenComparingLong(Strategy::totalBytes))
                .limit(most)
                .forEach(strategy -> shown.add(strategy.name()));
        return map.strategies().stream()
                .map(each -> shown.contains(each.name()) ? each : each.withoutOffsets())
                .toList();
    }

    private static int interest(Strategy strategy, String best) {
        if (strategy.name().equals(best)) {
            return 0;
        }
        if (strategy.name().equals(PlanNames.ENGINE)) {
            return 1;
        }
        return strategy.layout() == Layout.NAIVE ? 2 : 3;
    }
}
