package org.djlplan.integration.bench;

import com.google.gson.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.djlplan.integration.bench.Turns.Way;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.TestModels;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures the memory of models under several limits and goals. djl-plan measures in advance to
 * choose operators for a limit; the table shows whether the model then keeps the limit.
 */
@Tag("bench")
class MemoryBench {

    @TempDir Path folder;

    @Test
    void print() throws Exception {
        print("palm_detection_full", "f1x192x192x3", "34MB");
        print("hand_landmark_full", "f1x224x224x3", "24MB");
    }

    private void print(String name, String inputs, String limit) throws Exception {
        Path real = RealModels.TFLITE.file(name);
        Path file = Files.isRegularFile(real) ? real : TestModels.built("mobilenet_v2");
        try (Turns turns = new Turns(folder, 1)) {
            List<Way> ways = new ArrayList<>();
            for (String option :
                    List.of(
                            "delegation.enabled=false",
                            "delegation.maxMemory=" + limit,
                            "delegation.objective=memory",
                            "delegation.objective=balanced",
                            "delegation.objective=latency")) {
                Way way =
                        Cases.way(
                                option,
                                "planned",
                                "memplan.threads=1",
                                "delegation.profile=blocking",
                                option,
                                "requests=30",
                                "file=" + turns.copy(file),
                                "inputs=" + inputs);
                // The first JVM measures, others find the stored result.
                List<JsonObject> unused = turns.run(way);
                ways.add(way);
            }
            turns.compare(name, ways);
        }
    }
}
