package org.djlplan.integration.tflite.kernels;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.IntBinaryOperator;
import org.djlplan.integration.support.Bits;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.internal.usage.InPlaceRules;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/**
 * Builds the models that test the in-place rules. First RESHAPE copies each input into an
 * intermediate tensor: it takes every type, and its result never shares a place with a model's
 * input. Then the operator runs, and its result is copied into the model's output.
 */
final class KernelCases {

    private static final ImmutableMap<String, String> OPTIONS =
            ImmutableMap.of(
                    "ADD",
                    "AddOptions",
                    "MUL",
                    "MulOptions",
                    "SUB",
                    "SubOptions",
                    "DIV",
                    "DivOptions");

    private static final ImmutableSet<String> VIEWS =
            ImmutableSet.of("RESHAPE", "SQUEEZE", "EXPAND_DIMS");

    private static final ImmutableSet<String> UNARY =
            ImmutableSet.of(
                    "RELU",
                    "RELU6",
                    "RELU_N1_TO_1",
                    "LOGISTIC",
                    "TANH",
                    "HARD_SWISH",
                    "LEAKY_RELU",
                    "ELU",
                    "NEG",
                    "EXP",
                    "FLOOR",
                    "CEIL",
                    "ROUND",
                    "ABS",
                    "SQRT",
                    "RSQRT",
                    "SQUARE",
                    "SIN",
                    "COS",
                    "LOG");

    private static final int ACTIVATIONS = 4;

    private final InPlaceRules.Rule rule;
    private final List<KernelCase> cases = new ArrayList<>();

    private KernelCases(InPlaceRules.Rule rule) {
        this.rule = rule;
    }

    /**
     * Returns the models for a rule.
     *
     * @throws IllegalArgumentException if it is not known how to prove it
     */
    static List<KernelCase> of(InPlaceRules.Rule rule) {
        KernelCases made = new KernelCases(rule);
        if (VIEWS.contains(rule.operator()) && rule.kind() == InPlaceRules.Kind.VIEW) {
            made.views();
        } else if (UNARY.contains(rule.operator())
                && rule.kind() == InPlaceRules.Kind.OVERWRITES_FIRST) {
            made.unary();
        } else if (rule.operator().equals("PRELU")
                && rule.kind() == InPlaceRules.Kind.OVERWRITES_FIRST) {
            made.prelu();
        } else if (rule.kind() == InPlaceRules.Kind.OVERWRITES_EITHER) {
            made.binary();
        } else {
            throw new IllegalArgumentException("no model proves " + rule);
        }
        return made.cases;
    }

    private void views() {
        for (int length : KernelShapes.LENGTHS) {
            view(List.of(length, 1, 3), false);
        }
        view(List.of(2, 1, 35), true);
    }

    /** Adds models in which the tested operator makes [a, 1, b] from [a, b], or the reverse. */
    private void view(List<Integer> with, boolean sourceUsedLater) {
        Form three = Form.of(rule.type()).shaped(with);
        Form two = three.shaped(List.of(with.get(0), with.get(2)));
        boolean expand = rule.operator().equals("EXPAND_DIMS");
        Form before = expand ? two : three;
        Form after = expand ? three : two;
        ModelSketch model = new ModelSketch();
        int source = model.reshape(model.input(before), before);
        int result;
        if (expand) {
            result = model.operator("EXPAND_DIMS", Optional.empty(), after, source, model.ints(1));
        } else if (rule.operator().equals("SQUEEZE")) {
            FlatTable options = FlatTable.of("SqueezeOptions").with("squeeze_dims", List.of(1));
            result = model.operator("SQUEEZE", Optional.of(options), after, source);
        } else {
            result = model.reshape(source, after);
        }
        model.output(model.reshape(result, after));
        if (sourceUsedLater) {
            model.output(model.reshape(source, before));
        }
        String name = with + (sourceUsedLater ? ", used later too" : "");
        cases.add(new KernelCase(name, model, List.of(before), List.of(source, result), true));
    }

    private void unary() {
        for (int length : KernelShapes.LENGTHS) {
            unary(List.of(length));
        }
        unary(KernelShapes.IMAGE);
        unary(List.of(3, 5, 67));
    }

    private void unary(List<Integer> shape) {
        Form form = operand(shape);
        ModelSketch model = new ModelSketch();
        int source = model.reshape(model.input(form), form);
        Form output = result(form);
        int result = model.operator(rule.operator(), unaryOptions(), output, source);
        model.output(model.reshape(result, output));
        String name = shape.toString();
        cases.add(new KernelCase(name, model, List.of(form), List.of(source, result), false));
    }

    private Optional<FlatTable> unaryOptions() {
        return rule.operator().equals("LEAKY_RELU")
                ? Optional.of(FlatTable.of("LeakyReluOptions").with("alpha", 0.3f))
                : Optional.empty();
    }

    private void prelu() {
        KernelShapes.LENGTHS.forEach(length -> both(List.of(1, length, 3), 0, Operands.BOTH_DIE));
        for (List<Integer> smaller : KernelShapes.SMALLER) {
            if (smaller.size() == KernelShapes.IMAGE.size()
                    || smaller.size() == KernelShapes.IMAGE.size() - 1) {
                broadcast(KernelShapes.IMAGE, smaller, true, 0);
                broadcast(KernelShapes.IMAGE, smaller, false, 0);
            }
        }
        both(KernelShapes.IMAGE, 0, Operands.SAME_TWICE);
    }

