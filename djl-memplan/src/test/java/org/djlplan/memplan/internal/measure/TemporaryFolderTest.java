package org.djlplan.memplan.internal.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.djlplan.memplan.testing.Await;
import org.djlplan.memplan.testing.OtherJvm;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests which folders count as left behind by a dead process, and are deleted. */
@Timeout(120)
class TemporaryFolderTest {

    @TempDir private Path parent;

    /** Makes a folder, prints its name, and waits to be killed. */
    static final class Holder {

        private Holder() {}

        public static void main(String[] parents) throws IOException, InterruptedException {
            try (TemporaryFolder folder = TemporaryFolder.create(Path.of(parents[0]))) {
                System.out.println(folder.path());
                new CountDownLatch(1).await();
            }
        }
    }

    private Path leftBehind(String name) throws IOException {
        Path folder = Files.createDirectories(parent.resolve(name));
        Files.createFile(folder.resolve("lock"));
        Files.writeString(folder.resolve("classes.jar"), "classes");
        return folder;
    }

    private void createAndClose() throws IOException {
        TemporaryFolder folder = TemporaryFolder.create(parent);
        assertTrue(Files.isDirectory(folder.path()));
        folder.close();
        assertFalse(Files.exists(folder.path()));
    }

    @Test
    void create_processIsGone_deletesItsFolder() throws Exception {
        Process holder = OtherJvm.start(Holder.class, parent);
        try {
            Path held = Path.of(holder.inputReader().readLine());
            createAndClose();
            assertTrue(Files.isDirectory(held));
            holder.destroyForcibly();
            assertTrue(holder.waitFor(60, TimeUnit.SECONDS));
            createAndClose();
            assertFalse(Files.exists(held));
        } finally {
            holder.destroyForcibly();
        }
    }

    @Test
    void create_folderOfThisProcess_stays() throws IOException {
        TemporaryFolder first = TemporaryFolder.create(parent);
        createAndClose();
        assertTrue(Files.isDirectory(first.path()));
        first.close();
    }

    @Test
    void create_linkToFolder_keepsLinkAndTarget() throws IOException {
        Path target = leftBehind("precious");
        Path link = Files.createSymbolicLink(parent.resolve("djlplan-measuring-1-1-9"), target);
        createAndClose();
        assertTrue(Files.exists(link, LinkOption.NOFOLLOW_LINKS));
        assertTrue(Files.exists(target.resolve("classes.jar")));
    }

    @Test
    void create_linkInsideAFolder_deletesLinkNotTarget() throws IOException {
        Path target = leftBehind("precious");
        Path folder = leftBehind("djlplan-measuring-1-1-9");
        Files.createSymbolicLink(folder.resolve("link"), target);
        createAndClose();
        assertFalse(Files.exists(folder));
        assertTrue(Files.exists(target.resolve("classes.jar")));
    }

    @Test
    void create_folderOfAnotherUser_stays() throws IOException {
        Path folder = leftBehind("djlplan-measuring-1-1-9");
        try {
            Files.setAttribute(folder, "unix:uid", 65534);
        } catch (IOException e) {
            Assumptions.abort("only root can give a folder away: " + e);
        }
        createAndClose();
        assertTrue(Files.isDirectory(folder));
    }

    /** The folder is from version 0.1.0, or from a process that was killed before it had a lock. */
    @Test
    void create_folderWithoutALock_staysForADay() throws IOException {
        Path young = Files.createDirectories(parent.resolve("djlplan-measuring1234"));
        Path old = Files.createDirectories(parent.resolve("djlplan-measuring5678"));
        Files.setLastModifiedTime(old, FileTime.from(Instant.now().minus(Duration.ofHours(25))));
        createAndClose();
        assertTrue(Files.isDirectory(young));
        assertFalse(Files.exists(old));
    }

    @Test
    void create_otherNames_stay() throws IOException {
        List<Path> others = List.of(leftBehind("djlplan"), leftBehind("measuring"));
        createAndClose();
        try (Stream<Path> left = Files.list(parent)) {
            assertEquals(2, left.filter(others::contains).count());
        }
    }

    /** A process that is stopped while it unpacks its libraries adds files like this. */
    @Test
    void delete_whileFilesAreAdded_leavesNothingInTheEnd() throws Exception {
        Path folder = leftBehind("busy");
        Thread unpacking =
                new Thread(
                        () -> {
                            try {
                                for (int i = 0; i < 2_000; i++) {
                                    Files.createFile(folder.resolve("library" + i));
                                }
                            } catch (IOException e) {
                                // The folder is gone.
                                return;
                            }
                        });
        unpacking.start();
        Await.until(() -> Files.exists(folder.resolve("library100")));
        TemporaryFolder.delete(folder);
        unpacking.join();
        assertFalse(Files.exists(folder));
    }
}
