package org.djlplan.integration.torch.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a JVM that ends during a prediction does not crash. */
@OnEveryDjlWhenLong
class EndOfJvmTest {

    private static final int JVMS = 2;

    /** 128 and the signal's number. */
    private static final int TERMINATED = 143;

    /** The wait for a pass, plus the time of the JVM itself on a busy machine. */
    private static final long MOST_MILLIS = 5000 + 5000;

    @TempDir Path folder;

    @Test
    void terminate_duringPredictions_endsAsASignalEndsAJvm() throws Exception {
        Path model = Torch.copy(TorchScriptModels.named("cnn"), folder);
        List<ChildJvm.Running> jvms = new ArrayList<>();
        for (int i = 0; i < JVMS; i++) {
            jvms.add(
                    new ChildJvm(folder)
                            .small()
                            .start(EndingProgram.class, "planned", "image", model.toString(), "1"));
        }
        for (ChildJvm.Running jvm : jvms) {
            Await.until(
                    () ->
                            !jvm.process().isAlive()
                                    || Files.readString(jvm.out()).contains(EndingProgram.READY));
            jvm.process().destroy();
        }
        for (ChildJvm.Running jvm : jvms) {
            ChildJvm.Result result = jvm.result();
            assertEquals(TERMINATED, result.exitCode(), result.printed());
        }
        assertEquals(List.of(), crashes());
    }

    @Test
    void exit_inForward_endsWithItsStatusAfterTheWait() throws Exception {
        assertExits("forward");
    }

    @Test
    @Tag("long")
    void exit_inTranslator_endsWithItsStatus() throws Exception {
        assertExits("translator");
    }

    private void assertExits(String place) throws Exception {
        ChildJvm.Result result =
                new ChildJvm(folder).small().run(EndingProgram.class, "exit", place);
        long end = System.currentTimeMillis();
        assertEquals(EndingProgram.STATUS, result.exitCode(), result.printed());
        long begin =
                result.out()
                        .lines()
                        .filter(line -> line.startsWith(EndingProgram.EXITING))
                        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                        .findFirst()
                        .orElseThrow();
        assertTrue(end - begin < MOST_MILLIS, () -> (end - begin) + " ms");
        assertEquals(List.of(), crashes());
    }

    /** Returns the files that a JVM writes when it crashes. */
    private List<Path> crashes() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.getFileName().toString().startsWith("hs_err"))
                    .toList();
        }
    }
}
