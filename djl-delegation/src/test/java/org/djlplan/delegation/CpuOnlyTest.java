package org.djlplan.delegation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import org.djlplan.memplan.spi.DelegationProvider;
import org.junit.jupiter.api.Test;

class CpuOnlyTest {

    @Test
    void serviceLoader_findsIt() {
        List<DelegationProvider> providers =
                ServiceLoader.load(DelegationProvider.class).stream()
                        .map(ServiceLoader.Provider::get)
                        .toList();

        assertEquals(1, providers.size());
        assertEquals(Set.of("delegation.enabled"), providers.get(0).optionKeys());
    }
}
