package org.djlplan.memplan.spi;

/**
 * A source of native delegates: a GPU, NNAPI or any other delegate with a native handle. A class
 * that implements this and has a public constructor without parameters is named by {@code
 * delegation.delegate=class:NAME}.
 */
public interface DelegateFactory {

    /**
     * Returns a delegate for one interpreter.
     *
     * @param threads how many threads it may use
     * @throws IllegalStateException if that is not possible here; the message says why
     */
    NativeDelegate create(int threads);
}
