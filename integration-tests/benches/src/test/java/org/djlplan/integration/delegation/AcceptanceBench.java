package org.djlplan.integration.delegation;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.djlplan.integration.converted.Conversion;
import org.djlplan.integration.delegation.FaultyDelegate.Fault;
import org.djlplan.integration.networks.HardNetworks;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.internal.candidates.CandidateInterpreters;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.collect.Sets;
import org.djlplan.thirdparty.guava.primitives.Longs;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures which outputs the acceptance rule for delegates accepts. Either correct XNNPACK kernels
 * run all operators; or one operator has a fault and XNNPACK runs the others, whose rounding adds
 * to the fault. Prints tables; the assertions are in {@code AcceptanceTest}.
 *
 * <p>{@code -Ddjlplan.bench.models=NAME,NAME} measures only these models, {@code
 * -Ddjlplan.bench.sites=N} lets N operators have a fault, one at a time.
 */
@Tag("bench")
@Tag("djl-current")
class AcceptanceBench {

    private static final int SITES = Integer.getInteger("djlplan.bench.sites", 20);
    private static final String CHOSEN = System.getProperty("djlplan.bench.models", "");

    /** Inputs of the correct outputs, to show how far a fault moves these. */
    private static final int INPUTS = 4;

    private static final int TURNS = 10;

    /** Float outputs do not count if a fault moves them by less. */
    private static final double FLOATS = 1e-2;

    private static final ImmutableList<String> REAL =
            ImmutableList.of(
                    "face_landmark", "hand_landmark_full", "palm_detection_full", "MobileFaceNet");

    private static final ImmutableList<String> QUANTIZED =
            ImmutableList.of(
                    "mobilenet_v1_int8_64",
                    "mobilenet_v1_uint8_64",
                    "mobilenet_v2_int8_64",
                    "efficientnet_lite_int8_64",
                    "mobilenet_v2_dynamic_64",
                    "quantized_small",
                    "quantized_classes",
                    "quantized_landmarks",
                    "mobilenet_v1_int8",
                    "mobilenet_v2_int8",
                    "efficientnet_lite_int8",
                    "mobilenet_v2_dynamic");

    private static final ImmutableList<String> TRAINED =
            ImmutableList.of(
                    "face_detection_short_range",
                    "face_detection_full_range",
                    "face_landmark",
                    "hand_landmark_lite",
                    "hand_landmark_full",
                    "palm_detection_lite",
                    "palm_detection_full",
                    "rnet",
                    "onet",
                    "MobileFaceNet",
                    "FaceAntiSpoofing");

    /** Trained models for which faults are tried, which takes thousands of interpreters. */
    private static final ImmutableList<String> SMALL =
            ImmutableList.of("rnet", "onet", "face_detection_short_range");

    private static final ImmutableSet<String> NO_SITES =
            ImmutableSet.of("DEQUANTIZE", "DENSIFY", "RESHAPE");

    /** No fault, and other roundings of quantized operators. */
    private static final Set<Fault> NO_FAULTS =
            EnumSet.of(Fault.NONE, Fault.HALF_EVEN, Fault.HALF_UP, Fault.COARSE);

    /** Faults that only models of floats can have. */
    private static final Set<Fault> OF_FLOATS =
            EnumSet.of(Fault.DENORMALS, Fault.NOT_A_NUMBER, Fault.F16, Fault.BF16);

    @TempDir Path folder;

    @BeforeEach
    void loadEngine() {
        StockInterpreter.loadEngine();
    }

    private static boolean isChosen(String name) {
        return CHOSEN.isEmpty() || List.of(CHOSEN.split(",", -1)).contains(name);
    }

    /** Models of floats. */
    @Test
    void printFloats() throws Exception {
        FaultyDelegate delegate = FaultyDelegate.compile(folder);
        Stream<Path> hard =
                Stream.concat(Stream.of("hard_small"), HardNetworks.large().stream())
                        .map(TestModels::built);
        List<Path> faulty =
                Stream.concat(REAL.stream().map(RealModels.TFLITE::file), hard)
                        .filter(Files::isRegularFile)
                        .toList();
        for (Path file : Sets.union(Set.copyOf(TestModels.present()), Set.copyOf(faulty))) {
            String name = file.getFileName().toString().replace(".tflite", "");
            if (isChosen(name)) {
                printRight(file, name);
                if (faulty.contains(file)) {
                    printFaulty(delegate, file, NO_FAULTS);
                }
            }
        }
    }

