package org.djlplan.delegation.internal;

import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.IntPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.internal.config.Nearest;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.UnusableOptionException;
import org.djlplan.thirdparty.guava.base.CharMatcher;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Operators that users exclude from delegation, as a list of parts. A part is
 *
 * <ul>
 *   <li>a number or a range of numbers: indices in the model's file, from 0;
 *   <li>otherwise the name of an output tensor, case-sensitive (operators have no names: tools show
 *       the name of the first output);
 *   <li>otherwise a type, case-insensitive.
 * </ul>
 *
 * <p>With {@code *}, which stands for any characters or none, a part matches names and types. The
 * prefix {@code name:} or {@code type:} limits a part to one of these; after a prefix, even a
 * number is a name or a type.
 *
 * @param parts whose matches are all excluded
 */
public record Exclusion(List<String> parts) {

    /** Nothing. */
    public static final Exclusion NONE = new Exclusion(List.of());

    /** The valid forms. */
    static final String ALLOWED =
            "operators, separated by commas: numbers such as 17 or 17-23, types such as CONV_2D, or"
                    + " names of output tensors";

    /**
     * Also as printed by other tools: JSON's numbers arrive as 17.0, and ranges may have a dash.
     */
    private static final Pattern NUMBERS =
            Pattern.compile("(\\d{1,9})(?:\\.0)?(?:\\s*[-\u2013]\\s*(\\d{1,9}))?");

    private static final String NAME = "name:";
    private static final String TYPE = "type:";

    /** Limits the time that a folder's text can cost. */
    private static final int MOST_PARTS = 1_000;

    private static final int NEAR = 3;
    private static final int MOST_COMPARED = 10_000;
    private static final int LONGEST_COMPARED = 100;

    public Exclusion {
        parts = ImmutableList.copyOf(parts);
    }

    /** Parses an exclusion; empty if it cannot match any model. */
    static Optional<Exclusion> parse(String text) {
        if (text.equals(DelegationOptions.NONE)) {
            return Optional.of(NONE);
        }
        List<String> parts = Splitter.on(',').trimResults().omitEmptyStrings().splitToList(text);
        boolean possible =
                parts.size() <= MOST_PARTS
                        && parts.stream()
                                .map(NUMBERS::matcher)
                                .allMatch(
                                        numbers ->
                                                !numbers.matches()
                                                        || first(numbers) <= last(numbers));
        return possible ? Optional.of(new Exclusion(parts)) : Optional.empty();
    }

    private static int first(Matcher numbers) {
        return Integer.parseInt(numbers.group(1));
    }

    private static int last(Matcher numbers) {
        return numbers.group(2) == null ? first(numbers) : Integer.parseInt(numbers.group(2));
    }

    /**
     * Returns the operators of a graph that are excluded.
     *
     * @throws UnusableOptionException if a part matches nothing; the message lists similar names
     */
    public SortedSet<Integer> of(Graph graph) {
        SortedSet<Integer> all = new TreeSet<>();
        parts.forEach(part -> all.addAll(operators(part, graph)));
        return Collections.unmodifiableSortedSet(all);
    }

    /**
     * Returns the operators of a model that are excluded; none of a model with recipes.
     *
     * @throws UnusableOptionException as {@link #of(Graph)}
     */
    SortedSet<Integer> of(DelegableModel model) {
        return model.recipes().isEmpty() ? of(model.graph()) : Collections.emptySortedSet();
    }

    private static List<Integer> operators(String part, Graph graph) {
        Matcher numbers = NUMBERS.matcher(part);
        if (numbers.matches()) {
            requireNumber(last(numbers), part, graph);
            return matching(graph, i -> i >= first(numbers) && i <= last(numbers));
        }
        boolean name = part.startsWith(NAME);
        boolean type = part.startsWith(TYPE);
        String what = part.substring(name ? NAME.length() : type ? TYPE.length() : 0);
        List<Integer> named =
                type
                        ? List.of()
                        : matching(graph, i -> names(graph, i).anyMatch(n -> fits(what, n)));
        // A name that a converter generated, such as add, is used as a name even if it is also a
        // type.
        boolean enough = name || (!named.isEmpty() && what.indexOf('*') < 0);
        List<Integer> typed =
                enough ? List.of() : matching(graph, i -> fits(upper(what), upper(type(graph, i))));
        if (named.isEmpty() && typed.isEmpty()) {
            throw unknown(part, what, graph);
        }
        return ImmutableList.<Integer>builder().addAll(named).addAll(typed).build();
    }

    private static void requireNumber(int number, String part, Graph graph) {
        int count = graph.operators().size();
        if (number >= count) {
            throw new UnusableOptionException(
                    "%s=%s: the operators of %s are 0 to %d"
                            .formatted(DelegationKey.EXCLUDE.key(), part, graph.name(), count - 1));
        }
    }

    private static List<Integer> matching(Graph graph, IntPredicate wanted) {
        return IntStream.range(0, graph.operators().size()).filter(wanted).boxed().toList();
    }

    private static Stream<String> names(Graph graph, int operator) {
        return names(graph, graph.operators().get(operator));
    }

    private static Stream<String> names(Graph graph, Operator operator) {
        return operator.outputs().stream()
                .map(id -> graph.tensors().get(id).name())
                .filter(name -> !name.isEmpty());
    }

    private static String type(Graph graph, int operator) {
        return graph.operators().get(operator).type();
    }

    private static String upper(String text) {
        return text.toUpperCase(Locale.ROOT);
    }

    /**
     * Matches the text between stars at its first occurrence: if a later one fits, so does the
     * first.
     */
    private static boolean fits(String pattern, String text) {
        List<String> pieces = Splitter.on('*').splitToList(pattern);
        String first = pieces.get(0);
        if (pieces.size() == 1) {
            return first.equals(text);
        }
        String last = pieces.get(pieces.size() - 1);
        if (!text.startsWith(first) || !text.endsWith(last)) {
            return false;
        }
        int from = first.length();
        int end = text.length() - last.length();
        for (String piece : pieces.subList(1, pieces.size() - 1)) {
            int found = text.indexOf(piece, from);
            if (found < 0) {
                return false;
            }
            from = found + piece.length();
        }
        return from <= end;
    }

    private static UnusableOptionException unknown(String part, String what, Graph graph) {
        List<String> known =
                graph.operators().stream()
                        .flatMap(o -> Stream.concat(Stream.of(o.type()), names(graph, o)))
                        .distinct()
                        .limit(MOST_COMPARED)
                        .map(Exclusion::shortened)
                        .toList();
        String near = String.join(", ", Nearest.of(shortened(what), known, NEAR));
        return new UnusableOptionException(
                "%s=%s: %s has no operator of that type or with an output of that name%s"
                        .formatted(
                                DelegationKey.EXCLUDE.key(),
                                shortened(part),
                                graph.name(),
                                near.isEmpty() ? "" : "; the nearest are " + near));
    }

    /** Shortens names of a file for messages and logs. */
    private static String shortened(String text) {
        String plain = CharMatcher.javaIsoControl().replaceFrom(text, ' ');
        return plain.length() <= LONGEST_COMPARED
                ? plain
                : plain.substring(0, LONGEST_COMPARED) + "…";
    }
}
