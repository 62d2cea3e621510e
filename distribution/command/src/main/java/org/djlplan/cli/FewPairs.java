package org.djlplan.cli;

import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The default of {@code --iterations} for commands that count pairs of predictions of a large
 * model.
 */
final class FewPairs implements IDefaultValueProvider {

    private static final String PAIRS = "15";

    @Override
    public String defaultValue(ArgSpec argument) {
        return argument instanceof OptionSpec option && option.longestName().equals("--iterations")
                ? PAIRS
                : null;
    }
}
