package org.djlplan.integration.bench;

import com.google.gson.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.bench.Scatter.Axis;
import org.djlplan.integration.bench.Scatter.Point;
import org.djlplan.integration.bench.Turns.Way;
import org.djlplan.integration.support.RealModels;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares settings that a careful engineer could choose for a service (no delegation, fixed
 * numbers of threads and interpreters) with the defaults, under different loads; and measures the
 * first predictions, and the first minute, of fresh JVMs. {@code -Ddjlplan.bench.seconds=N} and
 * {@code -Ddjlplan.bench.models=NAME,NAME} set how long, and which models.
 */
@Tag("bench")
class ServiceBench {

    private static final String SECONDS = System.getProperty("djlplan.bench.seconds", "4");

    private static final ImmutableList<String> MODELS =
            ImmutableList.copyOf(
                    System.getProperty("djlplan.bench.models", "hand_landmark_full,onet")
                            .split(",", -1));

    private static final Map<String, String> INPUTS =
            Map.of("hand_landmark_full", "f1x224x224x3", "onet", "f1x48x48x3");

    private static final String GREY = "#888888";

    @TempDir private Path folder;

    private static Way fixed(int threads, int interpreters, String... settings) {
        return Cases.planned(
                threads + " threads x " + interpreters,
                Map.of(
                        "delegation.enabled",
                        true,
                        "delegation.profile",
                        "blocking",
                        "memplan.threads",
                        threads,
                        "memplan.workers",
                        interpreters),
                settings);
    }

    private static Way ours(String profile, String... settings) {
        return Cases.planned(
                "ours",
                Map.of("delegation.enabled", true, "delegation.profile", profile),
                settings);
    }

    /**
     * Returns the settings that name a model; results of earlier measurements are stored beside it.
     */
    private String[] model(Turns turns, String name, String... more) throws Exception {
        List<String> settings = new ArrayList<>(List.of(more));
        settings.add("file=" + turns.copy(RealModels.TFLITE.file(name)));
        settings.add("inputs=" + INPUTS.get(name));
        return settings.toArray(String[]::new);
    }

    @Test
    void printLoads() throws Exception {
        try (Turns turns = new Turns(folder, 2)) {
            for (String name : MODELS) {
                print(turns, name + ", alone", name);
                Process neighbour = Cases.busyNeighbour();
                try {
                    print(turns, name + ", beside a busy process", name);
                } finally {
                    neighbour.destroyForcibly();
                }
            }
        }
    }

    private void print(Turns turns, String title, String name) throws Exception {
        for (int callers : new int[] {1, 2, 4, 8}) {
            String[] settings =
                    model(turns, name, "callers=" + callers, "seconds=" + SECONDS, "warmUp=2");
            turns.compare(
                    title + ", threads: " + callers,
                    List.of(
                            Cases.planned("delegation off", Map.of(), settings),
                            fixed(1, 1, settings),
                            fixed(1, 2, settings),
                            fixed(2, 1, settings),
                            fixed(2, 2, settings),
                            ours("blocking", settings)));
        }
    }

    /** Predicts with and without a stored choice, at once and some seconds after the load. */
    @Test
    void printFirstPredictions() throws Exception {
        try (Turns turns = new Turns(folder, 20)) {
            for (String name : MODELS) {
                for (String wait :
                        Splitter.on(',').split(System.getProperty("djlplan.bench.pauses", "0,3"))) {
                    String[] settings = model(turns, name, "requests=15", "wait=" + wait);
                    List<JsonObject> unused = turns.run(ours("blocking", settings));
                    turns.compare(
                            name + ", " + wait + " s after the load",
                            List.of(
                                    Cases.stock(settings),
                                    Cases.planned(
                                            "stored", Map.of("delegation.enabled", true), settings),
                                    Cases.planned(
                                            "nothing stored",
                                            Map.of("delegation.enabled", true, "fresh", true),
                                            settings)));
                }
            }
        }
    }

    /**
     * Prints the first minute of a fresh application on one thread, alone and beside a busy
     * process: what serves at the end of each second, and how long predictions take. Also draws
     * {@code target/first-minute.svg}.
     */
    @Test
    void printFirstMinute() throws Exception {
        String seconds = System.getProperty("djlplan.bench.seconds", "60");
        Map<String, List<Point>> panels = new LinkedHashMap<>();
        for (boolean busy : new boolean[] {false, true}) {
            Process neighbour = busy ? Cases.busyNeighbour() : null;
            try (Turns turns = new Turns(folder, 1)) {
                String name = MODELS.get(0) + (busy ? ", beside a busy process" : ", alone");
                for (String way : List.of("stock", "planned")) {
                    String[] settings =
                            model(turns, MODELS.get(0), "seconds=" + seconds, "each=true");
                    List<Point> points = new ArrayList<>();
                    String last = "";
                    for (JsonObject row : turns.run(Cases.way(way, way, settings))) {
                        if (row.has("each")) {
                            String serves = row.get("each").getAsString();
                            String changed = serves.equals(last) ? "" : serves;
                            double second = row.get("s").getAsDouble();
                            points.add(
                                    new Point(second, row.get("ms").getAsDouble(), GREY, changed));
                            if (!changed.isEmpty()) {
                                System.out.printf(
                                        "%s, %s, from %.1f s: %s%n", name, way, second, serves);
                            }
                            last = serves;
                        } else {
                            System.out.println(name + ", " + way + ": " + row);
                        }
                    }
                    panels.put(name + ", " + way, points);
                }
            } finally {
                if (busy) {
                    neighbour.destroyForcibly();
                }
            }
        }
        Scatter plot =
                new Scatter(
                        new Axis("seconds", false, List.of(0., 10., 20., 30., 40., 50., 60.)),
                        new Axis("ms of a prediction", true, List.of(1., 10., 100., 1000.)));
        Files.writeString(Path.of("target", "first-minute.svg"), plot.svg(panels));
    }
}
