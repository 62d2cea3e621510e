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
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.cli.demo.MobileNetV2;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.source.tflite.TfLiteWriter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store in a Hadoop file system, here one of this machine. */
@Tag("pipelines")
class HadoopStoreTest {

    private static final String NAME = "net-0123456789abcdef.v3.profile.json";

    @TempDir Path folder;

    private HadoopStore store() {
        return new HadoopStore(folder.resolve("shared").toUri().toString());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void entries_putTwice_theFirstOrTheLast() throws Exception {
        HadoopStore store = store();
        assertEquals(Optional.empty(), store.get(NAME));
        assertTrue(store.putIfAbsent(NAME, bytes("first")));
        assertFalse(store.putIfAbsent(NAME, bytes("second")));
        assertArrayEquals(bytes("first"), store.get(NAME).orElseThrow());
        store.put(NAME, bytes("third"));
        assertArrayEquals(bytes("third"), store.get(NAME).orElseThrow());
        try (Stream<Path> files = Files.list(folder.resolve("shared"))) {
            List<String> left =
                    files.map(file -> file.getFileName().toString())
                            .filter(name -> name.endsWith(".tmp"))
                            .toList();
            assertEquals(List.of(), left);
        }
    }

    private DelegationReport loaded(String machine, String profile) throws Exception {
        Path file = Files.createDirectory(folder.resolve(machine)).resolve("mobilenet_v2.tflite");
        TfLiteWriter.write(MobileNetV2.build(1), file);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(
                    new PlannedTranslatorFactory()
                            .with("memplan.store", store())
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
        DelegationReport first = loaded("first", "blocking");
        assertEquals("MEASURED", first.origin(), first.reason());
        // The file system's classes are loaded by now, so that the store answers in time.
        DelegationReport second = loaded("second", "blocking");
        assertEquals("STORED", second.origin(), second.reason());
        assertEquals(first.choiceId(), second.choiceId());
    }
}
