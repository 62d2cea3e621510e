package org.djlplan.integration.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
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
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A store in a Hadoop file system: one of this machine, and HDFS with two data nodes. */
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

    @ParameterizedTest
    @EnumSource
    void entries_putTwice_theFirstOrTheLast(Kind kind) throws Exception {
        HadoopStore store = new HadoopStore(shared(kind));
        assertEquals(Optional.empty(), store.get(NAME));
        assertTrue(store.putIfAbsent(NAME, bytes("first")));
        assertFalse(store.putIfAbsent(NAME, bytes("second")));
        assertArrayEquals(bytes("first"), store.get(NAME).orElseThrow());
        store.put(NAME, bytes("third"));
        assertArrayEquals(bytes("third"), store.get(NAME).orElseThrow());
        assertEquals(List.of(NAME), names(shared(kind)));
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
    @ParameterizedTest
    @EnumSource
    void load_secondMachine_hasTheChoiceOfTheFirst(Kind kind) throws Exception {
        DelegationReport first = loaded(kind, "first", "blocking");
        assertEquals("MEASURED", first.origin(), first.reason());
        // The file system's classes are loaded by now, so that the store answers in time.
        DelegationReport second = loaded(kind, "second", "blocking");
        assertEquals("STORED", second.origin(), second.reason());
        assertEquals(first.choiceId(), second.choiceId());
    }
}
