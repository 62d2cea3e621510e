package org.djlplan.integration.paper;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import org.djlplan.integration.paper.Contender.Kind;
import org.djlplan.thirdparty.guava.base.Joiner;

/** Renders the page that shows every strategy on every network. The result is deterministic. */
final class NetworkTable {

    /** The committed page. */
    static final Path FILE = Path.of("..", "docs", "results", "networks.md");

    /** The command that writes the page again. */
    static final String COMMAND =
            "mvn verify -Pbench -Dtest=NetworkTableBench -Dsurefire.failIfNoSpecifiedTests=false";

    private static final double MIB = 1 << 20;

    private final List<String> lines = new ArrayList<>();

    private NetworkTable() {}

    /** Returns the page. */
    static String text(List<Contender> contenders) {
        NetworkTable table = new NetworkTable();
        Results plain = Results.plain(contenders);
        table.paragraph("# Every strategy on the six networks of Pisarchyk and Lee 2020");
        table.paragraph(
                "Of the paper's tables only what its text says of them was at hand, so statements"
                        + " are compared, not figures. Made by `"
                        + COMMAND
                        + "`; a test compares it with what is computed.");
        table.networks();
        for (Kind kind : Kind.values()) {
            if (!plain.strategies(kind).isEmpty()) {
                table.strategies(kind, plain);
            }
        }
        table.inPlace(plain, Results.inPlace(contenders));
        table.statements(plain);
        return Joiner.on('\n').join(table.lines);
    }

    private void networks() {
        paragraph("## Networks");
        paragraph(
                "32-bit floats, batches of one. Planned are all tensors but inputs, outputs and"
                        + " constants, aligned to 64 bytes. Layers and their sources: the classes of"
                        + " `org.djlplan.integration.paper`.");
        header("");
        row("input", network -> shape(network.sketch()));
        row("output stride", network -> Integer.toString(network.outputStride()));
        row("operators", network -> count(network.sketch().graph().operators().size()));
        row("planned tensors", network -> count(network.sketch().problem().records().size()));
        row("parameters", network -> count(network.sketch().parameters()));
        row(
                "million multiply-adds",
                network -> count(Math.round(network.sketch().multiplyAdds() / 1e6)));
        row("naive bytes", network -> count(Results.naiveBytes(network)));
        row("lower bound of offsets, bytes", network -> bound(Kind.OFFSETS, network));
        row("lower bound of shared objects, bytes", network -> bound(Kind.SHARED_OBJECTS, network));
        lines.add("");
    }

    private void strategies(Kind kind, Results results) {
        paragraph("## " + kind.label());
        paragraph("MiB (ratio to the lower bound).");
        header("strategy");
        for (String strategy : results.strategies(kind)) {
            row(
                    strategy,
                    network -> cell(results, kind, network, results.bytes(strategy, network)));
        }
        row("**the best**", network -> best(results, kind, network));
        lines.add("");
    }

    private void inPlace(Results plain, Results inPlace) {
        paragraph("## In place");
        paragraph(
                "Offsets where operators may write over their inputs or view them; ratio to the"
                        + " lower bound *without* that, which such plans can go below. The bound"
                        + " holds for the alias classes that were chosen. Networks without such"
                        + " operators: –.");
        header("");
        Kind kind = Kind.OFFSETS;
        row(
                "lower bound",
                network -> cell(plain, kind, network, inPlace.boundBytes(kind, network)));
        row(
                "**the best**",
                network -> cell(plain, kind, network, inPlace.leastBytes(kind, network)));
        lines.add("");
    }

    private void statements(Results results) {
        paragraph("## What the paper says");
        lines.add("| statement | holds here | found here |");
        lines.add("| --- | --- | --- |");
        for (Statement statement : Statement.of(results)) {
            cells(statement.text(), statement.holds() ? "yes" : "no", statement.figures());
        }
        lines.add("");
    }

    private static String bound(Kind kind, PaperNetwork network) {
        return count(kind.boundBytes(network.sketch().problem()));
    }

    private static String best(Results results, Kind kind, PaperNetwork network) {
        return cell(results, kind, network, results.leastBytes(kind, network));
    }

    private static String cell(
            Results results, Kind kind, PaperNetwork network, Optional<Long> bytes) {
        double bound = results.boundBytes(kind, network).orElseThrow();
        return bytes.map(b -> String.format(Locale.ROOT, "%.3f (%.4f)", b / MIB, b / bound))
                .orElse("–");
    }

    private static String count(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    private static String shape(NetworkSketch sketch) {
        int input = sketch.graph().inputs().get(0);
        return Joiner.on(" × ").join(sketch.graph().tensors().get(input).shape().subList(1, 4));
    }

    private void header(String corner) {
        row(corner, PaperNetwork::label);
        int columns = PaperNetwork.values().length;
        lines.add("| --- |" + " ---: |".repeat(columns));
    }

    private void row(String name, Function<PaperNetwork, String> cell) {
        List<String> cells = new ArrayList<>(List.of(name));
        Arrays.stream(PaperNetwork.values()).map(cell).forEach(cells::add);
        cells(cells.toArray(String[]::new));
    }

    private void cells(String... cells) {
        lines.add("| " + Joiner.on(" | ").join(cells) + " |");
    }

    private void paragraph(String text) {
        lines.add(text);
        lines.add("");
    }
}
