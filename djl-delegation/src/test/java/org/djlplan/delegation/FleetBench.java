package org.djlplan.delegation;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.djlplan.delegation.SimulatedFleet.Outage;
import org.djlplan.delegation.SimulatedFleet.Outcome;
import org.djlplan.delegation.SimulatedFleet.Troubles;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Fleets of many sizes on a virtual clock: what they measure, when they have it, what they ask. */
class FleetBench {

    private static final Path MADE = Path.of("target", "fleet.txt");
    private static final Path DRAWN = Path.of("target", "fleet.svg");
    private static final int RUNS = 10;

    private static final String HEAD =
            """
            Fleets that share a store (docs/operations.md#one-choice-for-a-fleet), simulated on a virtual clock with the code that decides.
            command: mvn verify -pl djl-delegation -am -Dtest=FleetBench -Dsurefire.failIfNoSpecifiedTests=false   (writes djl-delegation/target/fleet.txt and fleet.svg)
            Machines of three kinds begin within 10 s; measuring takes 8 to 30 s; the store takes 20 to 40 ms for an operation. Ten runs each.
            measured: measurements that were begun, of all kinds, least–most; the least that there can be is three, and one for each machine that dies.
            half, all have: seconds until half of the machines, and the last one, have the choice, median of runs; worst: of the last one.
            operations: of the store, for each machine; peak: most in one second, of all machines. Medians.
            """;

    private static Map<String, Troubles> troubles() {
        Map<String, Troubles> all = new LinkedHashMap<>();
        all.put("nothing goes wrong", Troubles.NONE);
        all.put(
                "three machines die while they measure",
                new Troubles(3, false, Outage.NONE, Outage.NONE));
        all.put(
                "the same, and leave half of an entry",
                new Troubles(3, true, Outage.NONE, Outage.NONE));
        all.put(
                "the store is slow from 5 s to 125 s (writes arrive late)",
                new Troubles(0, false, outage(5, 125), Outage.NONE));
        all.put(
                "the store is dead from 15 s to 315 s",
                new Troubles(0, false, Outage.NONE, outage(15, 315)));
        return all;
    }

    private static Outage outage(int from, int to) {
        return new Outage(Duration.ofSeconds(from), Duration.ofSeconds(to));
    }

    private static double median(List<Outcome> outcomes, ToDoubleFunction<Outcome> figure) {
        return outcomes.stream().mapToDouble(figure).sorted().toArray()[outcomes.size() / 2];
    }

    private static double seconds(Duration time) {
        return time.toMillis() / 1e3;
    }

    @Test
    void print(@TempDir Path folder) throws Exception {
        StringBuilder text = new StringBuilder(HEAD);
        Map<String, List<FleetCurve.Point>> curves = new LinkedHashMap<>();
        for (Map.Entry<String, Troubles> trouble : troubles().entrySet()) {
            List<FleetCurve.Point> curve = new ArrayList<>();
            curves.put(trouble.getKey(), curve);
            text.append("\n").append(trouble.getKey());
            text.append("\nmachines  measured  died  half have s  all have s  worst s");
            text.append("  operations  peak per s\n");
            for (int machines : List.of(10, 30, 100, 300, 1000)) {
                List<Outcome> outcomes = new ArrayList<>();
                for (int run = 0; run < RUNS; run++) {
                    outcomes.add(SimulatedFleet.run(machines, trouble.getValue(), run, folder));
                }
                double half = median(outcomes, each -> seconds(each.halfChosen()));
                double all = median(outcomes, each -> seconds(each.allChosen()));
                curve.add(new FleetCurve.Point(machines, half, all));
                text.append(
                        "%8d %9s %5.0f %12.1f %11.1f %8.1f %11.1f %11.0f%n"
                                .formatted(
                                        machines,
                                        begun(outcomes),
                                        median(outcomes, Outcome::died),
                                        half,
                                        all,
                                        outcomes.stream()
                                                .mapToDouble(each -> seconds(each.allChosen()))
                                                .max()
                                                .orElseThrow(),
                                        median(outcomes, Outcome::operations) / machines,
                                        median(outcomes, Outcome::peakPerSecond)));
            }
        }
        Files.createDirectories(MADE.getParent());
        Files.writeString(MADE, text);
        Files.writeString(DRAWN, FleetCurve.svg(curves));
        System.out.print(text);
    }

    private static String begun(List<Outcome> outcomes) {
        int least = outcomes.stream().mapToInt(Outcome::begun).min().orElseThrow();
        int most = outcomes.stream().mapToInt(Outcome::begun).max().orElseThrow();
        return least == most ? Integer.toString(least) : least + "–" + most;
    }
}
