package org.djlplan.memplan.spi;

/**
 * A source of native delegates: a GPU, NNAPI or any other delegate with a native handle. A class
 * that implements this interface and has a public constructor without parameters can be set with
 * {@code delegation.delegate=class:NAME}.
 */
public interface DelegateFactory {

    /**
     * Returns a delegate for one interpreter.
     *
     * @param threads number of threads that it may use
     * @throws IllegalStateException if a delegate cannot be created here; the message says why
     */
    NativeDelegate create(int threads);
}
