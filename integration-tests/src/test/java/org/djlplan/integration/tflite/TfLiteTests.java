package org.djlplan.integration.tflite;

import org.djlplan.integration.support.Freed;
import org.djlplan.integration.support.StockInterpreter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

/** Tests of TensorFlow Lite models, which must leave no memory in use. */
public interface TfLiteTests {

    @BeforeAll
    static void loadEngine() {
        StockInterpreter.loadEngine();
    }

    @AfterEach
    default void everythingIsFreed() {
        Freed.assertEverything();
    }
}
