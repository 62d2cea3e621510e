package org.djlplan.integration.torch.memory;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A small random TorchScript model without weights, by seed. The model takes inputs of any sizes;
 * its code computes each dimension from the inputs' dimensions, for example {@code (n+m)}.
 */
final class RandomTorchScript {

    private static final String END = "9223372036854775807";
    private static final Dimension ONE = new Dimension("1", 1, 1);
    private static final Dimension TWO = new Dimension("2", 2, 2);

    private static final ImmutableList<Dimension> DIMENSIONS =
            ImmutableList.of(
                    new Dimension("n", 1, 48), new Dimension("m", 1, 24), new Dimension("k", 1, 6));

    private static final ImmutableList<String> UNARY =
            ImmutableList.of("relu", "sigmoid", "tanh", "neg", "abs", "sin", "clone", "contiguous");

    private static final ImmutableList<String> BINARY =
            ImmutableList.of("add", "sub", "mul", "maximum", "minimum");

    private static final ImmutableList<String> IN_PLACE =
            ImmutableList.of("relu_", "sigmoid_", "tanh_", "neg_", "sin_");

    private static final long MOST_ELEMENTS = 200_000;
    private static final long MOST_LOOPED = 20_000;

    /** Above this size, a prediction's outputs are not left to the engine. */
    private static final long MOST_RETURNED = 40_000;

    private final Random random;
    private final StringBuilder code = new StringBuilder();
    private final List<Value> inputs = new ArrayList<>();
    private final List<Value> values = new ArrayList<>();

    /** Names of values that no operator reads yet. */
    private final Set<String> unread = new LinkedHashSet<>();

    private String indent = "    ";
    private int names;

    /**
     * One dimension of a tensor.
     *
     * @param formula dimensions with equal formulas have equal sizes
     */
    private record Dimension(String formula, int least, int most) {

        private Dimension every(int start, int step) {
            return new Dimension(
                    formula + "[" + start + "::" + step + "]",
                    count(least, start, step),
                    count(most, start, step));
        }

        private static int count(int size, int start, int step) {
            return Math.max(0, (size - start + step - 1) / step);
        }

        private Dimension plus(Dimension other) {
            return new Dimension(
                    "(" + formula + "+" + other.formula + ")",
                    least + other.least,
                    most + other.most);
        }

        private Dimension times(Dimension other) {
            if (equals(ONE) || other.equals(ONE)) {
                return equals(ONE) ? other : this;
            }
            return new Dimension(
                    "(" + formula + "*" + other.formula + ")",
                    least * other.least,
                    most * other.most);
        }
    }

    /**
     * A tensor.
     *
     * @param own whether operators may write to it: it is neither an input nor a view of one, and
     *     has no element twice
     */
    private record Value(String name, List<Dimension> shape, boolean own) {

        private Value {
            shape = ImmutableList.copyOf(shape);
        }

        private int rank() {
            return shape.size();
        }

        private long mostElements() {
            return shape.stream().mapToLong(Dimension::most).reduce(1, (a, b) -> a * b);
        }

        private boolean neverEmpty() {
            return shape.stream().allMatch(dimension -> dimension.least > 0);
        }

        private Value with(int axis, Dimension dimension) {
            List<Dimension> changed = new ArrayList<>(shape);
            changed.set(axis, dimension);
            return new Value(name, changed, own);
        }

        private Value swapped(int axis, int other) {
            List<Dimension> changed = new ArrayList<>(shape);
            Collections.swap(changed, axis, other);
            return new Value(name, changed, own);
        }
    }

    private RandomTorchScript(long seed) {
        random = new Random(seed);
    }

    /** Returns the model for a seed. */
    static RandomTorchScript of(long seed) {
        RandomTorchScript model = new RandomTorchScript(seed);
        int count = 1 + model.random.nextInt(3);
        for (int i = 0; i < count; i++) {
            List<Dimension> shape = new ArrayList<>(DIMENSIONS);
            Collections.shuffle(shape, model.random);
            Value input = new Value("x" + i, shape.subList(0, 1 + model.random.nextInt(3)), false);
            model.inputs.add(input);
            model.values.add(input);
        }
        int operators = 5 + model.random.nextInt(25);
        for (int i = 0; i < operators; i++) {
            model.addOperator();
        }
        model.addOutputs();
        return model;
    }

    /** Returns inputs of random sizes. */
    ModelInputs sizes(Random sizes) {
        List<Integer> drawn =
                DIMENSIONS.stream()
                        .map(d -> sizes.nextInt(5) == 0 ? 1 : 1 + sizes.nextInt(d.most))
                        .toList();
        return ModelInputs.floats(
                inputs.stream()
                        .map(
                                input ->
                                        input.shape.stream()
                                                .mapToLong(d -> drawn.get(DIMENSIONS.indexOf(d)))
                                                .toArray())
                        .toArray(long[][]::new));
    }

