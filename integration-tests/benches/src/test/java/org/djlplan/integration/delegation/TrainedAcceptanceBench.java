package org.djlplan.integration.delegation;

import java.nio.file.Path;
import java.util.Locale;
import org.djlplan.integration.converted.Conversion;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.internal.candidates.CandidateInterpreters;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.Longs;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures whether the acceptance rule for 8-bit models accepts correct and faulty kernels of
 * trained models. Prints tables.
 */
@Tag("bench")
@Tag("djl-current")
class TrainedAcceptanceBench {

    private static final int SITES = 6;
    private static final int TURNS = 10;
    private static final double MILLI = 1e6;

    private static final ImmutableList<String> MODELS =
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

    /** Models for which faults are tried, which takes thousands of interpreters. */
    private static final ImmutableList<String> SMALL =
            ImmutableList.of("rnet", "onet", "face_detection_short_range");

    @TempDir Path folder;

    @BeforeEach
    void load() {
        StockInterpreter.loadEngine();
    }

    @Test
    void printRight() throws Exception {
        for (String model : MODELS) {
            for (Conversion conversion : Conversion.values()) {
                AcceptanceTable.printRight(conversion.file(model), name(model, conversion));
            }
        }
    }

    @Test
    void printFaulty() throws Exception {
        FaultyDelegate delegate = FaultyDelegate.compile(folder);
        for (String model : SMALL) {
            for (Conversion conversion : Conversion.values()) {
                System.out.println(name(model, conversion));
                AcceptanceTable.printFaulty(delegate, conversion.file(model), SITES);
            }
        }
    }

    private static String name(String model, Conversion conversion) {
        return model + " " + conversion.name().toLowerCase(Locale.ROOT);
    }

    /** Prints the gain of delegation: the fastest of some inferences in turns, on one thread. */
    @Test
    void printTimes() throws Exception {
        for (String model : SMALL) {
            for (Conversion conversion : Conversion.values()) {
                Path file = conversion.file(model);
                Candidate all = new Candidate(FixedChoice.operators(file, Delegates.XNNPACK), 1);
                try (CandidateInterpreters runner = Served.candidates(file, Delegates.XNNPACK)) {
                    long cpu = Long.MAX_VALUE;
                    long delegate = Long.MAX_VALUE;
                    for (int turn = 0; turn < TURNS; turn++) {
                        cpu = Math.min(cpu, Longs.min(runner.time(Candidate.cpu(1), 3)));
                        delegate = Math.min(delegate, Longs.min(runner.time(all, 3)));
                    }
                    System.out.printf(
                            Locale.ROOT,
                            "%s: %.2f ms in CPU kernels, %.2f ms delegated, %.1f times as fast%n",
                            name(model, conversion),
                            cpu / MILLI,
                            delegate / MILLI,
                            (double) cpu / delegate);
                }
            }
        }
    }
}
