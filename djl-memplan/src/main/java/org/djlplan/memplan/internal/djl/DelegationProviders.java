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

    /** More modules than anybody has; ends the search if the class path cannot be read. */
    private static final int MOST = 16;

    private static final AtomicBoolean WARNED = new AtomicBoolean();

    private DelegationProviders() {}

    /**
     * Returns the modules that a class loader sees and that fit this class. A module of another
     * copy of djl-plan does not fit, for example if an application brings only djl-memplan and its
     * container has both modules. It is not used, and one warning says so.
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
