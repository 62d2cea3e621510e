package org.djlplan.integration.bench;

import com.google.gson.JsonObject;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.djlplan.integration.bench.Turns.Way;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.text.TextApplication;
import org.djlplan.integration.text.TextFiles;
import org.djlplan.memplan.testing.MemoryGroup;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Text services, stock and planned. {@code -Ddjlplan.bench.requests=N} sends N requests. {@code
 * integration-tests/torchscript_models.py sentences generator} makes the models.
 */
@Tag("bench")
class TextBench {

    private static final int REQUESTS = Integer.getInteger("djlplan.bench.requests", 1200);
    private static final long CONTAINER_BYTES = 600L << 20;

    @TempDir Path folder;

    private void print(String name, String model, Object... arguments) throws Exception {
        Path file = TextFiles.write(RealModels.TORCHSCRIPT.file(model), folder);
        try (Turns turns = new Turns(folder, 3)) {
            turns.compare(name, ways(file, arguments));
        }
    }

    private static List<Way> ways(Path file, Object... arguments) {
        return Stream.of("stock", "planned")
                .map(
                        way ->
                                Way.of(
                                                way,
                                                TextApplication.class,
                                                Stream.concat(
                                                                Stream.of(way, file),
                                                                Stream.of(arguments))
                                                        .map(Object::toString)
                                                        .toArray(String[]::new))
                                        .jvm(Turns.heap(256)))
                .toList();
    }

    /** Eight callers send texts of 1 to 150 words, each one text after another. */
    @Test
    void printService() throws Exception {
        print("eight callers", "sentences", "embed", 8, Math.max(1, REQUESTS / 8));
    }

    /** Sends many requests of mixed length at once, in a container and without a limit. */
    @Test
    void printBurst() throws Exception {
        int rounds = Math.max(1, REQUESTS / 200);
        print("64 texts at once", "sentences", "burst", 64, rounds);
        Path file = TextFiles.write(RealModels.TORCHSCRIPT.file("sentences"), folder);
        for (Way way : ways(file, "burst", 64, rounds)) {
            try (MemoryGroup group = MemoryGroup.of(CONTAINER_BYTES);
                    Turns turns = new Turns(folder, 1)) {
                List<JsonObject> rows = turns.run(way.jvm(jvm -> jvm.before(group.inside())));
                System.out.println("in 600 MiB, " + way.name() + ": " + rows);
            } catch (IllegalStateException e) {
                System.out.println("in 600 MiB, " + way.name() + ": killed");
            }
        }
    }

    /**
     * Generates one sequence, or four in a batch, of 256 tokens each, with each of DJL's searches.
     */
    @Test
    void printGeneration() throws Exception {
        for (String search : List.of("greedy", "beam", "contrastive")) {
            for (int sequences : new int[] {1, 4}) {
                int rounds = Math.max(1, REQUESTS / 150);
                print(search + ", " + sequences, "generator", search, sequences, rounds);
            }
        }
    }
}
