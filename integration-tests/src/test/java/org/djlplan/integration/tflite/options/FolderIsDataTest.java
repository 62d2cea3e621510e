package org.djlplan.integration.tflite.options;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslatorFactory;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.IntStream;
import javax.tools.ToolProvider;
import org.djlplan.integration.nativecode.NativeProgram;
import org.djlplan.integration.support.Forgery;
import org.djlplan.integration.support.Freed;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.integration.support.Tolerance;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.NativeDelegate;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that a model's folder from an untrusted source is treated as data only, whatever files it
 * has.
 */
class FolderIsDataTest {

    private static final AtomicInteger INSTANCES = new AtomicInteger();

    /** The model's profile by file name. Its key names content, not places. */
    private static Map<String, byte[]> measured = Map.of();

    @TempDir Path folder;
    private Path file;

    /** A class that a model's folder must not be able to load. */
    public static final class Evil implements DelegateFactory {

        /** The constructor that a class name in an option would call. */
        public Evil() {
            INSTANCES.incrementAndGet();
        }

        @Override
        public NativeDelegate create(int threads) {
            throw new IllegalStateException("none here");
        }
    }

    @BeforeAll
    static void loadEngine() {
        StockInterpreter.loadEngine();
    }

    @BeforeEach
    void copyModel() throws Exception {
        file = Files.createDirectory(folder.resolve("model")).resolve("model.tflite");
        Files.copy(TestModels.built("uneven"), file);
        INSTANCES.set(0);
    }

    @AfterEach
    void everythingIsFreed() {
        System.clearProperty("djlplan.delegation.delegate");
        System.clearProperty("evil.ran");
        Freed.assertEverything();
    }

    private void properties(String... lines) throws Exception {
        Files.write(file.resolveSibling("serving.properties"), List.of(lines));
    }

    private ZooModel<NDList, NDList> load(TranslatorFactory factory) throws Exception {
        return Criteria.builder()
                .setTypes(NDList.class, NDList.class)
                .optModelPath(file.getParent())
                .optEngine("TFLite")
                .optTranslatorFactory(factory)
                .build()
                .loadModel();
    }

    private String problem() {
        return Throwables.getRootCause(
                        assertThrows(
                                Exception.class,
                                () -> load(new PlannedTranslatorFactory()).close()))
                .getMessage();
    }

    private void assertPredicts(ZooModel<NDList, NDList> model, int threads) throws Exception {
        try (StockInterpreter stock = new StockInterpreter(file, threads)) {
            List<ByteBuffer> values = stock.randomInputs(3);
            Tolerance.assertWithin(
                    stock.run(values),
                    Planned.predict(model, values, stock.shapes()),
                    file.toString());
        }
    }

    @Test
    void load_delegateClassInTheFolder_isAnErrorAndNothingOfItRuns() throws Exception {
        String evil = "class:" + Evil.class.getName();
        properties("delegation.delegate=" + evil);
        String message = problem();
        assertTrue(message.contains("-Ddjlplan.delegation.delegate=" + evil), message);
        assertTrue(message.contains(".with(\"delegation.delegate\", "), message);
        assertEquals(0, INSTANCES.get());
    }

