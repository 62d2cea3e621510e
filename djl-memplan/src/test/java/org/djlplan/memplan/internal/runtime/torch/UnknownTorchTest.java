package org.djlplan.memplan.internal.runtime.torch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.djlplan.memplan.internal.runtime.NativeLoader;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;
import org.junit.jupiter.api.Test;

/** Tests that a libtorch that is absent, or not known, is left as it is. */
class UnknownTorchTest {

    @Test
    void attach_noLibtorch_saysWhyEachTime() {
        String reason = TorchAllocator.attach("2.7.1").orElseThrow();
        assertTrue(reason.startsWith("libtorch's CPU allocator: "), reason);
        assertEquals(reason, TorchAllocator.attach("2.7.1").orElseThrow());
        assertThrows(UnsupportedPlatformException.class, ModuleRewriter::open);
    }

    @Test
    void namesAndSettings_noLibtorch_areUnknown() throws Exception {
        NativeLoader.Use use = TorchNative.use();
        assertEquals("libtorch does not tell them", OperatorNames.begin("2.7.1").orElseThrow());
        String other = OperatorNames.begin("1.13.1").orElseThrow();
        assertTrue(other.startsWith("those of libtorch 1.13.1 are not read"), other);
        TorchSettings none = TorchSettings.current();
        assertEquals(none, TorchSettings.forWorker());
        assertEquals(none, none.withoutGradients());
        assertFalse(none.recordsGradients());
        assertEquals(-1, TorchSettings.threadsBySetting());
        use.close();
    }
}