    /** Writes the model as the engine would. */
    Path write(Path file) throws IOException {
        try (OutputStream to = Files.newOutputStream(file);
                ZipOutputStream out = new ZipOutputStream(to)) {
            // An object of that class without attributes, and no constants.
            String pickled = "\u0080\u0002c__torch__\nRandom\nq\u0000)\u0081}b.";
            put(out, "data.pkl", pickled.getBytes(StandardCharsets.ISO_8859_1));
            put(out, "code/__torch__.py", code.toString().getBytes(StandardCharsets.UTF_8));
            put(out, "constants.pkl", "\u0080\u0002).".getBytes(StandardCharsets.ISO_8859_1));
            put(out, "version", "3\n".getBytes(StandardCharsets.UTF_8));
        }
        return file;
    }

    private static void put(ZipOutputStream out, String name, byte[] bytes) throws IOException {
        CRC32 checksum = new CRC32();
        checksum.update(bytes);
        ZipEntry entry = new ZipEntry("random/" + name);
        entry.setMethod(ZipEntry.STORED);
        entry.setSize(bytes.length);
        entry.setCrc(checksum.getValue());
        out.putNextEntry(entry);
        out.write(bytes);
    }

    /** Returns the model's code. */
    @Override
    public String toString() {
        return code.toString();
    }

    private <T> T any(List<T> all) {
        return all.get(random.nextInt(all.size()));
    }

    /** Returns a value, usually one without a reader, so that no operator is dropped as unused. */
    private Value any() {
        List<Value> waiting = values.stream().filter(value -> unread.contains(value.name)).toList();
        return waiting.isEmpty() || random.nextInt(3) == 0 ? any(values) : any(waiting);
    }

    private String read(Value value) {
        unread.remove(value.name);
        return value.name;
    }

    private String line(String expression) {
        String name = "v" + names++;
        code.append(indent).append(name).append(" = ").append(expression).append('\n');
        return name;
    }

    private void keep(String expression, Value like, boolean own) {
        if (like.mostElements() > MOST_ELEMENTS) {
            return;
        }
        String name = line(expression);
        values.add(new Value(name, like.shape, own));
        unread.add(name);
    }

    private static String call(String function, Object... arguments) {
        return "torch."
                + function
                + List.of(arguments).stream()
                        .map(Object::toString)
                        .collect(Collectors.joining(", ", "(", ")"));
    }

    private void addOperator() {
        Value x = any();
        int axis = random.nextInt(x.rank());
        switch (random.nextInt(14)) {
            case 0 -> {
                String function = any(UNARY);
                keep(call(function, read(x)), x, x.own || !function.equals("contiguous"));
            }
            case 1, 2 -> addBinary(x);
            case 3, 4 -> writeInPlace(x, axis);
            case 5 -> addConcatenation(x, axis);
            case 6 -> addSlice(x, axis);
            case 7, 8 -> addView(x, axis);
            case 9 -> addProduct(x);
            case 10 -> addAlong(x, axis);
            case 11 -> addBranch(x);
            case 12 -> addLoop(x, axis);
            default -> addGrowing(x, axis);
        }
    }

    private String unary(String x) {
        return call(any(UNARY), x);
    }

    /** Returns another value that an operator may broadcast to the shape of this one. */
    private Optional<Value> broadcastTo(Value x) {
        List<Value> all =
                values.stream()
                        .filter(y -> y.rank() <= x.rank())
                        .filter(
                                y ->
                                        IntStream.range(0, y.rank())
                                                .allMatch(i -> isBroadcast(y, x, i)))
                        .toList();
        return all.isEmpty() ? Optional.empty() : Optional.of(any(all));
    }

    private static boolean isBroadcast(Value y, Value x, int axis) {
        Dimension own = y.shape.get(axis);
        return own.equals(ONE) || own.equals(x.shape.get(x.rank() - y.rank() + axis));
    }

    private void addBinary(Value x) {
        Value y = broadcastTo(x).orElse(x);
        boolean swap = random.nextBoolean();
        keep(call(any(BINARY), read(swap ? y : x), read(swap ? x : y)), x, true);
    }

