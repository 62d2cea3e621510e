package org.djlplan.integration.tflite.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.Iterables;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests files of one operator with a number that breaks kernels, in the file or as an input. Each
 * is rejected with an exception, or gives the same output planned and plain. No file causes a
 * signal or a read of unrelated memory.
 */
class CraftedFilesTest {

    private static final int SECONDS = 4;

    /** In the results of files that djl-plan, not the engine, refuses. */
    private static final List<String> REFUSALS =
            List.of("unreadable: ", "TfLiteFormatException: ", "UnsoundModelException: ");

    @TempDir Path folder;

    @Tag("djl-current")
    @Test
    void load_someCraftedFiles_areRefusedOrAnswerAsPlain() throws Exception {
        assertTrue(load(SECONDS) >= CraftedProgram.LEAST_FILES);
    }

    @OnEveryDjl
    @Tag("long")
    @Test
    void load_everyCraftedFile_isRefusedOrAnswersAsPlain() throws Exception {
        assertEquals(CraftedFiles.all().size(), load(Integer.MAX_VALUE));
    }

    @OnEveryDjl
    @Test
    void load_filesWithoutASoundAnswer_areRefusedBeforeTheEngineRuns() throws Exception {
        ImmutableList<String> lines = run(Integer.MAX_VALUE, true);
        List<String> ends = lines.stream().filter(line -> line.startsWith("end ")).toList();
        assertEquals(RefusedFiles.all().size(), ends.size());
        assertEquals(List.of(), ends.stream().filter(end -> !isRight(end)).toList());
    }

    private static boolean isRight(String end) {
        boolean ran = end.contains(": ran | ") || end.contains("| ran | ");
        boolean refused = !ran && REFUSALS.stream().anyMatch(end::contains);
        return end.contains(RefusedFiles.SOUND) ? ran : refused;
    }

    /** Loads files in another order each time, and returns how many were loaded. */
    private int load(int seconds) throws Exception {
        String last = Iterables.getLast(run(seconds, false));
        System.out.println(last.replace("done", "crafted files:"));
        return Integer.parseInt(last.substring("done ".length()));
    }

    private ImmutableList<String> run(int seconds, boolean refused) throws Exception {
        long seed = new Random().nextLong();
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .run(
                                CraftedProgram.class,
                                folder.toString(),
                                Long.toString(seed),
                                Long.toString(TimeUnit.SECONDS.toNanos(seconds)),
                                "0",
                                Boolean.toString(refused));
        ImmutableList<String> lines =
                result.out()
                        .lines()
                        .filter(line -> line.matches("(begin|end|done) .*"))
                        .collect(ImmutableList.toImmutableList());
        String last = Iterables.getLast(lines);
        assertEquals(0, result.exitCode(), "seed " + seed + ", " + last + "\n" + result.err());
        assertTrue(last.startsWith("done "), last);
        List<String> wrong =
                lines.stream()
                        .filter(line -> line.contains("DIFFERENT") || line.contains("UNTYPED"))
                        .toList();
        assertEquals(List.of(), wrong);
        return lines;
    }
}