    /** Models of 8-bit integers. */
    @Test
    void printQuantized() throws Exception {
        FaultyDelegate delegate = FaultyDelegate.compile(folder);
        for (String name : QUANTIZED) {
            if (isChosen(name)) {
                printRight(TestModels.built(name), name);
                printFaulty(delegate, TestModels.built(name), Sets.union(NO_FAULTS, OF_FLOATS));
            }
        }
    }

    /** A use of a trained model that was converted to fewer bits. */
    private interface Converted {
        void print(Path file, String name) throws Exception;
    }

    private static void eachConversion(List<String> models, Converted use) throws Exception {
        for (String model : models) {
            for (Conversion conversion : Conversion.values()) {
                if (isChosen(model)) {
                    String name = model + " " + conversion.name().toLowerCase(Locale.ROOT);
                    use.print(conversion.file(model), name);
                }
            }
        }
    }

    @Test
    void printTrained() throws Exception {
        eachConversion(TRAINED, AcceptanceBench::printRight);
    }

    @Test
    void printTrainedFaulty() throws Exception {
        FaultyDelegate delegate = FaultyDelegate.compile(folder);
        eachConversion(
                SMALL,
                (file, name) -> {
                    print("%s%n", name);
                    printFaulty(delegate, file, Sets.union(NO_FAULTS, OF_FLOATS));
                });
    }

    /** Prints the gain of delegation: the fastest of some inferences in turns, on one thread. */
    @Test
    void printTrainedTimes() throws Exception {
        eachConversion(
                SMALL,
                (file, name) -> {
                    Candidate all = all(file, Delegates.XNNPACK);
                    try (CandidateInterpreters runner =
                            Served.candidates(file, Delegates.XNNPACK)) {
                        long cpu = Long.MAX_VALUE;
                        long delegate = Long.MAX_VALUE;
                        for (int turn = 0; turn < TURNS; turn++) {
                            cpu = Math.min(cpu, Longs.min(runner.time(Candidate.cpu(1), 3)));
                            delegate = Math.min(delegate, Longs.min(runner.time(all, 3)));
                        }
                        print(
                                "%s: %.2f ms in CPU kernels, %.2f ms delegated%n",
                                name, cpu / 1e6, delegate / 1e6);
                    }
                });
    }

    /**
     * For models with 8-bit weights and floats between the layers, compares CPU kernels, XNNPACK,
     * and a copy of the model with the same weights as floats. CPU kernels and XNNPACK both
     * quantize the inputs of convolutions at run time.
     */
    @Test
    void printDynamicRange() throws Exception {
        for (String name : List.of("mobilenet_v2_dynamic_64", "mobilenet_v2_dynamic")) {
            Path file = TestModels.built(name);
            try (StockInterpreter cpu = new StockInterpreter(file, 1);
                    StockInterpreter floats =
                            new StockInterpreter(TestModels.built(name + "_floats"), 1);
                    ServedModel xnnpack = Closeness.open(file, Delegates.XNNPACK)) {
                double[] worst = new double[3];
                for (List<ByteBuffer> input : Closeness.inputs(cpu, 2 * INPUTS, 1)) {
                    ByteBuffer ofCpu = cpu.run(input).get(0);
                    ByteBuffer ofFloats = floats.run(input).get(0);
                    ByteBuffer ofXnnpack = xnnpack.run(input, cpu.shapes()).get(0).data();
                    worst[0] = Math.max(worst[0], difference(ofCpu, ofFloats));
                    worst[1] = Math.max(worst[1], difference(ofXnnpack, ofFloats));
                    worst[2] = Math.max(worst[2], difference(ofXnnpack, ofCpu));
                }
                print(
                        "%s: largest difference of CPU kernels from floats %.1e, of XNNPACK from"
                                + " floats %.1e, of XNNPACK from CPU kernels %.1e%n",
                        name, worst[0], worst[1], worst[2]);
            }
        }
    }

    private static double difference(ByteBuffer some, ByteBuffer others) {
        return Closeness.deviation(some, others).largest();
    }

