package org.djlplan.integration.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.cli.demo.MobileNetV2;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.source.tflite.TfLiteWriter;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A store in a Hadoop file system: HDFS with two data nodes, and that of this machine, whose rename
 * looks first and replaces then, as those of object stores.
 */
@Tag("pipelines")
class HadoopStoreTest {

    private static final String NAME = "net-0123456789abcdef.v3.profile.json";

    @TempDir static Path cluster;

    private static MiniDFSCluster hdfs;

    @TempDir Path folder;

    private enum Kind {
        LOCAL,
        HDFS
    }

    @BeforeAll
    static void start() throws Exception {
        hdfs =
                new MiniDFSCluster.Builder(new Configuration(), cluster.toFile())
                        .numDataNodes(2)
                        .build();
        hdfs.waitClusterUp();
    }

    @AfterAll
    static void stop() {
        hdfs.close();
    }

    /** Returns the URI of a folder that is not there yet. */
    private String shared(Kind kind) throws Exception {
        return kind == Kind.LOCAL
                ? folder.resolve("shared").toUri().toString()
                : hdfs.getURI(0).resolve("/" + folder.getFileName() + "/shared").toString();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void entries_putTwice_theFirstOrTheLast() throws Exception {
        HadoopStore store = new HadoopStore(shared(Kind.HDFS));
        assertEquals(Optional.empty(), store.get(NAME));
        assertTrue(store.putIfAbsent(NAME, bytes("first")));
        assertFalse(store.putIfAbsent(NAME, bytes("second")));
        assertArrayEquals(bytes("first"), store.get(NAME).orElseThrow());
        store.put(NAME, bytes("third"));
        assertArrayEquals(bytes("third"), store.get(NAME).orElseThrow());
        assertEquals(List.of(NAME), names(shared(Kind.HDFS)));
    }

    /** Machines that begin at once. */
    @Test
    void putIfAbsent_manyAtOnce_oneMakesIt() throws Exception {
        int machines = 8;
        HadoopStore store = new HadoopStore(shared(Kind.HDFS));
        ExecutorService threads = Executors.newFixedThreadPool(machines);
        try {
            for (int round = 0; round < 20; round++) {
                String name = NAME + round;
                CyclicBarrier start = new CyclicBarrier(machines);
                List<Callable<Optional<String>>> all = new ArrayList<>();
                for (int i = 0; i < machines; i++) {
                    String machine = "machine " + i;
                    all.add(
                            () -> {
                                start.await();
                                return store.putIfAbsent(name, bytes(machine))
                                        ? Optional.of(machine)
                                        : Optional.empty();
                            });
                }
                List<String> made = new ArrayList<>();
                for (Future<Optional<String>> each : threads.invokeAll(all)) {
                    each.get().ifPresent(made::add);
                }
                assertEquals(1, made.size(), made::toString);
                assertArrayEquals(bytes(made.get(0)), store.get(name).orElseThrow());
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static List<String> names(String uri) throws Exception {
        FileContext files = FileContext.getFileContext(URI.create(uri), new Configuration());
        return Arrays.stream(files.util().listStatus(new org.apache.hadoop.fs.Path(uri)))
                .map(each -> each.getPath().getName())
                .toList();
    }

    private DelegationReport loaded(Kind kind, String machine, String profile) throws Exception {
        Path file = Files.createDirectory(folder.resolve(machine)).resolve("mobilenet_v2.tflite");
        TfLiteWriter.write(MobileNetV2.build(1), file);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(
                    new PlannedTranslatorFactory()
                            .with("memplan.store", new HadoopStore(shared(kind)))
                            .with("delegation.profile", profile));
        }
        PlannedTranslatorFactory factory;
        try (ObjectInputStream in =
                new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            factory = (PlannedTranslatorFactory) in.readObject();
        }
        Criteria<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optEngine("TFLite")
                        .optModelPath(file)
                        .optTranslatorFactory(factory)
                        .build();
        try (ZooModel<NDList, NDList> model = criteria.loadModel()) {
            return PlanReport.of(model).flatMap(PlanReport::delegation).orElseThrow();
        }
    }

    /** A factory of a closure carries it. */
    @Test
    void load_secondMachine_hasTheChoiceOfTheFirst() throws Exception {
        DelegationReport first = loaded(Kind.HDFS, "first", "blocking");
        assertEquals("MEASURED", first.origin(), first.reason());
        // The file system's classes are loaded by now, so that the store answers in time.
        DelegationReport second = loaded(Kind.HDFS, "second", "blocking");
        assertEquals("STORED", second.origin(), second.reason());
        assertEquals(first.choiceId(), second.choiceId());
    }

    /** As an object store, whose files are renamed by copies: both of two machines may succeed. */
    @Test
    void load_fileSystemThatMakesNothingExclusively_nothingIsMeasuredAndWhatIsThereServes()
            throws Exception {
        HadoopStore store = new HadoopStore(shared(Kind.LOCAL));
        DelegationReport alone = loaded(Kind.LOCAL, "alone", "blocking");
        assertEquals("UNVERIFIED", alone.origin(), alone.reason());
        assertTrue(alone.reason().contains("does not work"), alone.reason());
        assertThrows(IOException.class, () -> store.putIfAbsent(NAME, bytes("first")));
        assertEquals(Optional.empty(), store.get(NAME));

        DelegationReport measured = loaded(Kind.HDFS, "measured", "blocking");
        HadoopStore other = new HadoopStore(shared(Kind.HDFS));
        for (String name : names(shared(Kind.HDFS))) {
            if (name.endsWith(".profile.json")) {
                store.put(name, other.get(name).orElseThrow());
            }
        }
        DelegationReport second = loaded(Kind.LOCAL, "second", "blocking");
        assertEquals("STORED", second.origin(), second.reason());
        assertEquals(measured.choiceId(), second.choiceId());
    }
}
