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

    /** Worked example of Pisarchyk and Lee 2020: its lower bounds are 124 and 128 bytes. */
    static final String PAPER =
            """
            id,lower,upper,size
            0,0,2,32
            1,1,5,28
            2,2,6,36
            3,3,6,16
            4,4,6,8
            5,5,8,64
            6,6,9,10
            7,7,9,40
            """;

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
