package org.djlplan.integration.delegation;

import java.nio.file.Path;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures which outputs of 8-bit models the acceptance rule for delegates accepts. Either correct
 * XNNPACK kernels run all operators; or one operator has a fault and XNNPACK runs the others.
 * Prints tables.
 */
@Tag("bench")
@Tag("djl-current")
class EightBitsAcceptanceBench {

    private static final int SITES = 20;

    private static final ImmutableList<String> MODELS =
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

    @TempDir Path folder;

    @Test
    void print() throws Exception {
        StockInterpreter.loadEngine();
        FaultyDelegate delegate = FaultyDelegate.compile(folder);
        for (String name : MODELS) {
            Path file = TestModels.built(name);
            AcceptanceTable.printRight(file, name);
            AcceptanceTable.printFaulty(delegate, file, SITES);
        }
    }
}