    /** Writes in place, only to tensors that the model has made itself; their views change, too. */
    private void writeInPlace(Value any, int axis) {
        List<Value> own = values.stream().filter(Value::own).toList();
        if (own.isEmpty()) {
            keep(call("mul", read(any), "0.5"), any, true);
            return;
        }
        Value x = any.own ? any : any(own);
        Value y = broadcastTo(x).orElse(x);
        String unused =
                switch (random.nextInt(4)) {
                    case 0 -> line(call(any(IN_PLACE), x.name));
                    case 1 -> line(call("mul_", x.name, "0.75"));
                    case 2 -> line(call("add_", x.name, call("neg", read(y))));
                    default -> line(call(any(IN_PLACE), every(x.name, axis % x.rank(), 0, 2)));
                };
    }

    private static String every(String x, int axis, int start, int step) {
        return call("slice", x, axis, start, END, step);
    }

    private void addConcatenation(Value x, int axis) {
        List<Value> others =
                values.stream()
                        .filter(y -> y.rank() == x.rank())
                        .filter(y -> y.with(axis, ONE).shape.equals(x.with(axis, ONE).shape))
                        .toList();
        Value y = any(others);
        if (random.nextInt(3) == 0 && x.shape.equals(y.shape)) {
            List<Dimension> shape = new ArrayList<>(x.shape);
            shape.add(axis, TWO);
            keep(
                    call("stack", "[" + read(x) + ", " + read(y) + "]", axis),
                    new Value("", shape, true),
                    true);
            return;
        }
        keep(
                call("cat", "[" + read(x) + ", " + read(y) + "]", axis),
                x.with(axis, x.shape.get(axis).plus(y.shape.get(axis))),
                true);
    }

    /** Adds a slice, which is a view; of a dimension of 1 it may be empty. */
    private void addSlice(Value x, int axis) {
        int start = random.nextInt(4) == 0 ? 1 : 0;
        int step = start == 1 ? 1 + random.nextInt(2) : 2 + random.nextInt(2);
        keep(
                every(read(x), axis, start, step),
                x.with(axis, x.shape.get(axis).every(start, step)),
                x.own);
    }

    private void addView(Value x, int axis) {
        List<Dimension> shape = new ArrayList<>(x.shape);
        int next = axis + 1;
        if (next == x.rank()) {
            shape.add(axis, ONE);
            keep(call("unsqueeze", read(x), axis), new Value("", shape, true), x.own);
        } else if (random.nextBoolean()) {
            keep(call("transpose", read(x), axis, next), x.swapped(axis, next), x.own);
        } else {
            shape.set(axis, shape.get(axis).times(shape.remove(next)));
            keep(call("flatten", read(x), axis, next), new Value("", shape, true), x.own);
        }
    }

    /** Adds a product of the rows of one matrix with the rows of another, or of each of several. */
    private void addProduct(Value x) {
        if (x.rank() == 1) {
            keep(call("outer", read(x), read(x)), matrix(x, x), true);
            return;
        }
        int rows = x.rank() - 2;
        Value y =
                any(
                        values.stream()
                                .filter(other -> other.rank() == x.rank())
                                .filter(
                                        other ->
                                                other.with(rows, ONE)
                                                        .shape
                                                        .equals(x.with(rows, ONE).shape))
                                .toList());
        keep(
                call("matmul", read(x), call("transpose", read(y), -2, -1)),
                x.with(rows + 1, y.shape.get(rows)),
                true);
    }

    private static Value matrix(Value x, Value y) {
        return new Value("", List.of(x.shape.get(0), y.shape.get(0)), true);
    }

    private void addAlong(Value x, int axis) {
        switch (random.nextInt(4)) {
            case 0 -> keep(call("softmax", read(x), axis), x, true);
            case 1 -> keep(call("cumsum", read(x), axis), x, true);
            case 2 -> keep(call("sum", read(x), "[" + axis + "]", "True"), x.with(axis, ONE), true);
            default -> {
                String pair = line(call("sort", read(x), axis));
                keep("(" + pair + ")[0]", x, true);
            }
        }
    }

    /** Returns a dimension of an input as code. */
    private String size() {
        Value input = any(inputs);
        return call("size", input.name, random.nextInt(input.rank()));
    }

    /** Adds operators after which a tensor has the same shape; returns the last one's. */
    private String chain(Value x) {
        String end = x.name;
        for (int i = random.nextInt(3); i >= 0; i--) {
            end = line(sameShape(end, x));
        }
        return end;
    }

    private String sameShape(String x, Value like) {
        int axis = random.nextInt(like.rank());
        return switch (random.nextInt(6)) {
            case 0 -> unary(x);
            case 1 -> call(any(BINARY), x, broadcastTo(like).map(this::read).orElse(x));
            case 2 -> call("softmax", x, axis);
            case 3 -> every(call("cat", "[" + x + ", " + call("neg", x) + "]", axis), axis, 0, 2);
            case 4 -> call("transpose", unary(call("transpose", x, 0, axis)), axis, 0);
            default -> call("add_", call("tanh", x), "0.25");
        };
    }

