package org.djlplan.cli;

import com.google.gson.JsonElement;
import java.io.PrintWriter;
import java.util.function.Supplier;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The option {@code --json}, and the output of a command that has it. */
final class JsonOption {

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    /** Picocli creates the option. */
    JsonOption() {}

    boolean isSet() {
        return json;
    }

    /**
     * Prints the result of the command.
     *
     * @param text complete lines
     */
    void print(Supplier<JsonElement> asJson, Supplier<String> text) {
        PrintWriter out = spec.commandLine().getOut();
        out.print(json ? asJson.get() + "\n" : text.get());
        out.flush();
    }
}
