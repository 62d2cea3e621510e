package org.djlplan.integration.delegation;

import com.sun.jna.Pointer;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.NativeDelegate;

/** A delegate whose native code crashes when the delegate is created. */
public final class CrashingDelegates implements DelegateFactory {

    @Override
    public NativeDelegate create(int threads) {
        new Pointer(0).setInt(0, threads);
        throw new IllegalStateException("not reached");
    }
}