    private void binary() {
        for (int length : KernelShapes.LENGTHS) {
            both(List.of(length), 0, Operands.BOTH_DIE);
            both(List.of(length), 0, Operands.FIRST_STAYS);
            broadcast(List.of(length), List.of(1), true, 0);
            broadcast(List.of(3, length), List.of(length), false, 0);
        }
        for (Operands operands : Operands.values()) {
            both(KernelShapes.IMAGE, 0, operands);
        }
        for (List<Integer> smaller : KernelShapes.SMALLER) {
            broadcast(KernelShapes.IMAGE, smaller, true, 0);
            broadcast(KernelShapes.IMAGE, smaller, false, 0);
        }
        int activations = OPTIONS.containsKey(rule.operator()) ? ACTIVATIONS : 1;
        for (int activation = 1; activation < activations; activation++) {
            both(KernelShapes.IMAGE, activation, Operands.BOTH_DIE);
            both(List.of(1021), activation, Operands.FIRST_STAYS);
            broadcast(KernelShapes.IMAGE, List.of(), true, activation);
            broadcast(KernelShapes.IMAGE, List.of(7), false, activation);
            broadcast(KernelShapes.IMAGE, List.of(2, 1, 5, 7), true, activation);
            broadcast(KernelShapes.IMAGE, List.of(1, 3, 1, 7), false, activation);
        }
    }

    /** Operands with the result's shape. */
    private enum Operands {
        BOTH_DIE,
        FIRST_STAYS,
        SAME_TWICE
    }

    private void both(List<Integer> shape, int activation, Operands operands) {
        Form first = operand(shape);
        Form second = other(shape);
        ModelSketch model = new ModelSketch();
        int a = model.reshape(model.input(first), first);
        int b = operands == Operands.SAME_TWICE ? a : model.reshape(model.input(second), second);
        Form output = result(first);
        int result = model.operator(rule.operator(), fused(activation), output, a, b);
        model.output(model.reshape(result, output));
        int overwritten = a;
        if (operands == Operands.FIRST_STAYS) {
            model.output(model.reshape(a, first));
            overwritten = b;
        }
        cases.add(
                new KernelCase(
                        shape + " twice, " + operands + ", activation " + activation,
                        model,
                        operands == Operands.SAME_TWICE ? List.of(first) : List.of(first, second),
                        List.of(overwritten, result),
                        false));
    }

    /**
     * Adds models in which one operand is broadcast; in half of them it is a constant, in the
     * others an intermediate tensor that is not read later.
     */
    private void broadcast(
            List<Integer> shape, List<Integer> smaller, boolean smallerIsSecond, int activation) {
        boolean prelu = rule.operator().equals("PRELU");
        if (prelu && !smallerIsSecond) {
            repeated(shape, smaller, false, true, activation);
            return;
        }
        repeated(shape, smaller, true, smallerIsSecond, activation);
        repeated(shape, smaller, false, smallerIsSecond, activation);
    }

    private void repeated(
            List<Integer> shape,
            List<Integer> smaller,
            boolean constant,
            boolean smallerIsSecond,
            int activation) {
        Form large = operand(shape);
        Form small = other(smaller);
        ModelSketch model = new ModelSketch();
        List<Form> inputs = new ArrayList<>(List.of(large));
        int a = model.reshape(model.input(large), large);
        int b;
        if (constant) {
            b = model.constant(small, Bits.random(small.type(), small.bytes(), new Random(1)));
        } else {
            inputs.add(small);
            b = model.reshape(model.input(small), small);
        }
        Form output = result(large);
        IntBinaryOperator operator =
                (x, y) -> model.operator(rule.operator(), fused(activation), output, x, y);
        int result = smallerIsSecond ? operator.applyAsInt(a, b) : operator.applyAsInt(b, a);
        model.output(model.reshape(result, output));
        String name =
                shape
                        + (smallerIsSecond ? " with " : " after ")
                        + (constant ? "constant " : "")
                        + smaller
                        + ", activation "
                        + activation;
        cases.add(new KernelCase(name, model, inputs, List.of(a, result), false));
    }

    private Optional<FlatTable> fused(int activation) {
        return Optional.ofNullable(OPTIONS.get(rule.operator()))
                .map(type -> FlatTable.of(type).with("fused_activation_function", activation));
    }

    private boolean quantized() {
        return rule.type() == ElementType.INT8 || rule.type() == ElementType.UINT8;
    }

    private Form operand(List<Integer> shape) {
        Form form = Form.of(rule.type()).shaped(shape);
        return quantized() ? form.scaled(0.05f, zeroPoint(5)) : form;
    }

    private Form other(List<Integer> shape) {
        Form form = Form.of(rule.type()).shaped(shape);
        return quantized() ? form.scaled(0.031f, zeroPoint(-17)) : form;
    }

    /** Returns the result's form; logistic and tanh require fixed scales. */
    private Form result(Form operand) {
        if (!quantized()) {
            return operand;
        }
        return Map.of(
                        "LOGISTIC", operand.scaled(1f / 256, zeroPoint(-128)),
                        "TANH", operand.scaled(1f / 128, zeroPoint(0)))
                .getOrDefault(rule.operator(), operand.scaled(0.04f, zeroPoint(3)));
    }

    private long zeroPoint(int signed) {
        return rule.type() == ElementType.UINT8 ? signed + 128 : signed;
    }
}
