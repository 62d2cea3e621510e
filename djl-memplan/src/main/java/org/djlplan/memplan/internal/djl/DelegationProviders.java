package org.djlplan.memplan.internal.djl;

import java.util.Iterator;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.concurrent.atomic.AtomicBoolean;
import org.djlplan.memplan.spi.DelegationProvider;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The available delegation modules. */
final class DelegationProviders {

    private static final Logger logger = LoggerFactory.getLogger(DelegationProviders.class);

    /** More than anybody has: a class path that cannot be read ends, too. */
    private static final int MOST = 16;

    private static final AtomicBoolean WARNED = new AtomicBoolean();

    private DelegationProviders() {}

    /**
     * Returns those that a class loader sees and that fit this class. One that does not – of
     * another copy of djl-plan, where an application brings djl-memplan alone and its container has
     * both modules – is not used, which one warning tells.
     */
    static ImmutableList<DelegationProvider> of(ClassLoader loader) {
        ImmutableList.Builder<DelegationProvider> all = ImmutableList.builder();
        Iterator<DelegationProvider> found =
                ServiceLoader.load(DelegationProvider.class, loader).iterator();
        for (int i = 0; i < MOST && found.hasNext(); i++) {
            try {
                all.add(found.next());
            } catch (ServiceConfigurationError e) {
                warn(e);
            }
        }
        return all.build();
    }

    private static void warn(ServiceConfigurationError e) {
        if (!WARNED.getAndSet(true)) {
            logger.warn(
                    "Nothing is delegated by a module that cannot be used: {}; djl-memplan and"
                            + " djl-delegation must be of the same version, and be brought by the"
                            + " same class loader",
                    e.getMessage());
        }
    }
}
