package org.djlplan.memplan.internal.source.torchscript;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Rewrites the code of a layer ({@code torch.linear}, or {@code torch._convolution} with one group)
 * so that it computes its output channels in slices, each with a part of the weight. Every slice
 * has its own output, and the outputs are then concatenated. Results may differ in the last bits,
 * because kernels choose their algorithm by shape.
 */
final class LayerSlicer {

    private static final String ARGUMENT = "([^(),\\[\\]]+)";
    private static final String NUMBERS = "(\\[[-\\d, ]*\\])";
    private static final Pattern CALL =
            Pattern.compile(
                    "(?m)^( +)(return |\\w+ = )(?:torch\\.linear\\("
                            + ARGUMENT
                            + ", "
                            + ARGUMENT
                            + ", "
                            + ARGUMENT
                            + "\\)|torch\\._convolution\\("
                            + ARGUMENT
                            + ", "
                            + ARGUMENT
                            + ", "
                            + ARGUMENT
                            + ", "
                            + NUMBERS
                            + "(, [^\\n]*?, False, \\[[-\\d, ]*\\], 1, [^\\n]*)\\))$");

    private static final String METHOD = "\n  def ";

    /**
     * The bias of a call, as far as the code shows it. Calls with an unknown one are not sliced.
     */
    private enum Bias {
        NONE,
        TENSOR,
        UNKNOWN
    }

    private LayerSlicer() {}

    /**
     * Returns the code of a file with one class rewritten; the same code if no call of that class
     * can be sliced.
     *
     * @param code of a file
     * @param className of one of the file's classes
     * @param slices approximate number of slices
     */
    static String slice(String code, String className, int slices) {
        int begin = code.indexOf("class " + className + "(Module):");
        if (begin < 0) {
            return code;
        }
        int next = code.indexOf("\nclass ", begin);
        int end = next < 0 ? code.length() : next + 1;
        String body = code.substring(begin, end);
        Matcher call = CALL.matcher(body);
        StringBuilder rewritten = new StringBuilder();
        int number = 0;
        while (call.find()) {
            String bias = call.group(call.group(3) != null ? 5 : 8);
            Bias kind = bias(bias, method(body, call.start()), body);
            if (kind != Bias.UNKNOWN) {
                String replacement = sliced(call, kind == Bias.TENSOR, slices, number);
                call.appendReplacement(rewritten, Matcher.quoteReplacement(replacement));
                number++;
            }
        }
        call.appendTail(rewritten);
        return code.substring(0, begin) + rewritten + code.substring(end);
    }

    /** Returns the method around a position in a class. */
    private static String method(String body, int position) {
        int begin = Math.max(0, body.lastIndexOf(METHOD, position));
        int next = body.indexOf(METHOD, position);
        return body.substring(begin, next < 0 ? body.length() : next);
    }

    /**
     * Determines a bias by the declared type of the attribute that a variable was read from.
     *
     * @param argument a literal or a variable
     * @param method that has the variable
     * @param body of the class that has the attribute
     */
    private static Bias bias(String argument, String method, String body) {
        if (argument.equals("None")) {
            return Bias.NONE;
        }
        String name = Pattern.quote(argument);
        Matcher assigned =
                Pattern.compile("(?m)^([^=\\n]*\\b" + name + "\\b[^=\\n]*) = (.+)$")
                        .matcher(method);
        if (!assigned.find() || !assigned.group(1).strip().equals(argument)) {
            return Bias.UNKNOWN;
        }
        String value = assigned.group(2);
        if (assigned.find() || !value.matches("self\\.\\w+")) {
            return Bias.UNKNOWN;
        }
        String attribute = value.substring(value.indexOf('.') + 1);
        if (body.contains("\n  " + attribute + " : Tensor\n")) {
            return Bias.TENSOR;
        }
        return body.contains("\n  " + attribute + " : NoneType\n") ? Bias.NONE : Bias.UNKNOWN;
    }

    private static String sliced(Matcher call, boolean hasBias, int slices, int number) {
        boolean linear = call.group(3) != null;
        String input = call.group(linear ? 3 : 6);
        String weight = call.group(linear ? 4 : 7);
        String bias = call.group(linear ? 5 : 8);
        String indent = call.group(1);
        String name = "djlplan_" + number;
        String from = name + "_i * " + name + "_rows";
        String to = '(' + name + "_i + 1) * " + name + "_rows";
        String part =
                input
                        + ", torch.slice("
                        + weight
                        + ", 0, "
                        + from
                        + ", "
                        + to
                        + "), "
                        + (hasBias
                                ? "torch.slice(" + bias + ", 0, " + from + ", " + to + ')'
                                : bias);
        String computed =
                linear
                        ? "torch.linear(" + part + ')'
                        : "torch._convolution("
                                + part
                                + ", "
                                + call.group(9)
                                + call.group(10)
                                + ')';
        int spatial = linear ? 0 : call.group(9).split(",", -1).length;
        String rows = "torch.size(" + weight + ", 0)";
        return indent
                + name
                + "_rows = ("
                + rows
                + " + "
                + (slices - 1)
                + ") // "
                + slices
                + '\n'
                + indent
                + name
                + "_parts = annotate(List[Tensor], [])\n"
                + indent
                + "for "
                + name
                + "_i in range(("
                + rows
                + " + "
                + name
                + "_rows - 1) // "
                + name
                + "_rows):\n"
                + indent
                + "  "
                + name
                + "_part = "
                + computed
                + '\n'
                + indent
                + "  "
                + name
                + "_all = torch.append("
                + name
                + "_parts, "
                + name
                + "_part)\n"
                + indent
                + call.group(2)
                + "torch.cat("
                + name
                + "_parts, "
                + (-1 - spatial)
                + ')';
    }
}
