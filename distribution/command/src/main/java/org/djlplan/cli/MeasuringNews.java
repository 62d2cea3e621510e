package org.djlplan.cli;

import java.io.PrintWriter;
import java.util.Optional;

/**
 * Prints a message that a model is about to be measured, then the progress if a terminal shows it.
 */
final class MeasuringNews extends ProgressLine {

    private final PrintWriter messages;
    private final String model;
    private final Optional<ProgressLine.OnTerminal> line;
    private boolean told;

    /**
     * @param messages the error stream
     * @param model its name
     */
    MeasuringNews(PrintWriter messages, String model) {
        super(System::nanoTime);
        this.messages = messages;
        this.model = model;
        line = onTerminal(messages);
    }

    @Override
    void begin(String name) {
        if (!told) {
            messages.println(
                    "no measurement of "
                            + model
                            + " is stored: it is measured first, which takes some seconds; every"
                            + " load uses the result");
            messages.flush();
            told = true;
        }
    }

    @Override
    void show(String name, long percent, String left) {
        line.ifPresent(each -> each.show(name, percent, left));
    }

    @Override
    void finish() {
        line.ifPresent(ProgressLine.OnTerminal::finish);
    }
}
