package org.djlplan.integration.tflite.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.support.TestModels;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests models with inputs of any shape but the one that they were made for: the result is an
 * exception or the right output, never a signal. Published models are included if they are present.
 */
class ResizedModelsTest {

    private static final int SECONDS = 3;

    /** Cases of all models together, at least; large shapes are left out. */
    private static final int LEAST_CASES = 20;

    @TempDir Path folder;

    private static List<Path> models() {
        List<Path> models = new ArrayList<>(TestModels.present());
        Stream.of("mobilenet_v1_int8_64", "mobilenet_v2_dynamic_64", "uneven")
                .map(TestModels::built)
                .forEach(models::add);
        return models;
    }

    @OnEveryDjlWhenLong
    @Tag("real-models")
    @Test
    void predict_anyShapes_failsOrAnswersAsPlain() throws Exception {
        long seed = new Random().nextLong();
        List<String> arguments = new ArrayList<>();
        arguments.add(Long.toString(seed));
        arguments.add(Long.toString(TimeUnit.SECONDS.toNanos(SECONDS)));
        models().forEach(model -> arguments.add(model.toString()));
        ChildJvm.Result result =
                new ChildJvm(folder).run(ResizedProgram.class, arguments.toArray(String[]::new));
        List<String> lines =
                result.out().lines().filter(line -> line.matches("(begin|end|done) .*")).toList();
        String last = lines.get(lines.size() - 1);
        assertEquals(0, result.exitCode(), "seed " + seed + ", " + last + "\n" + result.err());
        assertTrue(last.startsWith("done "), last);
        for (int i = 1; i < lines.size(); i += 2) {
            assertFalse(lines.get(i).contains("DIFFERENT"), lines.get(i - 1) + lines.get(i));
        }
        assertTrue(lines.size() / 2 > LEAST_CASES, lines.size() + " lines");
        System.out.printf("%d models, %d shapes%n", models().size(), lines.size() / 2);
    }
}
