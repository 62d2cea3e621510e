package org.djlplan.cli;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Base of command tests: runs a command in a temporary folder and captures its output. */
abstract class CommandTest {

    @TempDir Path folder;

    final StringWriter out = new StringWriter();
    final StringWriter err = new StringWriter();

    int execute(Object command, Object... arguments) {
        List<String> words = new ArrayList<>();
        for (Object argument : arguments) {
            words.add(argument.toString());
        }
        return Parsed.register(new CommandLine(command))
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .setExecutionExceptionHandler(
                        (e, line, parsed) -> {
                            line.getErr().println(e.getMessage());
                            return 1;
                        })
                .execute(words.toArray(String[]::new));
    }

    JsonObject json() {
        return JsonParser.parseString(out.toString()).getAsJsonObject();
    }

    static List<String> strategies(JsonObject json) {
        return results(json).stream().map(result -> result.get("strategy").getAsString()).toList();
    }

    static List<JsonObject> results(JsonObject json) {
        List<JsonObject> results = new ArrayList<>();
        json.getAsJsonArray("results").forEach(result -> results.add(result.getAsJsonObject()));
        return results;
    }
}