    private static Candidate all(Path file, String delegate) throws Exception {
        return new Candidate(FixedChoice.operators(file, delegate), 1);
    }

    private static void printRight(Path file, String name) throws Exception {
        try (CandidateInterpreters runner = Served.candidates(file, Delegates.XNNPACK)) {
            List<OutputError> errors = runner.prepare(all(file, Delegates.XNNPACK)).errors();
            OutputError worst = errors.get(0);
            for (OutputError each : errors) {
                worst = each.difference() > worst.difference() ? each : worst;
            }
            print(
                    "%n%s, everything in XNNPACK %s: %.2g of %.2g, its operators %.2f of what is"
                            + " accepted of one%n",
                    name,
                    Closeness.accepted(errors) ? "accepted" : "REFUSED",
                    worst.difference(),
                    Tolerance.AUTO.limit(worst),
                    worst.byOperator().map(OutputError.ByOperator::share).orElse(Double.NaN));
        }
    }

    /**
     * @param noFaults faults that are left out
     */
    private static void printFaulty(FaultyDelegate delegate, Path file, Set<Fault> noFaults)
            throws Exception {
        Graph graph = TfLiteGraphs.toGraph(TfLiteReader.read(file), file.getFileName().toString());
        List<Integer> sites = FaultyDelegate.allOver(candidates(graph), SITES);
        delegate.claim(sites, true);
        delegate.select(FaultyDelegate.EVERY, Fault.NONE);
        Candidate all = all(file, delegate.name());
        try (StockInterpreter stock = new StockInterpreter(file, 1);
                CandidateInterpreters judge = Served.candidates(file, delegate.name());
                ServedModel model = Closeness.open(file, delegate.name())) {
            List<List<OutputTensor>> right = outputs(model, stock);
            print("  faults: accepted / effective%n");
            for (Fault fault : Sets.difference(EnumSet.allOf(Fault.class), noFaults)) {
                int accepted = 0;
                int effective = 0;
                double most = 0;
                for (int site : sites) {
                    delegate.select(site, fault);
                    double moves = furthest(right, outputs(model, stock));
                    if (moves > 1) {
                        effective++;
                        if (Closeness.accepted(judge.prepare(all).errors())) {
                            accepted++;
                            most = Math.max(most, moves);
                        }
                        judge.release(all);
                    }
                }
                print("    %-14s %3d / %3d, up to %.1f%n", fault, accepted, effective, most);
            }
        }
    }

    private static List<List<OutputTensor>> outputs(ServedModel model, StockInterpreter stock) {
        List<List<OutputTensor>> outputs = new ArrayList<>();
        for (int i = 0; i < INPUTS; i++) {
            outputs.add(model.run(stock.randomInputs(i), stock.shapes()));
        }
        return outputs;
    }

    /**
     * Returns the largest distance of outputs: in steps, or for floats in hundredths of the largest
     * element.
     */
    private static double furthest(List<List<OutputTensor>> some, List<List<OutputTensor>> others) {
        double furthest = 0;
        for (int run = 0; run < some.size(); run++) {
            for (int i = 0; i < some.get(run).size(); i++) {
                OutputTensor a = some.get(run).get(i);
                OutputTensor b = others.get(run).get(i);
                double distance =
                        a.info().type() == ElementType.FLOAT32
                                ? difference(b.data(), a.data()) / FLOATS
                                : steps(a.data(), b.data(), a.info().type());
                furthest = Math.max(furthest, distance);
            }
        }
        return furthest;
    }

    private static int steps(ByteBuffer a, ByteBuffer b, ElementType type) {
        int mask = type == ElementType.UINT8 ? 0xff : -1;
        int most = 0;
        for (int i = 0; i < a.limit(); i++) {
            most = Math.max(most, Math.abs((a.get(i) & mask) - (b.get(i) & mask)));
        }
        return most;
    }

    private static List<Integer> candidates(Graph graph) {
        return graph.operators().stream()
                .filter(operator -> !NO_SITES.contains(operator.type()))
                .map(Operator::index)
                .toList();
    }

    private static void print(String format, Object... arguments) {
        System.out.printf(Locale.ROOT, format, arguments);
    }
}