    @Test
    void load_delegateLibraryInTheFolder_isAnErrorAndIsNotLoaded() throws Exception {
        Path ran = folder.resolve("ran");
        Path source =
                Files.writeString(
                        folder.resolve("evil.c"),
                        """
                        #include <stdio.h>
                        __attribute__((constructor)) static void run(void) {
                            FILE *file = fopen("%s", "w");
                            if (file != NULL) {
                                fclose(file);
                            }
                        }
                        """
                                .formatted(ran));
        Path library = new NativeProgram(folder).compileLibrary("evil.so", source);
        properties("delegation.delegate=" + library, "delegation.profile=blocking");
        assertTrue(problem().startsWith("delegation.delegate=" + library + ": not in DJL's"));
        assertFalse(Files.exists(ran));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void load_delegateOfTheApplication_isTakenWhateverTheFolderSays(boolean property)
            throws Exception {
        properties("delegation.delegate=/evil.so", "delegation.profile=off");
        String own = "class:" + Evil.class.getName();
        PlannedTranslatorFactory factory = new PlannedTranslatorFactory();
        if (property) {
            System.setProperty("djlplan.delegation.delegate", own);
        } else {
            factory = factory.with("delegation.delegate", own);
        }
        try (ZooModel<NDList, NDList> model = load(factory)) {
            assertTrue(INSTANCES.get() > 0);
            assertEquals(own, report(model).delegate());
            assertPredicts(model, -1);
        }
    }

    @Test
    void with_keyAndValue_makesAnotherFactory() throws Exception {
        PlannedTranslatorFactory plain = new PlannedTranslatorFactory();
        PlannedTranslatorFactory disabled = plain.with("memplan.enabled", false);
        System.setProperty("djlplan.memplan.enabled", "true");
        // An application may set a system property that is not a string.
        System.getProperties().put("djlplan.test", 1);
        try (ZooModel<NDList, NDList> model = load(disabled)) {
            assertTrue(PlanReport.of(model).isEmpty(), "code counts more than properties");
        } finally {
            System.clearProperty("djlplan.memplan.enabled");
            System.getProperties().remove("djlplan.test");
        }
        try (ZooModel<NDList, NDList> model = load(plain.with("delegation.enabled", false))) {
            assertTrue(PlanReport.of(model).orElseThrow().planned());
            assertPredicts(model, -1);
        }
        assertThrows(IllegalArgumentException.class, () -> plain.with("width", 224));
        PlannedTranslatorFactory misspelt = plain.with("memplan.thread", 1);
        Exception e = assertThrows(Exception.class, () -> load(misspelt).close());
        assertTrue(Throwables.getRootCause(e).getMessage().contains("memplan.threads"));
    }

    @Test
    void load_moreThreadsThanAnyEngineStarts_isAnError() throws Exception {
        String key = "memplan.threads";
        PlannedTranslatorFactory factory = new PlannedTranslatorFactory();
        for (int threads : new int[] {Integer.MAX_VALUE, 5000}) {
            properties(key + "=" + threads);
            assertTrue(problem().startsWith(key + "=" + threads + ": not in DJL's arguments"));
            properties();
            Exception e =
                    assertThrows(Exception.class, () -> load(factory.with(key, threads)).close());
            String message = Throwables.getRootCause(e).getMessage();
            assertTrue(message.startsWith(key + "=" + threads + ": must be "), message);
        }
    }

    /**
     * DJL itself runs code that it finds in some of these places, whatever the options; djl-plan
     * never does.
     */
    @ParameterizedTest
    @ValueSource(strings = {"memplan.translatorFactory", "memplan.blockFactory"})
    void load_factoryThatIsInTheFolderOnly_isNotFound(String key) throws Exception {
        Path classes = compileEvilFactory();
        for (String place : List.of("classes", "build", "libs", "lib")) {
            Path target = file.resolveSibling(place);
            Files.createDirectories(target.resolve("evil"));
            Files.copy(classes.resolve("evil/Factory.class"), target.resolve("evil/Factory.class"));
            jar(classes, target.resolve("evil.jar"));
        }
        jar(classes, file.resolveSibling("evil.jar"));
        Exception e =
                assertThrows(
                        Exception.class,
                        () -> {
                            if (key.equals("memplan.translatorFactory")) {
                                properties(key + "=evil.Factory");
                                load(new PlannedTranslatorFactory()).close();
                            } else {
                                properties(
                                        "blockFactory=org.djlplan.memplan.PlannedBlockFactory",
                                        key + "=evil.Factory");
                                Criteria.builder()
                                        .setTypes(NDList.class, NDList.class)
                                        .optModelPath(file.getParent())
                                        .optEngine("PyTorch")
                                        .build()
                                        .loadModel()
                                        .close();
                            }
                        });
        assertTrue(
                Throwables.getCausalChain(e).stream()
                        .anyMatch(c -> String.valueOf(c.getMessage()).contains(key)),
                e.toString());
        String who = System.getProperty("evil.ran", "");
        assertFalse(who.contains("org.djlplan.memplan."), who);
        assertTrue(who.isEmpty() || who.contains("ai.djl.util.ClassLoaderUtils"), who);
    }

    private Path compileEvilFactory() throws Exception {
        Path source =
                Files.createDirectories(folder.resolve("source/evil")).resolve("Factory.java");
        Files.writeString(
                source,
                """
                package evil;
                public final class Factory {
                    static {
                        System.setProperty(
                                "evil.ran",
                                java.util.Arrays.toString(new Throwable().getStackTrace()));
                    }
                    public Factory() {}
                }
                """);
        Path classes = Files.createDirectories(folder.resolve("compiled"));
        assertEquals(
                0,
                ToolProvider.getSystemJavaCompiler()
                        .run(null, null, null, "-d", classes.toString(), source.toString()));
        return classes;
    }

    private static void jar(Path classes, Path jar) throws Exception {
        try (OutputStream out = Files.newOutputStream(jar);
                JarOutputStream entries = new JarOutputStream(out)) {
            entries.putNextEntry(new JarEntry("evil/Factory.class"));
            Files.copy(classes.resolve("evil/Factory.class"), entries);
            entries.closeEntry();
        }
    }

    private static DelegationReport report(ZooModel<NDList, NDList> model) {
        return PlanReport.of(model).orElseThrow().delegation().orElseThrow();
    }

    /** Measures, so that a profile is stored, and returns the profile. */
    private Path measure() throws Exception {
        Map<String, Object> blocking =
                Map.of("delegation.profile", "blocking:2s", "memplan.threads", 1);
        try (ZooModel<NDList, NDList> model = Planned.load(file, blocking)) {
            assertEquals(Origin.MEASURED, report(model).origin());
        }
        return Forgery.kept(file, ".profile.json");
    }

    /** Puts a profile beside the model; it is measured the first time, and then reused. */
    private Path profile() throws Exception {
        if (measured.isEmpty()) {
            Path profile = measure();
            measured = Map.of(profile.getFileName().toString(), Files.readAllBytes(profile));
        }
        Map.Entry<String, byte[]> content = measured.entrySet().iterator().next();
        Path stored = Files.createDirectories(file.resolveSibling(".djlplan"));
        return Files.write(stored.resolve(content.getKey()), content.getValue());
    }

    private static final Map<String, Object> NOT_MEASURED =
            Map.of("delegation.profile", "off", "memplan.threads", 1);

    @ParameterizedTest
    @ValueSource(ints = {Integer.MAX_VALUE, 5000})
    void load_forgedThreadsInAProfile_warnsOnceAndMeasuresAgain(int threads) throws Exception {
        Forgery.change(profile(), "profile", table -> setThreads(table, threads));
        try (LogCapture log = LogCapture.echoing();
                ZooModel<NDList, NDList> model = Planned.load(file, NOT_MEASURED)) {
            assertEquals(Origin.UNVERIFIED, report(model).origin());
            assertEquals(1, report(model).threads());
            assertPredicts(model, 1);
            assertEquals(1, log.ours("WARN").size(), log.ours("WARN").toString());
            assertTrue(log.ours("WARN").get(0).contains("a set with " + threads + " threads"));
        }
        assertTrue(Files.size(measure()) > 0, "measured anew");
    }

    private static void setThreads(JsonElement element, int threads) {
        if (element instanceof JsonObject object) {
            if (object.has("threads")) {
                object.addProperty("threads", threads);
            }
            object.entrySet().forEach(entry -> setThreads(entry.getValue(), threads));
        } else if (element instanceof JsonArray array) {
            array.forEach(each -> setThreads(each, threads));
        }
    }

    /** The file is consistent, but the delegate does not support all of the operators. */
    @Test
    void load_forgedOperatorsAndPartitions_predictsTheSame() throws Exception {
        Path profile = profile();
        int operators;
        try (ZooModel<NDList, NDList> model = Planned.load(file, NOT_MEASURED)) {
            operators = report(model).operators();
        }
        JsonArray all = new JsonArray();
        IntStream.range(0, operators).forEach(all::add);
        Forgery.change(profile, "profile", table -> delegateAll(table, all));
        try (ZooModel<NDList, NDList> model = Planned.load(file, NOT_MEASURED)) {
            assertEquals(Origin.STORED, report(model).origin());
            assertPredicts(model, 1);
            assertTrue(report(model).delegatedOperators() < operators, report(model).toString());
        }
    }

    private static void delegateAll(JsonObject table, JsonArray all) {
        JsonArray partitions = new JsonArray();
        partitions.add(all);
        table.add("partitions", partitions);
        table.getAsJsonObject("chosen").add("operators", all);
        JsonArray entries = table.getAsJsonArray("entries");
        JsonObject measured = entries.get(0).getAsJsonObject().deepCopy();
        measured.getAsJsonObject("Measured").getAsJsonObject("candidate").add("operators", all);
        entries.add(measured);
    }
}
