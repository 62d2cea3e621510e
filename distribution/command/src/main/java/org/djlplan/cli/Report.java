package org.djlplan.cli;

import ai.djl.engine.Engine;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.internal.json.Json;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.hash.Hashing;
import org.djlplan.thirdparty.guava.io.MoreFiles;

/**
 * The data of a report on a model, as the page and {@code report --json} have it.
 *
 * @param djlPlan version of djl-plan that made the report
 * @param machine facts about the machine that made the report, by key
 * @param plan the memory map
 */
record Report(String djlPlan, Model model, Map<String, Object> machine, MemoryMap plan) {

    private static final Path CPUS = Path.of("/proc/cpuinfo");
    private static final String CPU_MODEL = "model name";

    /**
     * The model in the report.
     *
     * @param engine name of its engine; {@code records} for a file of usage records
     * @param view source of the records
     * @param bytes size of the model's file
     * @param sha256 of the model's file, in hexadecimal
     */
    record Model(
            String name,
            String engine,
            String view,
            Optional<Long> bytes,
            Optional<String> sha256) {}

    /** Returns the report of a model that was planned on this machine. */
    static Report of(RunOptions options, ReportPlan.Planned planned) throws IOException {
        Optional<Long> bytes = Optional.empty();
        Optional<String> hash = Optional.empty();
        if (options.model() instanceof ModelRef.OfFile of) {
            bytes = Optional.of(Files.size(of.file()));
            hash = Optional.of(MoreFiles.asByteSource(of.file()).hash(Hashing.sha256()).toString());
        }
        String engine =
                planned.view() == PlanInput.View.CSV ? "records" : options.engine().engineName();
        return new Report(
                DjlPlan.VersionProvider.ofProject(),
                new Model(nameOf(options), engine, planned.view().label(), bytes, hash),
                ImmutableMap.of(
                        "cpu",
                        cpu(),
                        "cores",
                        Machine.cores(),
                        "memoryBytes",
                        new Machine().memoryRoom().limitBytes(),
                        "os",
                        System.getProperty("os.name") + " " + System.getProperty("os.version"),
                        "java",
                        System.getProperty("java.version"),
                        "djl",
                        Engine.getDjlVersion()),
                planned.map());
    }

    /** Returns the name of a model without its folder. */
    static String nameOf(RunOptions options) {
        return options.model() instanceof ModelRef.OfFile file
                ? String.valueOf(file.file().getFileName())
                : options.modelName();
    }

    private static String cpu() {
        try (BufferedReader lines = Files.newBufferedReader(CPUS, StandardCharsets.ISO_8859_1)) {
            return lines.lines()
                    .filter(line -> line.startsWith(CPU_MODEL))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse(System.getProperty("os.arch"));
        } catch (IOException e) {
            return System.getProperty("os.arch");
        }
    }

    /**
     * Returns the report as JSON.
     *
     * @param parts measurements by name, such as {@code run}
     */
    JsonObject toJson(Map<String, JsonElement> parts) {
        JsonObject json = Json.sparse(this).getAsJsonObject();
        parts.forEach(json::add);
        return json;
    }
}
