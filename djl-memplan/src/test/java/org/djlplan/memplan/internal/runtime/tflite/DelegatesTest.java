package org.djlplan.memplan.internal.runtime.tflite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.NativeDelegate;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;

class DelegatesTest {

    private final AtomicInteger closed = new AtomicInteger();

    /** Returns a delegate with a handle; closing the delegate throws. */
    private NativeDelegate delegate(long handle) {
        return new NativeDelegate() {
            @Override
            public long handle() {
                if (handle < 0) {
                    throw new UnsupportedOperationException();
                }
                return handle;
            }

            @Override
            public void close() {
                closed.incrementAndGet();
                throw new IllegalStateException("not now");
            }
        };
    }

    private static void assertRefused(DelegateFactory factory, String why) {
        UnplannableException refused =
                assertThrows(
                        UnplannableException.class,
                        () -> Delegates.create(factory, -1, Optional.empty()));
        assertEquals("no delegate: " + why, refused.getMessage());
    }

    @Test
    void create_anyThrowable_isARefusal() {
        assertRefused(
                threads -> {
                    throw new IllegalStateException("no GPU");
                },
                "no GPU");
        assertRefused(
                threads -> {
                    throw new UnsupportedOperationException();
                },
                "java.lang.UnsupportedOperationException");
        assertRefused(
                threads -> {
                    throw new UnsatisfiedLinkError("no libgpu.so");
                },
                "java.lang.UnsatisfiedLinkError: no libgpu.so");
        assertRefused(threads -> null, "the factory made none");
    }

    /** The engine would dereference it. */
    @Test
    void create_noUsableHandle_isARefusalAndFreed() {
        assertRefused(threads -> delegate(0), "it has no handle");
        assertRefused(threads -> delegate(-1), "java.lang.UnsupportedOperationException");
        assertEquals(2, closed.get());
    }

    /** Only the engine's own delegate supports these buffers. */
    @Test
    void create_transientBuffersOfAnother_isARefusal() {
        Candidate candidate = new Candidate(ImmutableSortedSet.of(1), 1, true);
        assertThrows(
                UnplannableException.class,
                () -> Delegates.create(threads -> delegate(threads), candidate, Optional.empty()));
    }

    @Test
    void close_delegateThatThrows_oneWarningAndOnlyOnce() throws Exception {
        try (LogCapture log = new LogCapture()) {
            NativeDelegate delegate =
                    Delegates.create(threads -> delegate(threads), 3, Optional.empty());
            assertEquals(3, delegate.handle());
            delegate.close();
            delegate.close();
            assertEquals(1, log.lines("WARN").size());
            assertTrue(log.lines("WARN").get(0).contains("could not be closed"));
        }
        assertEquals(1, closed.get());
    }
}
