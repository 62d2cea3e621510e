package org.djlplan.memplan.internal.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.engine.EngineProvider;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

class TfLiteEngineProviderTest {

    @Test
    void breaksStock_since034() {
        assertFalse(TfLiteEngineProvider.breaksStock("0.27.0"));
        assertFalse(TfLiteEngineProvider.breaksStock("0.33.0-SNAPSHOT"));
        assertTrue(TfLiteEngineProvider.breaksStock("0.34.0"));
        assertTrue(TfLiteEngineProvider.breaksStock("0.38.0"));
        assertTrue(TfLiteEngineProvider.breaksStock("1.0.0"));
        assertTrue(TfLiteEngineProvider.breaksStock("unknown"));
    }

    /**
     * The class path of this test has DJL's own engine, and the DJL version that this engine needs.
     */
    @Test
    void service_besideTheStockEngine_ranksAsThat() {
        EngineProvider own =
                ServiceLoader.load(EngineProvider.class).stream()
                        .map(ServiceLoader.Provider::get)
                        .filter(TfLiteEngineProvider.class::isInstance)
                        .findFirst()
                        .orElseThrow();
        assertEquals("TFLite", own.getEngineName());
        assertEquals(TfLiteEngineProvider.RANK, own.getEngineRank());
    }
}
