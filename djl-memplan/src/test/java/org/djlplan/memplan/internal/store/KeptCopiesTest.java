package org.djlplan.memplan.internal.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.djlplan.memplan.testing.Await;
import org.djlplan.memplan.testing.OtherJvm;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests copies of large files that several processes request at once. */
@Timeout(60)
class KeptCopiesTest extends StoreFixture {

    private static final String ENDING = ".streamed.tflite";
    private static final StoreKey KEY = SampleTraces.key("net.tflite", "sliced");
    private static final StoreKey OTHER_KEY = SampleTraces.key("net.tflite", "whole");
    private static final long QUOTA_BYTES = 1 << 20;

    private Path model;
    private KeptCopies copies;

    /** Writes half of the file of {@link #KEY}, and the rest when it reads a line. */
    static final class Maker {

        private Maker() {}

        public static void main(String[] folders) throws IOException {
            BufferedReader in =
                    new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            KeptCopies copies =
                    new KeptCopies(
                            Path.of(folders[0]),
                            Path.of(folders[1]),
                            new Fingerprints(Path.of(folders[1])),
                            ENDING);
            KeptCopies.Found unused =
                    copies.findOrMake(
                            KEY,
                            found -> true,
                            QUOTA_BYTES,
                            file -> {
                                Files.writeString(file, "half");
                                System.out.println("half");
                                in.readLine();
                                Files.writeString(file, "made elsewhere");
                                return OptionalLong.empty();
                            });
            System.out.println("made");
        }
    }

    @BeforeEach
    void writeModel() throws IOException {
        model = Files.writeString(models.resolve("net.tflite"), "weights");
        copies = new KeptCopies(model, cache, new Fingerprints(cache), ENDING);
    }

    private Process startMaker() throws IOException {
        Process maker = OtherJvm.start(Maker.class, model, cache);
        assertEquals("half", maker.inputReader().readLine());
        return maker;
    }

    private KeptCopies.Found made(StoreKey key, String content) throws IOException {
        return made(key, found -> true, content);
    }

    private KeptCopies.Found made(StoreKey key, Predicate<KeptCopies.Found> usable, String content)
            throws IOException {
        return copies.findOrMake(
                key,
                usable,
                QUOTA_BYTES,
                file -> {
                    Files.writeString(file, content);
                    return OptionalLong.empty();
                });
    }

    private Future<KeptCopies.Found> madeMeanwhile() {
        FutureTask<KeptCopies.Found> task = new FutureTask<>(() -> made(KEY, "made here"));
        new Thread(task).start();
        return task;
    }

    private List<Path> temporaries() throws IOException {
        return files(folder).stream().filter(file -> file.toString().endsWith(".tmp")).toList();
    }

    @Test
    void findOrMake_anotherProcessMakesIt_waitsAndTakesThat() throws Exception {
        Process maker = startMaker();
        try {
            Future<KeptCopies.Found> waiting = madeMeanwhile();
            Await.until(() -> log.lines("INFO").toString().contains("waiting for it"));
            assertFalse(waiting.isDone());
            try (OutputStream in = maker.getOutputStream()) {
                in.write('\n');
            }
            assertEquals("made elsewhere", Files.readString(waiting.get().file()));
        } finally {
            maker.destroyForcibly();
        }
        assertEquals(0, temporaries().size());
    }

    @Test
    void findOrMake_itsMakerIsKilledMeanwhile_makesItAndLeavesNothing() throws Exception {
        Process maker = startMaker();
        Future<KeptCopies.Found> waiting = madeMeanwhile();
        Await.until(() -> log.lines("INFO").toString().contains("waiting for it"));
        assertEquals(1, temporaries().size());
        maker.destroyForcibly().waitFor();
        assertEquals("made here", Files.readString(waiting.get().file()));
        assertEquals(List.of(), temporaries());
    }

    @Test
    void findOrMake_modelFolderUnusable_keepsItInTheCache() throws IOException {
        Files.createFile(beside);
        KeptCopies.Found found = made(KEY, "here");
        assertTrue(found.file().startsWith(cache), found.toString());
        assertEquals(found.file(), made(KEY, "again").file());
        assertEquals("here", Files.readString(found.file()));
    }

    @Test
    void findOrMake_fileChangedSince_warnsOnceAndMakesItAnew() throws IOException {
        KeptCopies.Found found = made(KEY, "here");
        Files.writeString(found.file(), "hers");
        assertEquals("anew", Files.readString(made(KEY, "anew").file()));
        assertEquals(1, log.lines("WARN").size(), () -> log.lines().toString());
    }

    @Test
    void findOrMake_fileNotUsable_isMadeAnew() throws IOException {
        KeptCopies.Found found = made(KEY, "here");
        KeptCopies.Found other = made(KEY, known -> false, "other");
        assertEquals(found.file(), other.file());
        assertEquals("other", Files.readString(other.file()));
    }

    /** Time and size are unchanged, and the changed byte may be anywhere. */
    @Test
    void findOrMake_anyByteOfTheFileChangedInPlace_isMadeAnew() throws Exception {
        String content = "weights ".repeat(50_000);
        KeptCopies.Found found = made(KEY, content);
        for (int at : List.of(0, 70_001, 200_003, content.length() - 1)) {
            FileTime modified = Files.getLastModifiedTime(found.file());
            // Lets the file system's clock advance.
            TimeUnit.MILLISECONDS.sleep(20);
            try (RandomAccessFile open = new RandomAccessFile(found.file().toFile(), "rw")) {
                open.seek(at);
                open.write('?');
            }
            Files.setLastModifiedTime(found.file(), modified);
            assertEquals(content, Files.readString(made(KEY, content).file()));
        }
        assertEquals(4, log.lines("WARN").size(), () -> log.lines().toString());
    }

    @Test
    void findOrMake_folderCopied_usesTheCopy() throws IOException {
        KeptCopies.Found found = made(KEY, "here");
        Files.setLastModifiedTime(found.file(), FileTime.from(1, TimeUnit.SECONDS));
        assertEquals("here", Files.readString(made(KEY, "anew").file()));
    }

    @Test
    void findOrMake_overQuota_removesLeastRecentlyUsed() throws Exception {
        String half = "w".repeat((int) QUOTA_BYTES / 2);
        Path first = made(KEY, half).file();
        Path second = made(OTHER_KEY, half).file();
        Thread.sleep(20);
        assertEquals(first, made(KEY, "anew").file());
        Path third = made(SampleTraces.key("net.tflite", "third"), half).file();
        assertTrue(Files.exists(first));
        assertTrue(Files.notExists(second));
        assertTrue(Files.exists(third));
    }
}
