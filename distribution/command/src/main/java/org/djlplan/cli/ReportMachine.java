package org.djlplan.cli;

import ai.djl.engine.Engine;
import com.google.gson.JsonElement;
import com.google.gson.JsonPrimitive;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/** The machine section of a report: the machine that made it. */
final class ReportMachine {

    private static final Path CPUS = Path.of("/proc/cpuinfo");
    private static final String MODEL = "model name";

    private ReportMachine() {}

    static ImmutableMap<String, JsonElement> facts() {
        ImmutableMap.Builder<String, JsonElement> facts = ImmutableMap.builder();
        facts.put("cpu", new JsonPrimitive(cpu()));
        facts.put("cores", new JsonPrimitive(Machine.cores()));
        facts.put("memoryBytes", new JsonPrimitive(new Machine().memoryRoom().limitBytes()));
        facts.put(
                "os",
                new JsonPrimitive(
                        System.getProperty("os.name") + " " + System.getProperty("os.version")));
        facts.put("java", new JsonPrimitive(System.getProperty("java.version")));
        facts.put("djl", new JsonPrimitive(Engine.getDjlVersion()));
        return facts.buildOrThrow();
    }

    private static String cpu() {
        try (BufferedReader lines = Files.newBufferedReader(CPUS, StandardCharsets.ISO_8859_1)) {
            return lines.lines()
                    .filter(line -> line.startsWith(MODEL))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse(System.getProperty("os.arch"));
        } catch (IOException e) {
            return System.getProperty("os.arch");
        }
    }
}
