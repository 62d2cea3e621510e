package org.djlplan.memplan.internal.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.config.GivenOptions;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.ShapeMix;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TfLiteDelegableModelTest {

    private static final DelegationChoice CHOICE =
            new DelegationChoice(
                    new Candidate(ImmutableSortedSet.of(0, 2), 2),
                    List.of(new Candidate(ImmutableSortedSet.of(2), 1)),
                    DelegationReport.Origin.MEASURED,
                    "a test",
                    List.of());

    @TempDir private Path folder;

    @Test
    void identity_nameOrAbsentFile_isTheName() {
        String absent = folder.resolve("absent.so").toString();
        assertEquals(absent, TfLiteDelegableModel.identity(absent));
        assertEquals("xnnpack", TfLiteDelegableModel.identity("xnnpack"));
        assertEquals("class:a.B", TfLiteDelegableModel.identity("class:a.B"));
    }

    @Test
    void identity_file_differsWhenItDoes() throws IOException {
        Path library = Files.writeString(folder.resolve("libdelegate.so"), "first");
        FileTime time = Files.getLastModifiedTime(library);
        String before = TfLiteDelegableModel.identity(library.toString());

        assertEquals(before, TfLiteDelegableModel.identity(library.toString()));
        Files.setLastModifiedTime(library, FileTime.fromMillis(time.toMillis() - 5000));
        assertNotEquals(before, TfLiteDelegableModel.identity(library.toString()));
        Files.writeString(library, "second");
        Files.setLastModifiedTime(library, time);
        assertNotEquals(before, TfLiteDelegableModel.identity(library.toString()));
    }

    private TfLiteDelegableModel model(double changes) {
        return model().at(new ShapeMix(List.of(List.of(List.of(1, 8))), changes));
    }

    private TfLiteDelegableModel model() {
        return new TfLiteDelegableModel(
                folder.resolve("model.tflite"),
                "a file",
                new Graph("model", List.of(), List.of(), List.of(), List.of()),
                folder,
                PlanOptions.parse(GivenOptions.of(Map.of(), Map.of(), Map.of(), List.of())),
                new EngineLibrary(folder.resolve("engine.so"), "2.21.0"),
                Optional.empty());
    }

    @Test
    void delegate_shapesThatChangeOften_buildsItsBuffersForEachPrediction() {
        TfLiteDelegableModel often = model(0.25);
        assertEquals("xnnpack-transient", often.delegate());
        assertFalse(often.offersTransientBuffers());
        DelegationChoice served = often.served(CHOICE);
        assertTrue(served.candidate().transientBuffers());
        assertTrue(served.lightest().transientBuffers());
        assertEquals(CHOICE.candidate().operators(), served.candidate().operators());
    }

    @Test
    void delegate_shapesThatRarelyChange_keepsItsBuffers() {
        TfLiteDelegableModel rarely = model(1.0 / 16);
        assertEquals("xnnpack", rarely.delegate());
        assertEquals(CHOICE, rarely.served(CHOICE));
    }

    @Test
    void served_cpuKernels_staysThem() {
        DelegationChoice cpu =
                new DelegationChoice(Candidate.cpu(1), DelegationReport.Origin.MEASURED, "a test");
        assertEquals(cpu, model(1).served(cpu));
    }
}
