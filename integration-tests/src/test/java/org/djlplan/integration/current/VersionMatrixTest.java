package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.djlplan.integration.support.ChildJvm;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests TensorFlow Lite and PyTorch on every release of DJL that the README names. */
@Tag("djl-current")
@Tag("long")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class VersionMatrixTest {

    private static final Path KEPT = Path.of("..", "docs", "results", "matrix.txt");
    private static final String COMMENT = "#";

    @TempDir Path folder;

    /**
     * A line of the table says that models are planned, and that outputs are the plain engine's
     * bytes.
     */
    @Test
    void table_isTheOneInTheDocuments() throws Exception {
        List<String> kept =
                Files.readAllLines(KEPT).stream()
                        .filter(line -> !line.startsWith(COMMENT) && !line.isBlank())
                        .toList();
        assertEquals(1 + 2 * VersionMatrix.RELEASES.size(), kept.size());
        assertTrue(kept.stream().noneMatch(line -> line.matches(".*(NO|OTHERS).*")));
        assertEquals(String.join("\n", kept), String.join("\n", new VersionMatrix(folder).table()));
    }

    /** Another engine costs nothing if arrays do not need it. */
    @ParameterizedTest
    @CsvSource({"TFLite, false", "PyTorch, true"})
    void run_bothEnginesOnTheClassPath_mapsThatOfTheModel(String engine, boolean mapped)
            throws Exception {
        ChildJvm.Result result =
                new VersionMatrix(folder)
                        .run(VersionMatrix.classPath(VersionMatrix.NEWEST), List.of(engine));
        JsonObject seen = VersionMatrix.seen(result).getAsJsonObject(engine);
        assertEquals(mapped, seen.get("torchMapped").getAsBoolean(), result.printed());
    }

    /** PyTorch's models fail, too: the old engine's zoo throws when DJL searches all zoos. */
    @ParameterizedTest
    @CsvSource({"TFLite, false", "TFLite, true", "PyTorch, false", "PyTorch, true"})
    void load_djlsOldEngineOnTheNewestDjl_saysWhatToRemove(String engine, boolean oldFirst)
            throws Exception {
        List<String> path = new ArrayList<>(VersionMatrix.classPath(VersionMatrix.NEWEST));
        path.add(oldFirst ? 0 : path.size(), VersionMatrix.ownEngineOfDjl());
        ChildJvm.Result result = new VersionMatrix(folder).run(path, List.of(engine));
        JsonObject seen = VersionMatrix.seen(result);
        assertTrue(seen.getAsJsonObject(engine).has("error"), result.printed());
        assertTrue(
                result.err().contains("remove ai.djl.tflite:tflite-engine from the class path"),
                result.printed());
    }
}