    /**
     * Adds a branch that depends on a size, or on values, which differ between predictions of the
     * same sizes.
     */
    private void addBranch(Value x) {
        String condition =
                random.nextInt(3) > 0
                        ? call("lt", size(), 2 + random.nextInt(8))
                        : "bool(" + call("gt", call("sum", x.name), "0.") + ")";
        String joined = "v" + names++;
        String unused = read(x);
        code.append(indent).append("if ").append(condition).append(":\n");
        nested(() -> assign(joined, chain(x)));
        code.append(indent).append("else:\n");
        nested(() -> assign(joined, random.nextInt(3) == 0 ? x.name : chain(x)));
        values.add(new Value(joined, x.shape, false));
        unread.add(joined);
    }

    private void nested(Runnable body) {
        String outer = indent;
        indent += "  ";
        body.run();
        indent = outer;
    }

    private void assign(String variable, String value) {
        code.append(indent).append(variable).append(" = ").append(value).append('\n');
    }

    private void addLoop(Value x, int axis) {
        if (x.mostElements() > MOST_LOOPED) {
            return;
        }
        Value state = new Value("v" + names++, x.shape, false);
        assign(state.name, read(x));
        String turn = "i" + names++;
        boolean rows = random.nextBoolean();
        String turns = rows ? call("size", x.name, axis) : size();
        code.append(indent).append("for " + turn + " in range(" + turns + "):\n");
        nested(
                () -> {
                    if (rows) {
                        String row = call("slice", x.name, axis, turn, call("add", turn, 1));
                        assign(state.name, call("add", state.name, row));
                    }
                    assign(state.name, call("tanh", chain(state)));
                });
        values.add(state);
        unread.add(state.name);
    }

    /** Adds a list that grows with each turn of a loop. */
    private void addGrowing(Value x, int axis) {
        Value input = any(inputs);
        int counted = random.nextInt(input.rank());
        Value all = x.with(axis, x.shape.get(axis).times(input.shape.get(counted)));
        if (all.mostElements() > MOST_LOOPED) {
            return;
        }
        String list = line("annotate(List[Tensor], [])");
        String turn = "i" + names++;
        String turns = call("size", input.name, counted);
        code.append(indent).append("for " + turn + " in range(" + turns + "):\n");
        nested(
                () -> {
                    String part = call(any(BINARY), read(x), call("tensor", "float(" + turn + ")"));
                    String unused = line(call("append", list, part));
                });
        keep(call("cat", list, axis), all, true);
    }

    /**
     * Adds outputs: a sum of the values without a reader, and a few others, some twice, some views,
     * some inputs.
     */
    private void addOutputs() {
        String sum = line(call("sum", any(inputs).name));
        for (String each : unread) {
            sum = line(call("add", sum, call("sum", each)));
        }
        List<Value> candidates =
                values.stream()
                        .filter(Value::neverEmpty)
                        .filter(value -> value.mostElements() <= MOST_RETURNED)
                        .toList();
        List<String> outputs = new ArrayList<>();
        for (int i = random.nextInt(3); i >= 0 && !candidates.isEmpty(); i--) {
            Value value = any(candidates);
            outputs.add(value.name);
            switch (random.nextInt(5)) {
                case 0 -> outputs.add(value.name);
                case 1 -> outputs.add(every(value.name, 0, 0, 2));
                case 2 -> outputs.add(call("transpose", value.name, 0, value.rank() - 1));
                default -> {}
            }
        }
        String head = "  def forward(self: __torch__.Random";
        String taken =
                inputs.stream()
                        .map(input -> ",\n    " + input.name + ": Tensor")
                        .collect(Collectors.joining());
        String type;
        if (outputs.isEmpty() || random.nextInt(4) == 0) {
            type = "Tensor";
            String only = outputs.isEmpty() ? any(inputs).name : outputs.get(0);
            code.append(indent).append("return ").append(call("add", only, sum)).append('\n');
        } else if (random.nextBoolean()) {
            outputs.add(sum);
            type = "List[Tensor]";
            code.append(indent).append("return ").append(outputs).append('\n');
        } else {
            outputs.add(sum);
            type =
                    "Tuple["
                            + String.join(", ", Collections.nCopies(outputs.size(), "Tensor"))
                            + "]";
            code.append(indent).append("return (" + String.join(", ", outputs) + ")\n");
        }
        code.insert(
                0,
                "class Random(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
                        + head
                        + taken
                        + ") -> "
                        + type
                        + ":\n");
    }
}
